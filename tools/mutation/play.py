"""Plays chunks of the gate on one build of the engine, until one shows a violation: in this process, without triage.

A mutant is *killed* if a requirement blames the engine, as a run that ends with 1 does. A mutant that does not start or
fails its smoke test is *unusable*: a run would end with 2. One whose chunks show nothing has *survived*.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
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
KILLED, SURVIVED, UNUSABLE, FAULT = "killed", "survived", "unusable", "fault"


@dataclass(slots=True)
class Played:
    """What became of a build: the verdict, the violation that decided it, and how much was played."""

    verdict: str = SURVIVED
    requirement: str = ""
    detail: str = ""
    chunk: str = ""
    chunks: int = 0
    operations: int = 0
    seconds: float = 0.0
    lost: bool = False
    _strict: set[str] = field(default_factory=set)

    def take(self, event: Event) -> None:
        """Take an event of the run into account. The first violation decides."""
        match event:
            case EngineReady() if is_strict(event.compatible_with):
                self._strict.add(event.engine)
            case EngineUnavailable() | HarnessFault() if self.verdict == SURVIVED:
                self.verdict = FAULT if isinstance(event, HarnessFault) else UNUSABLE
                self.detail = event.message if isinstance(event, HarnessFault) else event.why
            case EngineLost():
                self.lost = True
            case HistoryEnded():
                self.operations += sum(event.operations.values())
            case FindingFound() if self.verdict == SURVIVED and self._blames(event):
                self.verdict, self.requirement, self.detail = KILLED, event.requirement, event.detail

    def _blames(self, event: FindingFound) -> bool:
        counts = event.strength == "must" or event.engine in self._strict
        return event.engine.startswith(f"{ENGINE}@") and event.promised and not event.candidates and counts


def play(spec: EngineSpec, chunks: Sequence[Chunk], *, to_the_end: bool = False) -> Played:
    """Play chunks on a build, until one shows a violation; `to_the_end` plays all, and the first violation counts."""
    played = Played()
    began = time.monotonic()
    partners = {name for chunk in chunks for name in chunk.engines if name != ENGINE}
    specs = [spec, *map(parse_engine, sorted(partners))]
    with tempfile.TemporaryDirectory(prefix="mutation-") as temporary:
        work = Path(temporary)

        def is_over() -> bool:
            return played.verdict != SURVIVED and not to_the_end

        with open_suite_context(
            specs,
            FindingRecorder(work / "run", ()),
            played.take,
            work / "hosts",
            is_over=is_over,
            start_heavy=True,
            asked=(str(spec),),
        ) as context:
            for chunk in chunks:
                if is_over():
                    break
                played.chunk = chunk.name
                engines = tuple(str(spec) if name == ENGINE else name for name in chunk.engines)
                play_chunk(context, replace(chunk, engines=engines), work / "tables")
                played.chunks += 1
    played.seconds = round(time.monotonic() - began, 1)
    return played
