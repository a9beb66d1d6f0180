"""The account of one history: what engines were held to and what was found, told as events."""

from __future__ import annotations

import sys
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
from conformance.execution.table_session import StepResult, TableSession
from conformance.findings.recorder import FindingContext, FindingRecorder
from conformance.generation import SLOTS
from conformance.histories import Chunk, History, Step
from conformance.observations.observation import FaultContext, Observation
from conformance.observations.recovery_state import AFTER, BEFORE
from delta_models.operations import Properties
from delta_models.requirements import BY_ID, Violation
from delta_models.wire_names import name_of

FEATURES = {
    "delta.enableDeletionVectors": "deletionVectors",
    "delta.enableChangeDataFeed": "changeDataFeed",
    "delta.appendOnly": "appendOnly",
    "delta.columnMapping.mode": "columnMapping",
    "delta.enableRowTracking": "rowTracking",
    "delta.enableInCommitTimestamps": "inCommitTimestamp",
    "delta.enableTypeWidening": "typeWidening",
    "delta.isolationLevel": "writeSerializable, unconfirmed",  # judged from the rules: nobody else has it
}
OFF = ("false", "none", "serializable")
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
        tell: Emit,
        *,
        features: Sequence[str] = (),
    ) -> None:
        self.steps: list[Step] = []
        self._chunk = chunk
        self._number = number
        self._keeper = finding_recorder
        self._tell = tell
        self._dear = number in chunk.heavy
        self._features = tuple(features)
        self._began = time.monotonic()
        self._played = 0
        self._tallies: dict[tuple[str, ...], EvidenceCounts] = {}
        self._schedules: Counter[tuple[str, ...]] = Counter()
        self._crash_points: Counter[str] = Counter()
        self._struck: dict[tuple[str, str, str], _FaultCounts] = {}

    def begin_step(self, step: Step) -> None:
        """A command is about to be played."""
        self.steps.append(step)

    def played(self, engines: Iterable[str]) -> None:
        """The last command was played by these engines."""
        self._played += 1
        at = len(self.steps) - 1
        chunk = self._chunk
        self._tell(Progress(chunk.suite, chunk.number, self._number, at, tuple(engines), self._dear))

    def take(self, table_session: TableSession, result: Iterable[StepResult]) -> None:
        """Verdicts, as they come in."""
        for each in result:
            if table_session.handed_to is not None:
                self.steps[-1] = replace(self.steps[-1], by=table_session.handed_to)
            tally = self._tallies.setdefault(
                _place(table_session, each.engine_session.engine), EvidenceCounts()
            )
            tally.add(each.evidence)
            tally.wrote = tally.wrote or each.seen.wrote
            if (
                each.seen.wrote
                and each.seen.fault_context is not None
                and each.seen.fault_context.fault is not None
            ):
                self._crash_points[each.engine_session.engine] += 1
                self._count(each.engine_session.engine, each.seen, each.seen.fault_context)
            for fault in each.faults:
                self._tell(HarnessFault(f"{self._where(each.seen.step)}: {fault.splitlines()[0]}", fault))
            for violation in each.violations:
                self._tell(self._keeper.record(self._found(table_session, each, violation)))
                if violation.requirement in HOW_LOST:
                    tail = each.engine_session.host.stderr_tail()
                    how = HOW_LOST[violation.requirement]
                    self._tell(
                        EngineLost(each.engine_session.engine, how, violation.where, tail, restarted=True)
                    )

    def followed(self, table_session: TableSession, schedules: int) -> None:
        """So many orders were played at a table as they were scheduled."""
        self._schedules[_place(table_session)] += schedules

    def harness_failed(self, table_sessions: Iterable[TableSession]) -> None:
        """Something of ours raised while a step was played: the tables are not to be trusted any more."""
        error = sys.exc_info()[1]
        where = self._where(len(self.steps) - 1)
        self._tell(HarnessFault(f"{where}: {type(error).__name__}: {error}", traceback.format_exc()))
        for table_session in table_sessions:
            table_session.left = "the harness failed"

    def close(self, table_sessions: Sequence[TableSession]) -> None:
        """Tell what the history showed."""
        engine_sessions = [
            (table_session, engine_session)
            for table_session in table_sessions
            for engine_session in table_session.engine_sessions
        ]
        operations: dict[str, int] = {}
        seconds: dict[str, float] = {}
        for _, engine_session in engine_sessions:
            operations[engine_session.engine] = (
                operations.get(engine_session.engine, 0) + engine_session.operations
            )
            seconds[engine_session.engine] = seconds.get(engine_session.engine, 0.0) + engine_session.seconds
        if self._played:
            self._tell(
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
            self._tell_evidence(table_session, engine_session)
        for (engine, operation, fault), each in sorted(self._struck.items()):
            states, left = each.states, dict(sorted(each.left_over.items()))
            self._tell(
                FaultOutcome(engine, operation, fault, each.points, states[BEFORE], states[AFTER], left)
            )

    def _count(self, engine: str, observation: Observation, fault_context: FaultContext) -> None:
        """What one fault did to the table."""
        key = (engine, name_of(observation.operation), name_of(fault_context.fault))
        strikes = self._struck.setdefault(key, _FaultCounts())
        strikes.points += 1
        strikes.states[fault_context.found.state if fault_context.found else ""] += 1
        strikes.left_over.update(fault_context.lying)

    def _tell_evidence(self, table_session: TableSession, engine_session: EngineSession) -> None:
        tally = self._tallies.get(_place(table_session, engine_session.engine), EvidenceCounts())
        for role, checks in sorted(tally.checks.items()):
            self._tell(
                Evidence(
                    self._chunk.suite,
                    self._chunk.number,
                    self._number,
                    engine_session.engine,
                    role,
                    dict(checks),
                    with_engines=self._others(table_session, engine_session.engine),
                    features=self._features,
                    operations=engine_session.operations,
                    crash_points=self._crash_points[engine_session.engine],
                    schedules=self._schedules[_place(table_session)],
                    processes=table_session.processes,
                )
            )

    def _found(
        self, table_session: TableSession, step_result: StepResult, violation: Violation
    ) -> FindingContext:
        chunk = self._chunk
        return FindingContext(
            history=History(chunk.suite, chunk.profile, chunk.number, chunk.seed, tuple(self.steps)),
            number=self._number,
            observation=step_result.seen,
            violation=violation,
            slots=_bound(table_session) if len(table_session.sitting) > 1 else {},
            specs={each.engine: str(each.host.spec) for each in table_session.sitting},
            with_engines=self._others(table_session, step_result.engine_session.engine),
            features=self._features,
            processes=table_session.processes,
            promised=table_session.promised(step_result.engine_session),
        )

    def _others(self, table_session: TableSession, engine: str) -> tuple[str, ...]:
        """Who else wrote to the table; in races all do."""
        wrote = {
            each.engine
            for each in table_session.sitting
            if table_session.processes != "one"
            or self._tallies.get(_place(table_session, each.engine), EvidenceCounts()).wrote
        }
        return tuple(sorted(wrote - {engine}))

    def _where(self, step: int) -> str:
        return f"{self._chunk.name}, history {self._number}, step {step}"


def _place(table_session: TableSession, *engine: str) -> tuple[str, ...]:
    """At which table of a history an engine is held to what it does: by who sits there, and how they publish."""
    return (*engine, table_session.processes, *(each.engine for each in table_session.sitting))


def features_of(properties: Properties) -> tuple[str, ...]:
    """The table features that properties switch on."""
    return tuple(
        sorted(FEATURES[key] for key, value in properties if key in FEATURES and value.lower() not in OFF)
    )


def _bound(table_session: TableSession) -> dict[str, str]:
    """Which engine sits in which slot of a shared table."""
    return {
        slot: table_session.sitting[at % len(table_session.sitting)].engine for at, slot in enumerate(SLOTS)
    }
