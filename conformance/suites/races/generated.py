"""The suite of generated races: what writers do at once, in which order, and what comes in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.events.types import RaceOutcome
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.table_session import TableSession
from conformance.generation import TableShape
from conformance.histories import Chunk, Step
from conformance.observations.observation import RaceObservation
from conformance.suites.context import SuiteContext
from conformance.suites.generated import GeneratedHistories
from conformance.suites.races.session import RaceTableSession
from conformance.suites.races.writer_groups import writer_groups_of
from delta_models.concurrency import SERIALIZABLE, documented_conflict, isolation_of
from delta_models.outcomes import Rejected, Unknown
from delta_models.requirements import races
from delta_models.wire_names import name_of

WRITERS = 3


class GeneratedRaces(GeneratedHistories):
    """Generated histories of races, with a table for each group of writers that the engines make up.

    An engine may be in several groups. The groups play a step one after another, and each opens its own table first.
    """

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        super().__init__(context, chunk, work)
        self._tables: list[RaceTableSession] = []
        self._open: RaceTableSession | None = None  # the table that the engines have open

    @property
    def writers(self) -> int:
        """How many writers a table has, if there are engines enough."""
        return WRITERS

    def tables_of(self, history: int, shape: TableShape, folder: Path, tag: str) -> Iterator[TableSession]:
        """A table for each group of writers."""
        self._tables, self._open = [], None
        level = dict(shape.properties).get("delta.isolationLevel", SERIALIZABLE)
        groups = writer_groups_of(self.context, self.chunk, history, level, self.writers)
        for number, group in enumerate(groups):
            reasons = (self.why_not_asked(player.engine, shape) for player in group.players)
            reason = next(filter(None, reasons), None)
            if reason is not None:
                self.context.note(f"{group.name}: {reason}: not asked in such histories")
                continue
            group.declare(self.context, [rule.id for rule in races.REQUIREMENTS])
            table_session = group.table_session(self.context, folder / f"{number}" / "table", tag)
            self._tables.append(table_session)
            yield table_session

    def execute(
        self, history_recorder: HistoryRecorder, table_sessions: list[TableSession], step: Step
    ) -> None:
        """Execute a step at one table after another."""
        for race_table in self._tables:
            if race_table not in table_sessions:
                continue
            if self._open is not race_table:
                history_recorder.take(race_table, race_table.reopen_all())
            self._open = race_table
            history_recorder.take(race_table, race_table.execute(step))

    def end(self) -> None:
        """Report the pairs of operations that raced, and the end of the history."""
        for race_table in self._tables:
            self._report_races(race_table)
        super().end()

    def _report_races(self, table_session: RaceTableSession) -> None:
        self.history_recorder.followed(table_session, table_session.followed)
        for race in table_session.raced:
            note_failures(self.context, table_session, race)
            if len(race.operations) == 2 and len(set(race.owners)) == 2:
                self.context.emit(outcome_of(table_session, race))


def note_failures(context: SuiteContext, table_session: RaceTableSession, race: RaceObservation) -> None:
    """Note of a race that it did not go as scheduled, and why: it is no evidence for that schedule."""
    for reason in race.failures[:1]:
        engines = " beside ".join(session.engine for session in table_session.slots)
        context.note(f"{engines}: a schedule could not be followed: {reason}")


def not_done(race: RaceObservation) -> list[str]:
    """Why operations of a race were not done, by kind; "unknown" where the engine does not say what became of one."""
    return [
        outcome.kind if isinstance(outcome, Rejected) else "unknown"
        for outcome in race.outcomes
        if isinstance(outcome, Rejected | Unknown)
    ]


def outcome_of(table_session: RaceTableSession, race: RaceObservation) -> RaceOutcome:
    """A pair in one order, as the conflict matrix counts it."""
    first, second = race.operations
    refused = not_done(race)
    level = isolation_of(race.model_history.table)
    return RaceOutcome(
        engines=tuple(table_session.slots[owner].engine for owner in race.owners),
        operations=tuple(name_of(operation) for operation in race.operations),
        overlap=race.overlap,
        schedules=int(not race.failures),
        unfollowed=int(bool(race.failures)),
        both=int(not refused),
        conflicts={kind: refused.count(kind) for kind in refused},
        documented=documented_conflict(first, second, race.overlap, level),
        isolation=level,
        processes=table_session.processes,
    )
