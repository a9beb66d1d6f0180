"""Plays the histories that a machine draws, in *lockstep* or on a *shared* table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.engine_pool import Engine, clear
from conformance.execution.history_recorder import HistoryRecorder, features_of
from conformance.execution.table_session import StepResult, TableSession, play
from conformance.findings import FindingError
from conformance.generation import TableShape, state_machine
from conformance.histories import Chunk, Step
from conformance.suites.context import SuiteContext, engine_session_of

SHARED = "shared"
CRASHES = "crashes"
RACES = "races"


class GeneratedHistories:
    """The histories that a machine draws: see `machine.Game`."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        self._dealer = context
        self._chunk = chunk
        self._work = work
        self._ended = 0
        self._folder = work
        self._desks: list[TableSession] = []
        self._account: HistoryRecorder | None = None
        self._failure: Exception | None = None

    @property
    def complete(self) -> bool:
        """Whether every history came to its end."""
        return self._ended == self._chunk.histories

    def play_all(self) -> None:
        """Have the machine draw, and play what it draws. Raises what makes it useless to go on: storage that fails."""
        suite = self._chunk.suite
        state_machine.draw(
            self._chunk, self, shared=suite == SHARED, faulty=suite == CRASHES, racing=suite == RACES
        )
        if self._failure is not None:
            raise self._failure

    def is_over(self) -> bool:
        """Whether nothing more is wanted."""
        return self._failure is not None or self._dealer.is_over()

    def begin(self, history: int, shape: TableShape) -> None:
        """Seat the engines that take part."""
        self._account = HistoryRecorder(
            self._chunk,
            history,
            self._dealer.finding_recorder,
            self._dealer.tell,
            features=features_of(shape.properties),
        )
        self._folder = self._work / str(history)
        self._desks = self._seated(history, shape, f"{self._chunk.name}-{history}")
        for table_session in self._desks:
            self._account.take(table_session, table_session.open_all())

    def _seated(self, history: int, shape: TableShape, tag: str) -> list[TableSession]:
        """The tables of a history."""
        engine_sessions = [engine_session_of(player) for player in self._players(history, shape)]
        if self._chunk.suite == SHARED:
            turn = history % len(engine_sessions) if engine_sessions else 0
            tables = [engine_sessions[turn:] + engine_sessions[:turn]] if engine_sessions else []
        else:
            tables = [[engine_session] for engine_session in engine_sessions]
        return [
            TableSession(self._folder / f"{number}" / "table", table, self._chunk.seed, tag)
            for number, table in enumerate(tables)
        ]

    def play(self, step: Step) -> None:
        """The next command, at every desk that still plays."""
        assert self._account is not None  # noqa: S101 - `begin` has set it
        self._account.begin_step(step)
        playing = [desk for desk in self._desks if desk.plays]
        if not playing:
            return
        engines = [
            engine_session.engine
            for table_session in playing
            for engine_session in table_session.engine_sessions
            if engine_session.plays
        ]
        try:
            for table_session, result in self._played(playing, step):
                self._account.take(table_session, (result,))
            self._account.played(engines)
        except (FindingError, OSError) as error:
            self._failure = error  # not here: Hypothesis would play the history again
        except Exception:  # noqa: BLE001 - whatever it is, it says nothing of the engines, and other histories go on
            self._account.harness_failed(self._desks)

    def _played(
        self, playing: Sequence[TableSession], step: Step
    ) -> Iterator[tuple[TableSession, StepResult]]:
        """A command at the desks that still play: side by side."""
        return play(playing, step)

    def end(self) -> None:
        """Close the account, and clear the table away."""
        assert self._account is not None  # noqa: S101 - `begin` has set it
        self._ended += len(self._account.steps) >= self._chunk.steps
        self._account.close(self._desks)
        for table_session in self._desks:
            if table_session.not_asked is not None:
                engines = ", ".join(engine_session.engine for engine_session in table_session.engine_sessions)
                self._dealer.note(
                    f"{engines}: {table_session.not_asked}; later steps of such histories are not asked"
                )
        clear(self._folder)
        self._desks = []

    def _players(self, history: int, shape: TableShape) -> Iterator[Engine]:
        for engine in self._dealer.playing(self._chunk, history):
            reason = engine.capabilities.covers_table(
                shape.schema, shape.partition_by, dict(shape.properties)
            )
            if reason is None:
                yield engine
            else:
                self._dealer.note(f"{engine.name} {reason}: not asked in such histories")
