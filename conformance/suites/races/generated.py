"""Plays histories of races that a machine draws: what writers at once do, in which order, and what comes in between."""

from __future__ import annotations

from pathlib import Path

from conformance.events.types import RaceOutcome
from conformance.execution.table_session import TableSession, play
from conformance.findings import FindingError
from conformance.generation import TableShape
from conformance.histories import Chunk, Step
from conformance.observations.observation import RaceObservation
from conformance.suites.context import SuiteContext
from conformance.suites.generated import GeneratedHistories
from conformance.suites.races.session import RaceTableSession
from conformance.suites.races.shrinking import FindingShrinker
from conformance.suites.races.writer_groups import WriterGroup, groups
from delta_models.concurrency import SERIALIZABLE, documented_conflict, isolation_of
from delta_models.outcomes import Rejected, Unknown
from delta_models.requirements import races
from delta_models.wire_names import name_of

WRITERS = 3


class GeneratedRaces(GeneratedHistories):
    """A table for each group of writers that can be made of the engines. An engine may be in several: the groups play
    a step one after another, and each goes back to its own table first."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        super().__init__(context, chunk, work)
        self._groups: dict[RaceTableSession, WriterGroup] = {}
        self._witnesses = FindingShrinker(context, work / "again")
        self._at: RaceTableSession | None = None  # whose table the engines address

    def play(self, step: Step) -> None:
        """The next command, at every table."""
        assert self._account is not None  # noqa: S101 - `begin` has set it
        self._account.begin_step(step)
        playing = [group for group in self._groups if group.plays]
        engines = [
            engine_session.engine
            for table_session in playing
            for engine_session in table_session.engine_sessions
        ]
        try:
            for table_session in playing:
                if self._at is not table_session or self._witnesses.away:
                    self._account.take(table_session, table_session.reopen_all())
                self._at, self._witnesses.away = table_session, False
                for _, result in play([table_session], step):
                    self._witnesses.take(self._account, self._groups[table_session], table_session, result)
            if playing:
                self._account.played(engines)
        except (FindingError, OSError) as error:
            self._failure = error  # not here: Hypothesis would play the history again
        except Exception:  # noqa: BLE001 - whatever it is, it says nothing of the engines, and other histories go on
            self._account.harness_failed(self._desks)

    def _seated(self, history: int, shape: TableShape, tag: str) -> list[TableSession]:
        self._groups, self._at = {}, None
        level = dict(shape.properties).get("delta.isolationLevel", SERIALIZABLE)
        for at, group in enumerate(groups(self._dealer, self._chunk, history, level, WRITERS)):
            table = (shape.schema, shape.partition_by, dict(shape.properties))
            covered = (player.engine.capabilities.covers_table(*table) for player in group.players)
            missing = next(filter(None, covered), None)
            if missing is not None:
                self._dealer.note(f"{group.name}: {missing}: not asked in such histories")
                continue
            group.declare(self._dealer, [rule.id for rule in races.REQUIREMENTS])
            self._groups[group.table_session(self._dealer, self._folder / f"{at}" / "table", tag)] = group
        return list(self._groups)

    def end(self) -> None:
        """Tell of the pairs that raced."""
        for table_session in self._groups:
            self._tell_of(table_session)
        super().end()

    def _tell_of(self, table_session: RaceTableSession) -> None:
        assert self._account is not None  # noqa: S101 - `begin` has set it
        self._account.followed(table_session, table_session.followed)
        for race in table_session.raced:
            tell_failures(self._dealer, table_session, race)
            if len(race.operations) == 2 and len(set(race.owners)) == 2:
                self._dealer.tell(raced(table_session, race))


def tell_failures(context: SuiteContext, table_session: RaceTableSession, race: RaceObservation) -> None:
    """Say of a race that it did not go as scheduled, and why: it is no evidence for that order."""
    for why in race.failures[:1]:
        engines = " beside ".join(each.engine for each in table_session.sitting)
        context.note(f"{engines}: a schedule could not be followed: {why}")


def not_done(race: RaceObservation) -> list[str]:
    """Why operations of a race were not done, by kind; "unknown" where the engine does not say what became of one."""
    return [
        outcome.kind if isinstance(outcome, Rejected) else "unknown"
        for outcome in race.outcomes
        if isinstance(outcome, Rejected | Unknown)
    ]


def raced(table_session: RaceTableSession, race: RaceObservation) -> RaceOutcome:
    """A pair in one order, as the matrix counts it."""
    first, second = race.operations
    refused = not_done(race)
    level = isolation_of(race.model_history.table)
    return RaceOutcome(
        engines=tuple(table_session.sitting[owner].engine for owner in race.owners),
        operations=tuple(name_of(operation) for operation in race.operations),
        overlap=race.overlap, schedules=int(not race.failures), unfollowed=int(bool(race.failures)),
        both=int(not refused),
        conflicts={each: refused.count(each) for each in refused},
        documented=documented_conflict(first, second, race.overlap, level),
        isolation=level, processes=table_session.processes,
    )  # fmt: skip
