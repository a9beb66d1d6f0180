"""The suites of generated histories: in *lockstep* each engine has its own table, on a *shared* one all take turns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.engine_pool import Engine, clear
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.table_session import TableSession, execute_step
from conformance.findings import FindingError
from conformance.generation import TableShape, state_machine
from conformance.generation.state_machine import HistoryPlayer
from conformance.generation.table_features import features_of
from conformance.histories import Chunk, Step
from conformance.suites.base import engines_at, play_step
from conformance.suites.context import SuiteContext, engine_session_of

SHARED = "shared"
CRASHES = "crashes"
RACES = "races"


class GeneratedHistories:
    """The generated histories of a chunk. It is a `HistoryPlayer` for the state machine that generates them."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        self.context = context
        self.chunk = chunk
        self.work = work
        self._ended = 0
        self._folder = work
        self._table_sessions: list[TableSession] = []
        self._history_recorder: HistoryRecorder | None = None
        self._failure: Exception | None = None

    @property
    def complete(self) -> bool:
        """Whether every history was played to its end."""
        return self._ended == (self.chunk.histories if self.chunk.part is None else len(self.chunk.part))

    @property
    def history_recorder(self) -> HistoryRecorder:
        """The recorder of the history that is being played."""
        assert self._history_recorder is not None  # noqa: S101 - `begin` has set it
        return self._history_recorder

    def play_all(self) -> None:
        """Generate the histories and play them. Raises FindingError or OSError if the run's folder fails."""
        suite, part = self.chunk.suite, self.chunk.part
        player = self if part is None else _PartPlayer(self, part)
        state_machine.draw(
            self.chunk, player, shared=suite == SHARED, faulty=suite == CRASHES, racing=suite == RACES
        )
        self.raise_failure()

    def raise_failure(self) -> None:
        """Raise the FindingError or OSError that ended the histories, if one did."""
        if self._failure is not None:
            raise self._failure

    def is_over(self) -> bool:
        """Whether the run needs nothing more."""
        return self._failure is not None or self.context.is_over()

    def begin(self, history: int, shape: TableShape) -> None:
        """Make the tables of a history, and have the engines open them."""
        self._history_recorder = HistoryRecorder(
            self.chunk,
            history,
            self.context.finding_recorder,
            self.context.emit,
            features=features_of(shape.properties),
        )
        self._folder = self.work / str(history)
        tag = f"{self.chunk.name}-{history}"
        self._table_sessions = list(self.tables_of(history, shape, self._folder, tag))
        for table_session in self._table_sessions:
            self.history_recorder.take(table_session, table_session.open_all())

    def play(self, step: Step) -> None:
        """Execute the next step at every table where the history still goes on."""
        playing = [table_session for table_session in self._table_sessions if table_session.plays]
        history_recorder = self.history_recorder
        try:
            play_step(
                history_recorder,
                step,
                self._table_sessions,
                lambda: self.execute(history_recorder, playing, step),
                engines_at(playing),
            )
        except (FindingError, OSError) as error:
            # Hypothesis must not see it: it would generate the same history again, to find out whether it fails again.
            self._failure = error

    def end(self) -> None:
        """Report the end of the history, and clear its tables away."""
        self._ended += len(self.history_recorder.steps) >= self.chunk.steps
        self.history_recorder.close(self._table_sessions)
        for table_session in self._table_sessions:
            if table_session.not_asked is not None:
                engines = ", ".join(session.engine for session in table_session.engine_sessions)
                self.context.note(
                    f"{engines}: {table_session.not_asked}; later steps of such histories are not asked"
                )
        clear(self._folder)
        self._table_sessions = []

    # What differs between suites

    def tables_of(self, history: int, shape: TableShape, folder: Path, tag: str) -> Iterator[TableSession]:
        """The tables of a history, each with the engines that take part."""
        engine_sessions = [engine_session_of(engine) for engine in self.engines_for(history, shape)]
        groups = [[engine_session] for engine_session in engine_sessions]
        if self.chunk.kind == SHARED and engine_sessions:
            turn = history % len(engine_sessions)
            groups = [engine_sessions[turn:] + engine_sessions[:turn]]
        for number, group in enumerate(groups):
            yield TableSession(folder / f"{number}" / "table", group, self.chunk.seed, tag)

    def execute(
        self, history_recorder: HistoryRecorder, table_sessions: list[TableSession], step: Step
    ) -> None:
        """Execute a step at these tables, and record the results."""
        execute_step(table_sessions, step, history_recorder.take)

    def why_not_asked(self, engine: Engine, shape: TableShape) -> str | None:
        """Why an engine does not claim the table of a history; None if it does."""
        return engine.capabilities.covers_table(shape.schema, shape.partition_by, dict(shape.properties))

    def engines_for(self, history: int, shape: TableShape) -> Iterator[Engine]:
        """The engines that claim the table of a history."""
        for engine in self.context.running_engines_of(self.chunk, history):
            reason = self.why_not_asked(engine, shape)
            if reason is None:
                yield engine
            else:
                self.context.note(f"{engine.name} {reason}: not asked in such histories")


class _PartPlayer:
    """The `HistoryPlayer` that hands on some of the histories of a chunk, and nothing once they are over."""

    def __init__(self, player: HistoryPlayer, part: tuple[int, ...]) -> None:
        self._player = player
        self._part = part
        self._history = -1
        self._over = not part

    def begin(self, history: int, shape: TableShape) -> None:
        """Begin a history, if it is of the part."""
        self._history = history
        if history in self._part:
            self._player.begin(history, shape)

    def play(self, step: Step) -> None:
        """Play a step, if its history is of the part."""
        if self._history in self._part:
            self._player.play(step)

    def end(self) -> None:
        """End a history. After the last one of the part nothing more is drawn."""
        if self._history in self._part:
            self._player.end()
        self._over = self._history >= max(self._part)

    def is_over(self) -> bool:
        """Whether nothing more is wanted."""
        return self._over or self._player.is_over()
