"""Who plays: the engines of a worker, dealt to the histories of a chunk, with where their verdicts go."""

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


@dataclass(slots=True)
class SuiteContext:
    """A worker's engines, and whom to tell. `is_over` says whether nothing more is wanted."""

    hosts: EnginePool
    finding_recorder: FindingRecorder
    tell: Emit
    is_over: Callable[[], bool]
    instrumented_engines: InstrumentedEngines
    _told: set[str] = field(default_factory=set)

    def playing(self, chunk: Chunk, history: int) -> Iterator[Engine]:
        """The engines that take part in a history, as far as the plan goes."""
        for name, engine in self.hosts.engines.items():
            if not engine.runs_on_jvm or history in chunk.heavy:
                running = self.hosts.get(name)
                if running is not None:
                    yield running

    def note(self, words: str) -> None:
        """Say something once."""
        if words not in self._told:
            self._told.add(words)
            self.tell(Note(words))


def engine_session_of(engine: Engine) -> EngineSession:
    """A seat for an engine that runs."""
    assert engine.host is not None  # noqa: S101 - only engines that run are dealt to
    return EngineSession(
        engine.name, engine.host, engine.capabilities, engine.timeout, dear=engine.runs_on_jvm
    )
