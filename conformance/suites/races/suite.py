"""The suite of committed pairs of operations: two writers at once, in all schedules of their gates or in some.

While the engines play one race, the harness judges the race before it, which may be one of another pair. All races
begin from one table, which each group of writers makes once a chunk. A table that is judged is restored and used again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.step_result import StepResult
from conformance.execution.table_pool import TablePool
from conformance.fault_injection.interleaving import schedules
from conformance.generation.choices import RandomChoices
from conformance.generation.narrowing import claimed_in
from conformance.histories import HISTORIES, Chunk, Step
from conformance.suites.base import play_step
from conformance.suites.context import SuiteContext
from conformance.suites.races.background import BackgroundRace
from conformance.suites.races.generated import note_failures
from conformance.suites.races.scenario_result import ScenarioResult
from conformance.suites.races.scenarios import BEFORE, PAIRS, RaceScenario
from conformance.suites.races.session import RaceTableSession
from conformance.suites.races.writer_groups import WriterGroup, writer_groups_of
from delta_adapters.host_errors import HostError
from delta_models.operations import Interleave, Operation
from delta_models.requirements import races

EVERY_ORDER = {
    "orders": PAIRS[:HISTORIES],
    "more-orders": PAIRS[HISTORIES:],
}  # by the name in a profile's plan


@dataclass(frozen=True, slots=True)
class _PlannedRace:
    """A race that is to be played at a table of its own."""

    scenario_result: ScenarioResult
    step: Step
    table_session: RaceTableSession


@dataclass(frozen=True, slots=True)
class _StartedRace:
    """A race that engines play in the background."""

    planned: _PlannedRace
    background: BackgroundRace


Closing = Callable[[], None]  # what is to be done once all races before it are judged
_all_schedules = functools.cache(lambda *gates: tuple(schedules(gates)))


class RaceScenarios:
    """The committed pairs of a chunk, a history each, in as many schedules as the chunk has steps, or in all."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        self._context = context
        self._chunk = chunk
        self._work = work
        self._ended = 0
        self._choices = RandomChoices(chunk.seed)
        self._originals: dict[tuple[str, ...], RaceTableSession] = {}
        self._table_pool = TablePool()
        self._tables_made = 0
        self._running: BackgroundRace | None = None
        self._every = chunk.table in EVERY_ORDER
        claimed = claimed_in(chunk.within)
        pairs = [
            pair
            for pair in PAIRS
            if claimed is None or (claimed.covers(pair.first) and claimed.covers(pair.second))
        ]
        scenarios = EVERY_ORDER.get(chunk.table) or self._choices.some(pairs, chunk.histories)
        self._scenarios = tuple(scenarios)[: chunk.histories]

    @property
    def complete(self) -> bool:
        """Whether every pair was played."""
        return self._ended == len(self._scenarios)

    def play_all(self) -> None:
        """Play one pair after another."""
        self._play(self._plan_all())

    def play_pair(
        self,
        history_recorder: HistoryRecorder,
        original: RaceTableSession,
        scenario: RaceScenario,
        group: WriterGroup,
    ) -> bool:
        """Play one pair by one group; returns whether its engines claim the operations."""
        if not self._is_claimed(group, scenario):
            return False
        self._play(self._plan_pair(ScenarioResult(history_recorder, group, original, scenario)))
        return True

    # What there is to play, made as it is needed

    def _plan_all(self) -> Iterator[_PlannedRace | Closing]:
        for number, scenario in enumerate(self._scenarios):
            if self._context.is_over():
                return
            history_recorder = HistoryRecorder(
                self._chunk, number, self._context.finding_recorder, self._context.emit
            )
            originals = []
            groups = writer_groups_of(self._context, self._chunk, number)
            for position, group in enumerate(groups):
                folder, tag = self._work / f"{number}-{position}" / "table", f"{self._chunk.name}-{number}"
                original = group.table_session(self._context, folder, tag)
                if self._is_claimed(group, scenario):
                    originals.append(original)
                    yield from self._plan_pair(ScenarioResult(history_recorder, group, original, scenario))
            yield partial(self._close, history_recorder, originals)

    def _plan_pair(self, scenario_result: ScenarioResult) -> Iterator[_PlannedRace | Closing]:
        history_recorder, group = scenario_result.history_recorder, scenario_result.group
        original, scenario = scenario_result.original, scenario_result.scenario
        group.declare(self._context, [rule.id for rule in races.REQUIREMENTS])
        history_recorder.begin_from(())
        self._make_original(history_recorder, group, original)
        if not original.plays:
            return
        operations = (scenario.first, scenario.second)
        gates = []
        for place, operation in enumerate(operations):
            passed = self._gates(history_recorder, original, place, operation)
            if passed is None:
                return
            gates.append(passed)
        orders = list(_all_schedules(*gates))
        if not self._every:
            orders = self._choices.some(orders, self._chunk.steps)
        scenario_result.begin(history_recorder.steps)
        for order in orders:
            if self._context.is_over():
                break
            table_session = self._copy_of(original, scenario.overlap)
            yield _PlannedRace(scenario_result, Step(Interleave(operations, order)), table_session)
        yield partial(self._report, scenario_result)

    def _copy_of(self, original: RaceTableSession, overlap: str) -> RaceTableSession:
        """A table for one race."""
        self._tables_made += 1
        # Straight into one folder: one of its own for each would cost half a millisecond.
        folder = self._work / "orders" / f"table-{self._tables_made}"
        self._table_pool.acquire(original.folder, folder)
        return original.copy(folder, overlap)

    def _report(self, scenario_result: ScenarioResult) -> None:
        self._context.emit(scenario_result.finish())
        scenario_result.group.declare(self._context, scenario_result.violated)

    def _close(self, history_recorder: HistoryRecorder, originals: Sequence[RaceTableSession]) -> None:
        history_recorder.close(originals)
        self._ended += not self._context.is_over()

    def _is_claimed(self, group: WriterGroup, scenario: RaceScenario) -> bool:
        reasons = [
            reason
            for player, operation in zip(group.players, (scenario.first, scenario.second), strict=True)
            for reason in map(player.engine.capabilities.covers, (*BEFORE, operation))
            if reason is not None
        ]
        if reasons:
            self._context.note(f"{group.name}: {reasons[0]}: not asked")
        return not reasons

    # Before a pair: mostly known already; else the engines are waited for

    def _make_original(
        self, history_recorder: HistoryRecorder, group: WriterGroup, original: RaceTableSession
    ) -> None:
        """Make the table from which all pairs begin. It is made once, and used again by later pairs of the group."""
        key = (*(player.instrumented_process.name for player in group.players), group.processes)
        known = self._originals.get(key)
        if known is not None:
            for operation in BEFORE:
                history_recorder.begin_step(Step(operation))
            original.continue_from(known, in_place=True)
            return
        self._wait()
        history_recorder.take(original, original.open_all())
        for operation in BEFORE:
            step = Step(operation)
            self._play_step(history_recorder, original, step, partial(original.execute, step))
        if original.plays:
            self._originals[key] = original

    def _gates(
        self,
        history_recorder: HistoryRecorder,
        original: RaceTableSession,
        place: int,
        operation: Operation,
    ) -> int | None:
        """Through how many gates an operation goes alone: found once for all pairs, which begin from the same table.

        It is None if the engine fails, which is recorded.
        """
        known = self._context.instrumented_engines.gates
        key = (original.slots[place].engine, original.processes, operation)
        if key not in known:
            self._wait()
            alone = self._copy_of(original, "")
            opened = alone.open_all()
            history_recorder.take(alone, opened)
            if opened:
                return None
            writer = alone.slots[place]
            try:
                known[key] = alone.gates(place, operation)
            except HostError as error:
                history_recorder.take(alone, [alone.judge_failure(writer, writer.lose(error), operation)])
                return None
            original.count(alone)
        return known[key]

    def _wait(self) -> None:
        if self._running is not None:
            self._running.wait()

    # Playing

    def _play(self, plan: Iterable[_PlannedRace | Closing]) -> None:
        """Start each race before the one before it is judged."""
        started: _StartedRace | None = None
        closings: list[Closing] = []
        for planned in plan:
            if not isinstance(planned, _PlannedRace):
                closings.append(planned)
                continue
            if started is not None:
                started.background.wait()
                for player in started.planned.scenario_result.group.players:
                    self._context.instrumented_engines.check(player)
            self._running = BackgroundRace(planned.table_session, planned.step)
            before, started = started, _StartedRace(planned, self._running)
            self._running.wait_until_eased()
            self._judge(before, closings)
        self._judge(started, closings)

    def _judge(self, started: _StartedRace | None, closings: list[Closing]) -> None:
        if started is not None:
            planned, background = started.planned, started.background
            scenario_result, table_session = planned.scenario_result, planned.table_session
            history_recorder = scenario_result.history_recorder
            history_recorder.begin_from(scenario_result.prelude)
            history_recorder.take(table_session, background.opened.result())
            step_results = self._play_step(history_recorder, table_session, planned.step, background.collect)
            scenario_result.count(table_session, step_results)
            for race_observation in table_session.raced:
                note_failures(self._context, table_session, race_observation)
            self._table_pool.release(scenario_result.original.folder, table_session.folder)
        for close in closings:
            close()
        closings.clear()

    def _play_step(
        self,
        history_recorder: HistoryRecorder,
        table_session: RaceTableSession,
        step: Step,
        execute: Callable[[], list[StepResult]],
    ) -> list[StepResult]:
        step_results: list[StepResult] = []

        def execute_and_record() -> None:
            step_results.extend(execute())
            history_recorder.take(table_session, step_results)

        engines = [engine_session.engine for engine_session in table_session.engine_sessions]
        play_step(history_recorder, step, [table_session], execute_and_record, engines)
        return step_results
