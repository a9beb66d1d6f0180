"""Plays histories with faults: those that a machine draws, and the committed small ones at each of their events."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from conformance.engine_pool import Engine, clear
from conformance.execution.engine_session import EngineSession
from conformance.execution.history_recorder import HistoryRecorder, features_of
from conformance.execution.table_copies import copies
from conformance.execution.table_session import StepResult, TableSession, play
from conformance.fault_injection.instrumented_engines import InstrumentedEngine
from conformance.fault_injection.instrumented_process import NotInstrumented
from conformance.findings import FindingError
from conformance.generation import TableShape
from conformance.histories import Chunk, Step
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.crashes.scenario_groups import KILLED, stories
from conformance.suites.crashes.scenarios import CrashScenario, faults_of
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

SWEEPS_EVERY = 12  # points after which an engine on a JVM vacuums what is left over


class GeneratedCrashes(GeneratedHistories):
    """Histories that a machine draws, with a fault before some of their operations.

    Who writes to one table reads the others', so tables are played one after another, everybody back at his own.
    """

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        super().__init__(context, chunk, work)
        self._at: TableSession | None = None  # whose table the engines address

    def _played(
        self, playing: Sequence[TableSession], step: Step
    ) -> Iterator[tuple[TableSession, StepResult]]:
        for table_session in playing:
            if self._at is not table_session and isinstance(table_session, CrashTableSession):
                yield from ((table_session, result) for result in table_session.reopen_all())
            self._at = table_session
            yield from play([table_session], step)

    def _seated(self, history: int, shape: TableShape, tag: str) -> list[TableSession]:
        table_sessions: list[TableSession] = []
        for at, (player, readers) in enumerate(_players(self._dealer, self._chunk, history)):
            reason = player.engine.capabilities.covers_table(
                shape.schema, shape.partition_by, dict(shape.properties)
            )
            if reason is None:
                folder = self._folder / f"{at}" / "table"
                table_sessions.append(_desk(folder, player, readers, self._chunk, tag))
            else:
                self._dealer.note(f"{player.engine.name} {reason}: not asked in such histories")
        self._at = table_sessions[-1] if table_sessions else None  # who sits down last
        return table_sessions


class CrashScenarios:
    """Committed histories: whatever may happen to an operation happens to it, each on a copy of one table.

    `writers` are those engines of the run that play, without it all that can; the others read.
    """

    def __init__(
        self, context: SuiteContext, chunk: Chunk, work: Path, writers: Collection[str] | None = None
    ) -> None:
        self._dealer = context
        self._chunk = chunk
        self._work = work
        self._ended = 0
        self._stories = stories(chunk.table)[: chunk.histories]
        self._writers = writers
        self._kill = chunk.table.startswith(KILLED)

    @property
    def complete(self) -> bool:
        """Whether every story was played to its end."""
        return self._ended == len(self._stories)

    def play_all(self) -> None:
        """One story after the other."""
        for number, story in enumerate(self._stories):
            if self._dealer.is_over():
                return
            self._play(number, story)
            self._ended += not self._dealer.is_over()

    def _play(self, number: int, story: CrashScenario) -> None:
        asked = [
            each
            for each in (*story.before, story.operation)
            if not isinstance(each, (AdvanceClock, *STORAGE_FAULTS))
        ]
        create = next((each for each in asked if isinstance(each, Create)), None)
        history_recorder = HistoryRecorder(
            self._chunk,
            number,
            self._dealer.finding_recorder,
            self._dealer.tell,
            features=features_of(create.properties if create else ()),
        )
        told: list[TableSession] = []
        for at, (player, readers) in enumerate(_players(self._dealer, self._chunk, number)):
            if self._writers is not None and str(player.engine.spec) not in self._writers:
                continue
            missing = next(filter(None, map(player.engine.capabilities.covers, asked)), None)
            if missing is not None:
                self._dealer.note(f"{player.engine.name} {missing}: not asked in such histories")
                continue
            folder = self._work / str(number) / str(at)
            stand = _desk(folder / "table", player, readers, self._chunk, self._chunk.name)
            told.append(stand)
            self._cut(history_recorder, stand, story)
        history_recorder.close(told)
        clear(self._work / str(number))

    def _cut(self, history_recorder: HistoryRecorder, stand: CrashTableSession, story: CrashScenario) -> None:
        """All that may happen to the story's operation at one engine."""
        history_recorder.take(stand, stand.open_all())
        for each in story.before:
            self._step(history_recorder, stand, each)
        if not stand.plays:
            return
        whole = stand.copy(stand.folder.parent / "whole" / "table")
        history_recorder.take(whole, whole.open_all())
        outcome, record = whole.record(story.operation)
        try:
            whole.instrumented_process.check_instrumented(alone=True)
        except NotInstrumented:
            self._dealer.instrumented_engines.get(
                str(stand.engine_sessions[0].host.spec)
            )  # the arena says so, and has it no more
            return
        if not isinstance(outcome, Committed | NoChange):
            self._dealer.note(
                f"{stand.engine_sessions[0].engine}: {name_of(story.operation)} fails by itself, {text_of(outcome)}"
            )
            return
        prelude = list(history_recorder.steps)
        faults = list(faults_of(record, kill=self._kill))
        points = copies(stand, stand.folder.parent / "points", len(faults))
        for at, (table_session, fault) in enumerate(zip(points, faults, strict=True)):
            if self._dealer.is_over():
                return
            history_recorder.steps = list(prelude)
            table_session.earlier = stand.struck
            history_recorder.take(table_session, table_session.open_all())
            sweeps = not table_session.engine_sessions[0].dear or at % SWEEPS_EVERY == SWEEPS_EVERY - 1
            for afterward in (fault, story.operation, *(story.afterwards if sweeps else _briefly(story))):
                if table_session.plays:
                    self._step(history_recorder, table_session, afterward)
            stand.struck += table_session.struck
            stand.engine_sessions[0].operations += table_session.engine_sessions[0].operations
            stand.engine_sessions[0].seconds += table_session.engine_sessions[0].seconds
        history_recorder.steps = prelude

    @staticmethod
    def _step(history_recorder: HistoryRecorder, table_session: TableSession, operation: Operation) -> None:
        step = Step(operation)
        history_recorder.begin_step(step)
        try:
            for _, result in play([table_session], step):
                history_recorder.take(table_session, (result,))
            history_recorder.played([table_session.engine_sessions[0].engine])
        except (FindingError, OSError):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it says nothing of the engines
            history_recorder.harness_failed([table_session])


