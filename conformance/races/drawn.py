"""Plays histories of races that a machine draws: what writers at once do, in which order, and what comes in between."""

from __future__ import annotations

from conformance.drawn import Drawn
from conformance.events import Raced
from conformance.observation import Race
from conformance.player import Desk
from conformance.races.desk import RaceDesk
from conformance.races.groups import groups
from conformance.strategies import Shape
from delta_models.concurrency import SERIALIZABLE, documented, isolation_of
from delta_models.outcomes import Rejected
from delta_models.requirements import races

WRITERS = 3


class DrawnRaces(Drawn):
    """A table for each group of writers that can be made of the engines."""

    def _seated(self, history: int, shape: Shape, tag: str) -> list[Desk]:
        desks: list[Desk] = []
        level = dict(shape.properties).get("delta.isolationLevel", SERIALIZABLE)
        for at, group in enumerate(groups(self._dealer, self._chunk, history, level, WRITERS)):
            table = (shape.schema, shape.partition_by, dict(shape.properties))
            covered = (each.engine.capabilities.covers_table(*table) for each in group.players)
            missing = next(filter(None, covered), None)
            if missing is not None:
                self._dealer.note(f"{group.name}: {missing}: not asked in such histories")
                continue
            group.declare(self._dealer, [rule.id for rule in races.REQUIREMENTS])
            desks.append(group.desk(self._dealer, self._folder / f"{at}" / "table", tag))
        return desks

    def end(self) -> None:
        """Tell of the pairs that raced."""
        for desk in self._desks:
            if isinstance(desk, RaceDesk):
                self._tell_of(desk)
        super().end()

    def _tell_of(self, desk: RaceDesk) -> None:
        assert self._account is not None  # noqa: S101 - `begin` has set it
        self._account.schedules += desk.followed
        for race in desk.raced:
            if len(race.operations) == 2 and len(set(race.owners)) == 2:
                self._dealer.tell(raced(desk, race))


def raced(desk: RaceDesk, race: Race) -> Raced:
    """A pair in one order, as the matrix counts it."""
    first, second = race.operations
    refused = [each.kind for each in race.outcomes if isinstance(each, Rejected)]
    level = isolation_of(race.world.table)
    return Raced(
        engines=tuple(desk.sitting[owner].engine for owner in race.owners),
        operations=tuple(type(each).__name__ for each in race.operations),
        overlap=race.overlap, schedules=1, both=not refused, conflicts={each: refused.count(each) for each in refused},
        documented=documented(first, second, race.overlap, level), isolation=level,
    )  # fmt: skip
