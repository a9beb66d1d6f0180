"""Splits chunks between the worker with the JVMs and the others, and joins the events of their parts.

A run waits for the worker with the JVMs. So of a chunk in which engines on a JVM play some histories, that worker
plays these alone. To those who listen there is one chunk: it begins with its first part, and ends with its last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from conformance.events.types import ChunkEnded, ChunkStarted, Event
from conformance.histories import Chunk

SPLIT = ("examples", "lockstep", "shared")  # suites whose player can leave out histories


@dataclass(slots=True)
class _Parts:
    """What is known of the parts of one chunk."""

    started: bool = False
    waiting: int = 2
    complete: bool = True
    seconds: float = 0.0


class ChunkParts:
    """The chunks of a run that are played in two parts."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, int], _Parts] = {}

    def split(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Yield the parts of each chunk in which engines on a JVM play some histories; other chunks as they are."""
        for chunk in chunks:
            light = tuple(history for history in range(chunk.histories) if history not in chunk.heavy)
            if chunk.suite in SPLIT and light and chunk.heavy and not chunk.given:
                self._parts[chunk.suite, chunk.number] = _Parts()
                yield replace(chunk, part=chunk.heavy)
                yield replace(chunk, part=light, heavy=())
            else:
                yield chunk

    def join(self, event: Event) -> Event | None:
        """The event as listeners get it; None if it tells of a part what they know, or shall not know yet."""
        if not isinstance(event, ChunkStarted | ChunkEnded):
            return event
        parts = self._parts.get((event.suite, event.number))
        if parts is None:
            return event
        if isinstance(event, ChunkStarted):
            started, parts.started = parts.started, True
            return None if started else event
        parts.waiting -= 1
        parts.complete = parts.complete and event.complete
        parts.seconds += event.seconds
        if parts.waiting:
            return None
        return replace(event, complete=parts.complete, seconds=round(parts.seconds, 3))
