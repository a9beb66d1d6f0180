"""Records one history: its steps, what engines were held to, and what was found; reported as events."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.events.types import (
    EngineLost,
    Event,
    Evidence,
    FaultOutcome,
    HarnessFault,
    HistoryEnded,
    Progress,
)
from conformance.execution.engine_session import ANSWERS, LIVES, SPEAKS, EngineSession
from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession
from conformance.findings.recorder import FindingContext, FindingRecorder
from conformance.generation import SLOTS
from conformance.histories import REGRESSIONS, Chunk, History, Step
from conformance.observations.observation import FaultContext, Observation
from conformance.observations.recovery_state import AFTER, BEFORE
from delta_models.requirements import BY_ID, Violation
from delta_models.wire_names import name_of

HOW_LOST = {LIVES: "died", ANSWERS: "hung", SPEAKS: "spoke nonsense"}

Emit = Callable[[Event], None]


@dataclass(slots=True)
class EvidenceCounts:
    """What one engine was held to in one history, by role."""

    checks: dict[str, Counter[str]] = field(default_factory=dict)
    wrote: bool = False

    def add(self, evidence: Mapping[str, int]) -> None:
        """Checks by requirement; the requirement knows whose duty it is."""
        for requirement, count in evidence.items():
            if count:
                self.checks.setdefault(BY_ID[requirement].role, Counter())[requirement] += count


@dataclass(slots=True)
class _FaultCounts:
    """What faults of one kind did to one operation of one engine."""

    points: int = 0
    states: Counter[str] = field(default_factory=Counter)
    left_over: Counter[str] = field(default_factory=Counter)


class HistoryRecorder:
    """One history of a chunk, from its first step to its last."""

    def __init__(
        self,
        chunk: Chunk,
        number: int,
        finding_recorder: FindingRecorder,
        emit: Emit,
        *,
        features: Sequence[str] = (),
    ) -> None:
        self._steps: list[Step] = []
        self._chunk = chunk
        self._number = number
        self._finding_recorder = finding_recorder
        self._emit = emit
        self._dear = number in chunk.heavy
        self._features = tuple(features)
        self._began = time.monotonic()
        self._played = 0
        self._evidence: dict[tuple[str, ...], EvidenceCounts] = {}
        self._schedules: Counter[tuple[str, ...]] = Counter()
        self._crash_points: Counter[str] = Counter()
        self._fault_counts: dict[tuple[str, str, str], _FaultCounts] = {}

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps so far. One that another slot's engine performed says so."""
        return tuple(self._steps)

    def begin_from(self, steps: Sequence[Step]) -> None:
        """Record another course of the history, which begins with these steps."""
        self._steps = list(steps)

    def begin_step(self, step: Step) -> None:
        """Record the step that is executed next."""
        self._steps.append(step)

    def played(self, engines: Iterable[str]) -> None:
        """Report that these engines have executed the last step."""
        self._played += 1
        chunk, step = self._chunk, len(self._steps) - 1
        self._emit(Progress(chunk.suite, chunk.number, self._number, step, tuple(engines), self._dear))

    def take(self, table_session: TableSession, step_results: Iterable[StepResult]) -> None:
        """Record the results of the last step at a table, and report their violations."""
        for step_result in step_results:
            if step_result.performed_by is not None:
                self._steps[-1] = replace(self._steps[-1], by=step_result.performed_by)
            engine, observation = step_result.engine_session.engine, step_result.observation
            evidence = self._evidence.setdefault(_key_of(table_session, engine), EvidenceCounts())
            evidence.add(step_result.evidence)
            evidence.wrote = evidence.wrote or observation.wrote
            fault_context = observation.fault_context
            if observation.wrote and fault_context is not None and fault_context.fault is not None:
                self._crash_points[engine] += 1
                self._count_fault(engine, observation, fault_context)
            for fault in step_result.faults:
                where = self._where(observation.step)
                self._emit(HarnessFault(f"{where}: {fault.splitlines()[0]}", fault))
            for violation in step_result.violations:
                self._take_violation(table_session, step_result, violation)

    def followed(self, table_session: TableSession, schedules: int) -> None:
        """Record how many schedules went as they were planned at a table."""
        self._schedules[_key_of(table_session)] += schedules

    def harness_failed(self, error: Exception, table_sessions: Iterable[TableSession]) -> None:
        """Report an error of the harness in the last step, and end the history at tables that it left in any state."""
        where = self._where(len(self._steps) - 1)
        trace = "".join(traceback.format_exception(error))
        self._emit(HarnessFault(f"{where}: {type(error).__name__}: {error}", trace))
        for table_session in table_sessions:
            table_session.stop("the harness failed")

    def close(self, table_sessions: Sequence[TableSession]) -> None:
        """Report the end of the history, and its evidence."""
        engine_sessions = [
            (table_session, engine_session)
            for table_session in table_sessions
            for engine_session in table_session.engine_sessions
        ]
        operations: dict[str, int] = {}
        seconds: dict[str, float] = {}
        for _, engine_session in engine_sessions:
            engine = engine_session.engine
            operations[engine] = operations.get(engine, 0) + engine_session.operations
            seconds[engine] = seconds.get(engine, 0.0) + engine_session.seconds
        if self._played:
            self._emit(
                HistoryEnded(
                    self._chunk.suite,
                    self._chunk.number,
                    self._number,
                    steps=self._played,
                    operations=dict(operations),
                    engine_seconds={engine: round(second, 4) for engine, second in seconds.items()},
                    crash_points=self._crash_points.total(),
                    schedules=self._schedules.total(),
                    seconds=round(time.monotonic() - self._began, 3),
                    dear=self._dear,
                )
            )
        for table_session, engine_session in engine_sessions:
            self._emit_evidence(table_session, engine_session)
        for (engine, operation, fault), counts in sorted(self._fault_counts.items()):
            states, left = counts.states, dict(sorted(counts.left_over.items()))
            self._emit(
                FaultOutcome(engine, operation, fault, counts.points, states[BEFORE], states[AFTER], left)
            )

    def _take_violation(
        self, table_session: TableSession, step_result: StepResult, violation: Violation
    ) -> None:
        self._emit(self._finding_recorder.record(self._context_of(table_session, step_result, violation)))
        if violation.requirement in HOW_LOST:
            engine_session, how = step_result.engine_session, HOW_LOST[violation.requirement]
            tail = engine_session.host.stderr_tail()
            self._emit(EngineLost(engine_session.engine, how, violation.where, tail, restarted=True))

    def _count_fault(self, engine: str, observation: Observation, fault_context: FaultContext) -> None:
        """Count what one fault did to the table."""
        key = (engine, name_of(observation.operation), name_of(fault_context.fault))
        counts = self._fault_counts.setdefault(key, _FaultCounts())
        counts.points += 1
        counts.states[fault_context.found.state if fault_context.found else ""] += 1
        counts.left_over.update(fault_context.lying)

    def _emit_evidence(self, table_session: TableSession, engine_session: EngineSession) -> None:
        engine = engine_session.engine
        evidence = self._evidence.get(_key_of(table_session, engine), EvidenceCounts())
        for role, checks in sorted(evidence.checks.items()):
            self._emit(
                Evidence(
                    self._chunk.suite,
                    self._chunk.number,
                    self._number,
                    engine,
                    role,
                    dict(checks),
                    with_engines=self._others(table_session, engine),
                    features=self._features,
                    operations=engine_session.operations,
                    crash_points=self._crash_points[engine],
                    schedules=self._schedules[_key_of(table_session)],
                    processes=table_session.processes,
                )
            )

    def _context_of(
        self, table_session: TableSession, step_result: StepResult, violation: Violation
    ) -> FindingContext:
        chunk = self._chunk
        return FindingContext(
            history=History(chunk.kind, chunk.profile, chunk.number, chunk.seed, tuple(self._steps)),
            number=self._number,
            observation=step_result.observation,
            violation=violation,
            slots=_slots_of(table_session) if len(table_session.slots) > 1 else {},
            specs={session.engine: str(session.host.spec) for session in table_session.slots},
            with_engines=self._others(table_session, step_result.engine_session.engine),
            features=self._features,
            processes=table_session.processes,
            promised=step_result.promised,
            kept=chunk.suite == REGRESSIONS,
        )

    def _others(self, table_session: TableSession, engine: str) -> tuple[str, ...]:
        """The other engines that wrote to the table; in races all do."""
        wrote = {
            session.engine
            for session in table_session.slots
            if table_session.processes != "one"
            or self._evidence.get(_key_of(table_session, session.engine), EvidenceCounts()).wrote
        }
        return tuple(sorted(wrote - {engine}))

    def _where(self, step: int) -> str:
        return f"{self._chunk.name}, history {self._number}, step {step}"


def _key_of(table_session: TableSession, *engine: str) -> tuple[str, ...]:
    """What evidence is counted by: the engine, how its table's writers publish, and which engines they are."""
    return (*engine, table_session.processes, *(session.engine for session in table_session.slots))


def _slots_of(table_session: TableSession) -> dict[str, str]:
    """The engine of each slot of a shared table."""
    slots = table_session.slots
    return {slot: slots[number % len(slots)].engine for number, slot in enumerate(SLOTS)}
