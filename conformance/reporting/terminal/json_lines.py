"""Events for another program, as they happen, in the form of `events.jsonl`."""

from __future__ import annotations

from typing import TextIO

from conformance.events import serialization
from conformance.events.types import Event


class JsonLines:
    """A listener that writes each event as a line, those that are not recorded included."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def __call__(self, event: Event) -> None:
        """Write the event."""
        self._out.write(f"{serialization.to_line(event)}\n")
        self._out.flush()

    def close(self) -> None:
        """Do nothing, since nothing is open."""
