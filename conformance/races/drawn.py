"""Plays histories of races that a machine draws: what writers at once do, in which order, and what comes in between."""

from __future__ import annotations

from pathlib import Path

from conformance.dealer import Dealer
from conformance.drawn import Drawn
from conformance.events import Raced
from conformance.findings import FindingError
from conformance.history import Step
from conformance.observation import Race
from conformance.plan import Chunk
from conformance.player import Desk, play
from conformance.races.desk import RaceDesk
from conformance.races.groups import Group, groups
from conformance.races.witness import Witnesses
from conformance.strategies import Shape
from delta_models.concurrency import SERIALIZABLE, documented, isolation_of
from delta_models.outcomes import Rejected, Unknown
from delta_models.requirements import races
from delta_models.wire_names import name_of

WRITERS = 3


class DrawnRaces(Drawn):
    """A table for each group of writers that can be made of the engines. An engine may be in several: the groups play
    a step one after another, and each goes back to its own table first."""

    def __init__(self, dealer: Dealer, chunk: Chunk, work: Path) -> None:
        super().__init__(dealer, chunk, work)
        self._groups: dict[RaceDesk, Group] = {}
        self._witnesses = Witnesses(dealer, work / "again")
        self._at: RaceDesk | None = None  # whose table the engines address

    def play(self, step: Step) -> None:
        """The next command, at every table."""
        assert self._account is not None  # noqa: S101 - `begin` has set it
        self._account.begin_step(step)
        playing = [each for each in self._groups if each.plays]
        engines = [seat.engine for desk in playing for seat in desk.seats]
        try:
            for desk in playing:
                if self._at is not desk or self._witnesses.away:
                    self._account.take(desk, desk.come_back())
                self._at, self._witnesses.away = desk, False
                for _, judged in play([desk], step):
                    self._witnesses.take(self._account, self._groups[desk], desk, judged)
            if playing:
                self._account.played(engines)
        except (FindingError, OSError) as error:
            self._failure = error  # not here: Hypothesis would play the history again
        except Exception:  # noqa: BLE001 - whatever it is, it says nothing of the engines, and other histories go on
            self._account.harness_failed(self._desks)

    def _seated(self, history: int, shape: Shape, tag: str) -> list[Desk]:
        self._groups, self._at = {}, None
        level = dict(shape.properties).get("delta.isolationLevel", SERIALIZABLE)
        for at, group in enumerate(groups(self._dealer, self._chunk, history, level, WRITERS)):
            table = (shape.schema, shape.partition_by, dict(shape.properties))
            covered = (each.engine.capabilities.covers_table(*table) for each in group.players)
            missing = next(filter(None, covered), None)
            if missing is not None:
                self._dealer.note(f"{group.name}: {missing}: not asked in such histories")
                continue
            group.declare(self._dealer, [rule.id for rule in races.REQUIREMENTS])
            self._groups[group.desk(self._dealer, self._folder / f"{at}" / "table", tag)] = group
        return list(self._groups)

    def end(self) -> None:
        """Tell of the pairs that raced."""
        for desk in self._groups:
            self._tell_of(desk)
        super().end()

    def _tell_of(self, desk: RaceDesk) -> None:
        assert self._account is not None  # noqa: S101 - `begin` has set it
        self._account.followed(desk, desk.followed)
        for race in desk.raced:
            tell_failures(self._dealer, desk, race)
            if len(race.operations) == 2 and len(set(race.owners)) == 2:
                self._dealer.tell(raced(desk, race))


def tell_failures(dealer: Dealer, desk: RaceDesk, race: Race) -> None:
    """Say of a race that it did not go as scheduled, and why: it is no evidence for that order."""
    for why in race.failures[:1]:
        engines = " beside ".join(each.engine for each in desk.sitting)
        dealer.note(f"{engines}: a schedule could not be followed: {why}")


def not_done(race: Race) -> list[str]:
    """Why operations of a race were not done, by kind; "unknown" where the engine does not say what became of one."""
    return [
        each.kind if isinstance(each, Rejected) else "unknown"
        for each in race.outcomes
        if isinstance(each, Rejected | Unknown)
    ]


def raced(desk: RaceDesk, race: Race) -> Raced:
    """A pair in one order, as the matrix counts it."""
    first, second = race.operations
    refused = not_done(race)
    level = isolation_of(race.world.table)
    return Raced(
        engines=tuple(desk.sitting[owner].engine for owner in race.owners),
        operations=tuple(name_of(each) for each in race.operations),
        overlap=race.overlap, schedules=int(not race.failures), unfollowed=int(bool(race.failures)),
        both=int(not refused),
        conflicts={each: refused.count(each) for each in refused},
        documented=documented(first, second, race.overlap, level), isolation=level, processes=desk.processes,
    )  # fmt: skip
