"""A committed pair as one group plays it: the table where all its orders begin, and what came of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.accounts import Account
from conformance.events import Raced
from conformance.history import Step
from conformance.player import Judged
from conformance.races.desk import RaceDesk
from conformance.races.drawn import not_done
from conformance.races.groups import Group
from conformance.races.pairs import Pair
from delta_models.concurrency import documented, isolation_of
from delta_models.wire_names import name_of


@dataclass(slots=True)
class Match:
    """`prelude` is what was played before every order, `broken` the rules that some order broke."""

    account: Account
    group: Group
    stand: RaceDesk
    pair: Pair
    prelude: Sequence[Step] = ()
    broken: set[str] = field(default_factory=set)
    _told: Counter[str] = field(default_factory=Counter)
    _both: int = 0
    _followed: int = 0
    _asked: int = 0

    def count(self, desk: RaceDesk, judged: Sequence[Judged]) -> None:
        """One order was played."""
        self.stand.count(desk)
        self.broken |= {breach.requirement for each in judged for breach in each.breaches}
        race = next((each.seen.race for each in judged if each.seen.race is not None), None)
        refused = [] if race is None else not_done(race)
        self._told.update(refused)
        self._both += race is not None and not refused
        self._followed += desk.followed
        self._asked += desk.asked

    def raced(self) -> Raced:
        """The line of the matrix, for which the account is told how many orders were followed."""
        self.account.steps = list(self.prelude)
        self.account.followed(self.stand, self._followed)
        pair, level = self.pair, isolation_of(self.stand.world.table)
        return Raced(
            engines=tuple(each.engine for each in self.stand.sitting),
            operations=tuple(name_of(each) for each in (pair.first, pair.second)),
            overlap=pair.overlap, schedules=self._followed, both=self._both, conflicts=dict(self._told),
            documented=documented(pair.first, pair.second, pair.overlap, level), isolation=level,
            unfollowed=self._asked - self._followed, processes=self.stand.processes,
        )  # fmt: skip
