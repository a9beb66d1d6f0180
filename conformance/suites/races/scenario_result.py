"""What came of a committed pair of operations, in all schedules that one group of writers played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.events.types import RaceOutcome
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.step_result import StepResult
from conformance.histories import Step
from conformance.suites.races.generated import not_done
from conformance.suites.races.scenarios import RaceScenario
from conformance.suites.races.session import RaceTableSession
from conformance.suites.races.writer_groups import WriterGroup
from delta_models.concurrency import documented_conflict, isolation_of
from delta_models.wire_names import name_of


@dataclass(slots=True)
class ScenarioResult:
    """A pair of operations at the `original` table, of which each schedule is played on a copy.

    `prelude` are the steps before every schedule, `violated` the requirements that some schedule violated.
    """

    history_recorder: HistoryRecorder
    group: WriterGroup
    original: RaceTableSession
    scenario: RaceScenario
    prelude: Sequence[Step] = ()
    violated: set[str] = field(default_factory=set)
    _conflicts: Counter[str] = field(default_factory=Counter)
    _both: int = 0
    _followed: int = 0
    _asked: int = 0

    def begin(self, prelude: Sequence[Step]) -> None:
        """Begin with the schedules, after these steps."""
        self.prelude = prelude

    def count(self, table_session: RaceTableSession, step_results: Sequence[StepResult]) -> None:
        """Count one schedule."""
        self.original.count(table_session)
        self.violated |= {
            violation.requirement for step_result in step_results for violation in step_result.violations
        }
        races = (step_result.observation.race for step_result in step_results)
        race = next(filter(None, races), None)
        refused = [] if race is None else not_done(race)
        self._conflicts.update(refused)
        self._both += race is not None and not refused
        self._followed += table_session.followed
        self._asked += table_session.asked

    def finish(self) -> RaceOutcome:
        """Record how many schedules were followed; returns the line of the conflict matrix."""
        self.history_recorder.begin_from(self.prelude)
        self.history_recorder.followed(self.original, self._followed)
        scenario, level = self.scenario, isolation_of(self.original.model_history.table)
        return RaceOutcome(
            engines=tuple(session.engine for session in self.original.slots),
            operations=tuple(name_of(operation) for operation in (scenario.first, scenario.second)),
            overlap=scenario.overlap,
            schedules=self._followed,
            both=self._both,
            conflicts=dict(self._conflicts),
            documented=documented_conflict(scenario.first, scenario.second, scenario.overlap, level),
            isolation=level,
            unfollowed=self._asked - self._followed,
            processes=self.original.processes,
        )
