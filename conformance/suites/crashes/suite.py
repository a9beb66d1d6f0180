"""The suites of histories with faults: generated ones, and committed small ones with a fault at each storage event."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from conformance.engine_pool import clear
from conformance.execution.engine_session import EngineSession
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.table_copies import copies
from conformance.execution.table_session import TableSession, execute_step
from conformance.fault_injection.instrumented_engines import InstrumentedEngine
from conformance.fault_injection.instrumented_process import NotInstrumented
from conformance.generation import TableShape
from conformance.generation.table_features import features_of
from conformance.histories import Chunk, Step
from conformance.suites.base import play_step
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.crashes.scenarios import KILLED, CrashScenario, faults_of, scenarios_of
from conformance.suites.crashes.session import CrashTableSession
from conformance.suites.generated import GeneratedHistories
from delta_models.operations import (
    STORAGE_FAULTS,
    AdvanceClock,
    Append,
    Create,
    Operation,
    ReadChanges,
    WriteStream,
)
from delta_models.outcomes import Committed, NoChange
from delta_models.wire_names import name_of, text_of

SWEEPS_EVERY = 12  # points after which an engine on a JVM vacuums the files that are left over


class GeneratedCrashes(GeneratedHistories):
    """Generated histories with a fault before some of their operations.

    The engine that writes to one table reads the others'. So tables are played one after another, and all engines
    open a table again before its step.
    """

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        super().__init__(context, chunk, work)
        self._open: TableSession | None = None  # the table that the engines have open

    def tables_of(self, history: int, shape: TableShape, folder: Path, tag: str) -> Iterator[TableSession]:
        """A table for each engine that writes, with the other engines as readers."""
        self._open = None
        writers = _writers_of(self.context, self.chunk, history)
        for number, (instrumented_engine, readers) in enumerate(writers):
            engine = instrumented_engine.engine
            reason = self.why_not_asked(engine, shape)
            if reason is None:
                self._open = _table_session(
                    folder / f"{number}" / "table", instrumented_engine, readers, self.chunk, tag
                )
                yield self._open  # the last one stays open
            else:
                self.context.note(f"{engine.name} {reason}: not asked in such histories")

    def execute(
        self, history_recorder: HistoryRecorder, table_sessions: list[TableSession], step: Step
    ) -> None:
        """Execute a step at one table after another."""
        for table_session in table_sessions:
            if self._open is not table_session and isinstance(table_session, CrashTableSession):
                history_recorder.take(table_session, table_session.reopen_all())
            self._open = table_session
            execute_step([table_session], step, history_recorder.take)


class CrashScenarios:
    """The committed histories of a chunk: whatever may happen to an operation happens to it, each on a copy of a table.

    `writers` are those engines of the run that write, all that can by default; the others read.
    """

    def __init__(
        self, context: SuiteContext, chunk: Chunk, work: Path, writers: Collection[str] | None = None
    ) -> None:
        self._context = context
        self._chunk = chunk
        self._work = work
        self._ended = 0
        self._scenarios = scenarios_of(chunk.table)[: chunk.histories]
        self._writers = writers
        self._kill = chunk.table.startswith(KILLED)

    @property
    def complete(self) -> bool:
        """Whether every scenario was played to its end."""
        return self._ended == len(self._scenarios)

    def play_all(self) -> None:
        """Play one scenario after the other."""
        for number, scenario in enumerate(self._scenarios):
            if self._context.is_over():
                return
            self._play(number, scenario)
            self._ended += not self._context.is_over()

    def _play(self, number: int, scenario: CrashScenario) -> None:
        operations = [
            operation
            for operation in (*scenario.before, scenario.operation)
            if not isinstance(operation, (AdvanceClock, *STORAGE_FAULTS))
        ]
        create = next((operation for operation in operations if isinstance(operation, Create)), None)
        history_recorder = HistoryRecorder(
            self._chunk,
            number,
            self._context.finding_recorder,
            self._context.emit,
            features=features_of(create.properties if create else ()),
        )
        table_sessions: list[TableSession] = []
        writers = _writers_of(self._context, self._chunk, number)
        for position, (instrumented_engine, readers) in enumerate(writers):
            engine = instrumented_engine.engine
            if self._writers is not None and str(engine.spec) not in self._writers:
                continue
            reason = next(filter(None, map(engine.capabilities.covers, operations)), None)
            if reason is not None:
                self._context.note(f"{engine.name} {reason}: not asked in such histories")
                continue
            folder = self._work / str(number) / str(position) / "table"
            original = _table_session(folder, instrumented_engine, readers, self._chunk, self._chunk.name)
            table_sessions.append(original)
            self._play_points(history_recorder, original, scenario)
        history_recorder.close(table_sessions)
        clear(self._work / str(number))

    def _play_points(
        self, history_recorder: HistoryRecorder, original: CrashTableSession, scenario: CrashScenario
    ) -> None:
        """Play all that may happen to the scenario's operation at one engine."""
        history_recorder.take(original, original.open_all())
        for operation in scenario.before:
            self._play_step(history_recorder, original, operation)
        if not original.plays:
            return
        faults = self._faults_for(history_recorder, original, scenario)
        prelude = history_recorder.steps
        points = copies(original, original.folder.parent / "points", len(faults))
        for number, (point, fault) in enumerate(zip(points, faults, strict=True)):
            if self._context.is_over():
                return
            history_recorder.begin_from(prelude)
            point.count_faults_before(original.struck)
            history_recorder.take(point, point.open_all())
            sweeps = not point.writer.runs_on_jvm or number % SWEEPS_EVERY == SWEEPS_EVERY - 1
            afterwards = scenario.afterwards if sweeps else _short_afterwards(scenario)
            for operation in (fault, scenario.operation, *afterwards):
                if point.plays:
                    self._play_step(history_recorder, point, operation)
            original.count(point)
        history_recorder.begin_from(prelude)

    def _faults_for(
        self, history_recorder: HistoryRecorder, original: CrashTableSession, scenario: CrashScenario
    ) -> list[Operation]:
        """The faults that may happen to the scenario's operation; none where it can't be seen, or fails alone."""
        whole = original.copy(original.folder.parent / "whole" / "table")
        history_recorder.take(whole, whole.open_all())
        outcome, record = whole.record(scenario.operation)
        try:
            whole.instrumented_process.check_instrumented(alone=True)
        except NotInstrumented:
            # It notes the reason, and drops the engine.
            self._context.instrumented_engines.get(str(original.writer.host.spec))
            return []
        if not isinstance(outcome, Committed | NoChange):
            engine, name = original.writer.engine, name_of(scenario.operation)
            self._context.note(f"{engine}: {name} fails by itself, {text_of(outcome)}")
            return []
        return list(faults_of(record, kill=self._kill))

    @staticmethod
    def _play_step(
        history_recorder: HistoryRecorder, table_session: CrashTableSession, operation: Operation
    ) -> None:
        step = Step(operation)
        play_step(
            history_recorder,
            step,
            [table_session],
            lambda: execute_step([table_session], step, history_recorder.take),
            [table_session.writer.engine],
        )


