"""A committed pair as one group plays it: the table where all its orders begin, and what came of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.events.types import RaceOutcome
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.table_session import StepResult
from conformance.histories import Step
from conformance.suites.races.generated import not_done
from conformance.suites.races.scenarios import RaceScenario
from conformance.suites.races.session import RaceTableSession
from conformance.suites.races.writer_groups import WriterGroup
from delta_models.concurrency import documented_conflict, isolation_of
from delta_models.wire_names import name_of


@dataclass(slots=True)
class ScenarioResult:
    """`prelude` is what was played before every order, `broken` the rules that some order broke."""

    history_recorder: HistoryRecorder
    group: WriterGroup
    stand: RaceTableSession
    pair: RaceScenario
    prelude: Sequence[Step] = ()
    broken: set[str] = field(default_factory=set)
    _told: Counter[str] = field(default_factory=Counter)
    _both: int = 0
    _followed: int = 0
    _asked: int = 0

    def count(self, table_session: RaceTableSession, result: Sequence[StepResult]) -> None:
        """One order was played."""
        self.stand.count(table_session)
        self.broken |= {violation.requirement for each in result for violation in each.violations}
        race = next((each.seen.race for each in result if each.seen.race is not None), None)
        refused = [] if race is None else not_done(race)
        self._told.update(refused)
        self._both += race is not None and not refused
        self._followed += table_session.followed
        self._asked += table_session.asked

    def raced(self) -> RaceOutcome:
        """The line of the matrix, for which the account is told how many orders were followed."""
        self.history_recorder.steps = list(self.prelude)
        self.history_recorder.followed(self.stand, self._followed)
        pair, level = self.pair, isolation_of(self.stand.model_history.table)
        return RaceOutcome(
            engines=tuple(each.engine for each in self.stand.sitting),
            operations=tuple(name_of(each) for each in (pair.first, pair.second)),
            overlap=pair.overlap, schedules=self._followed, both=self._both, conflicts=dict(self._told),
            documented=documented_conflict(pair.first, pair.second, pair.overlap, level), isolation=level,
            unfollowed=self._asked - self._followed, processes=self.stand.processes,
        )  # fmt: skip