def _briefly(story: CrashScenario) -> tuple[Operation, ...]:
    """What an engine on a JVM does afterwards, mostly: until it has written once, and what changes it tells of."""
    after = story.afterwards
    until = next((at for at, each in enumerate(after, 1) if isinstance(each, Append | WriteStream)), 1)
    return (*after[:until], *(each for each in after[until:] if isinstance(each, ReadChanges)))


def _desk(
    folder: Path, player: InstrumentedEngine, readers: list[EngineSession], chunk: Chunk, tag: str
) -> CrashTableSession:
    return CrashTableSession(
        folder, [engine_session_of(player.engine), *readers], player.instrumented_process, chunk.seed, tag
    )


def _players(
    context: SuiteContext, chunk: Chunk, history: int
) -> Iterator[tuple[InstrumentedEngine, list[EngineSession]]]:
    """The engines that take part in a history, each with the others, which read."""
    names = [
        name
        for name, engine in context.hosts.engines.items()
        if not engine.runs_on_jvm or history in chunk.heavy
    ]
    for name in names:
        player = context.instrumented_engines.get(name)
        if player is not None:
            yield player, [engine_session_of(other) for other in _others(context, names, name)]


def _others(context: SuiteContext, names: list[str], name: str) -> Iterator[Engine]:
    for other in names:
        player = context.instrumented_engines.get(other) if other != name else None
        if player is not None:
            yield player.engine