def _short_afterwards(scenario: CrashScenario) -> tuple[Operation, ...]:
    """What an engine on a JVM mostly does afterwards: until it has written once, and the change feeds it reads."""
    after = scenario.afterwards
    writes = (
        count for count, operation in enumerate(after, 1) if isinstance(operation, Append | WriteStream)
    )
    until = next(writes, 1)
    return (*after[:until], *(operation for operation in after[until:] if isinstance(operation, ReadChanges)))


def _table_session(
    folder: Path, writer: InstrumentedEngine, readers: list[EngineSession], chunk: Chunk, tag: str
) -> CrashTableSession:
    engine_sessions = [engine_session_of(writer.engine), *readers]
    return CrashTableSession(folder, engine_sessions, writer.instrumented_process, chunk.seed, tag)


def _writers_of(
    context: SuiteContext, chunk: Chunk, history: int
) -> Iterator[tuple[InstrumentedEngine, list[EngineSession]]]:
    """The engines that take part in a history, each with the others, which read."""
    names = context.engines_of(chunk, history)
    instrumented = context.instrumented_engines
    for name in names:
        writer = instrumented.get(name)
        if writer is not None:
            others = (instrumented.get(other) for other in names if other != name)
            yield writer, [engine_session_of(other.engine) for other in others if other is not None]
