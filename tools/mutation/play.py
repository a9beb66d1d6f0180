"""Plays chunks of the gate on one build of the engine, until one shows a violation: in this process, without triage.

A build is *killed* if a requirement blames it, as a run that ends with 1 does. One that does not start or fails its
smoke test is *unusable*: a run would end with 2. One that starts and is given up later is *given-up*: a run would end
with 3. If the harness itself fails, that is a *fault*. One whose chunks show nothing has *survived*.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.events.types import (
    EngineLost,
    EngineReady,
    EngineUnavailable,
    Event,
    FindingFound,
    HarnessFault,
    HistoryEnded,
)
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.reporting.exit_status import is_strict
from conformance.runner.chunk import play_chunk
from conformance.runner.context import open_suite_context
from delta_adapters.registry import EngineSpec, parse_engine

ENGINE = "pyspark"
KILLED, SURVIVED, UNUSABLE, GIVEN_UP, FAULT = "killed", "survived", "unusable", "given-up", "fault"
BEHIND_THE_TURNSTILE = (
    "crashes",
    "races",
)  # suites whose engines are behind the turnstile, with a JVM of their own


@dataclass(slots=True)
class Played:
    """What became of a build: its state, the violation that decided it, and how much was played."""

    state: str = SURVIVED
    requirement: str = ""
    detail: str = ""
    chunk: str = ""
    chunks: int = 0
    operations: int = 0
    seconds: float = 0.0
    lost: bool = False
    _ready: set[str] = field(default_factory=set)
    _strict: set[str] = field(default_factory=set)

    def take(self, event: Event) -> None:
        """Take an event of the run into account. The first one that decides stays."""
        match event:
            case EngineReady():
                self._ready.add(event.engine)
                if is_strict(event.compatible_with):
                    self._strict.add(event.engine)
            case EngineLost():
                self.lost = True
            case HistoryEnded():
                self.operations += sum(event.operations.values())
        if self.state != SURVIVED:
            return
        match event:
            case EngineUnavailable():
                self.lost = True
                self.state, self.detail = self._without(event.engine), event.why
            case HarnessFault():
                self.state, self.detail = FAULT, event.message
            case FindingFound() if self._blames(event):
                self.state, self.requirement, self.detail = KILLED, event.requirement, event.detail

    def forget(self) -> None:
        """Go on as if nothing had been decided: the next chunk is judged by itself."""
        self.state, self.requirement, self.detail, self.operations = SURVIVED, "", "", 0

    def _without(self, engine: str) -> str:
        if not engine.startswith(f"{ENGINE}@") and engine != ENGINE:
            return FAULT  # its partner does not run
        return GIVEN_UP if engine in self._ready else UNUSABLE

    def _blames(self, event: FindingFound) -> bool:
        counts = event.strength == "must" or event.engine in self._strict
        return event.engine.startswith(f"{ENGINE}@") and event.promised and not event.candidates and counts


After = Callable[[Chunk, Played, float], None]


def needs_own_jvm(chunk: Chunk) -> bool:
    """Whether the engine of a chunk is behind the turnstile, so that its JVM must be too."""
    return chunk.suite in BEHIND_THE_TURNSTILE


def play(
    spec: EngineSpec,
    chunks: Sequence[Chunk],
    played: Played | None = None,
    *,
    ready: Callable[[], object] = lambda: None,
    after: After | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> Played:
    """Play chunks on a build until one shows a violation, or until it is `enough`. Those before count as well.

    `ready` is called before the first chunk, after the smoke test. If `after` is given, it is called when a chunk ends,
    with the seconds that it took, and all chunks are played.
    """
    played = played or Played()
    began = time.monotonic()
    partners = {name for chunk in chunks for name in chunk.engines if name != ENGINE}
    specs = [spec, *map(parse_engine, sorted(partners))]
    alone = all(needs_own_jvm(chunk) for chunk in chunks)

    def is_over() -> bool:
        return after is None and played.state != SURVIVED

    with tempfile.TemporaryDirectory(prefix="mutation-") as temporary:
        work = Path(temporary)
        with open_suite_context(
            specs,
            FindingRecorder(work / "run"),
            played.take,
            work / "hosts",
            is_over=is_over,
            start_heavy=not alone,
            asked=() if alone else (str(spec),),
        ) as context:
            ready()
            for chunk in chunks:
                if is_over() or enough():
                    break
                start = time.monotonic()
                played.chunk = chunk.name
                engines = tuple(str(spec) if name == ENGINE else name for name in chunk.engines)
                play_chunk(context, replace(chunk, engines=engines), work / "tables")
                played.chunks += 1
                if after is not None:
                    after(chunk, played, time.monotonic() - start)
    played.seconds += round(time.monotonic() - began, 1)
    return played
