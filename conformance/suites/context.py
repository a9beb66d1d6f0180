"""What all suites of a worker share: its engines, and where findings and events go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from conformance.engine_pool import Engine, EnginePool
from conformance.events.types import Note
from conformance.execution.engine_session import EngineSession
from conformance.execution.history_recorder import Emit
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.suites.kept_histories import KeptHistory


@dataclass(slots=True)
class SuiteContext:
    """A worker's engines, and where results go. `is_over` says whether the run needs nothing more.

    `kept` are the histories that a team keeps, in the order of their chunks.
    """

    engine_pool: EnginePool
    finding_recorder: FindingRecorder
    emit: Emit
    is_over: Callable[[], bool]
    instrumented_engines: InstrumentedEngines
    kept: tuple[KeptHistory, ...] = ()
    _noted: set[str] = field(default_factory=set)

    def engines_of(self, chunk: Chunk, history: int) -> list[str]:
        """The engines that the plan wants in a history, by what was asked for, whether they run or not."""
        return [
            name
            for name, engine in self.engine_pool.engines.items()
            if (not engine.runs_on_jvm or history in chunk.heavy)
            and (not chunk.engines or name in chunk.engines)
        ]

    def running_engines_of(self, chunk: Chunk, history: int) -> Iterator[Engine]:
        """The engines that take part in a history and run."""
        for name in self.engines_of(chunk, history):
            running = self.engine_pool.get(name)
            if running is not None:
                yield running

    def note(self, words: str) -> None:
        """Report a note once."""
        if words not in self._noted:
            self._noted.add(words)
            self.emit(Note(words))


def engine_session_of(engine: Engine) -> EngineSession:
    """An engine session for an engine that runs."""
    assert engine.host is not None  # noqa: S101 - only engines that run take part
    return EngineSession(
        engine.name, engine.host, engine.capabilities, engine.timeout, runs_on_jvm=engine.runs_on_jvm
    )
