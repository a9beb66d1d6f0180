"""Sums up the losses of hosts: an engine that dies in one way a thousand times is one cause, not a thousand events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.events.types import EngineLost


class LossSummary:
    """Lets the first loss of each cause pass, and counts the others."""

    def __init__(self) -> None:
        self._counted: dict[tuple[str, str, str], EngineLost | None] = {}

    def is_first(self, event: EngineLost) -> bool:
        """Count a loss, and return whether it is the first of its cause: engine, how it was lost, and in which call."""
        cause = (event.engine, event.how, _call(event.operation))
        if cause not in self._counted:
            self._counted[cause] = None
            return True
        before = self._counted[cause]
        times = event.times + (before.times if before else 0)
        self._counted[cause] = replace(event, operation=cause[2], times=times)
        return False

    def rest(self) -> Iterator[EngineLost]:
        """Yield one event for each cause that occurred again, with how often it did. The count begins anew."""
        for cause, summed in self._counted.items():
            if summed is not None:
                self._counted[cause] = None
                yield summed


def _call(operation: str) -> str:
    """The call without what differs each time: the tag of an operation, the folder of a table."""
    words = operation.split()
    return " ".join(words[:2] if words[:1] == ["execute"] else words[:1])
