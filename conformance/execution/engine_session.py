"""An engine at a table: its host, how it addresses the table, what it has been asked, and whether it still
plays.

Whatever goes wrong with the host comes back as a `HostFailure`, not as an exception: an engine that dies is a
finding, and the history goes on for the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from delta_adapters.capabilities import Capabilities
from delta_adapters.contract import Query
from delta_adapters.host_client import HostClient, ReadReply, Reply
from delta_adapters.host_errors import AdapterBug, HostDied, HostError, HostGarbage, HostHung
from delta_models.operations import Operation
from delta_models.requirements import Violation

Answered = TypeVar("Answered")

LIVES = "host.lives"
ANSWERS = "host.answers"
SPEAKS = "host.speaks"


@dataclass(frozen=True, slots=True)
class HostFailure:
    """An engine's host did not do what it was asked: it died, hung, or spoke nonsense."""

    requirement: str
    error: HostError

    @property
    def violation(self) -> Violation:
        """The finding."""
        return Violation(self.requirement, str(self.error), self.error.last_operation)


@dataclass(slots=True)
class EngineSession:
    """One engine at one table, for one history. It leaves with the reason in `left`. What it is asked may be `dear`."""

    engine: str
    host: HostClient
    capabilities: Capabilities
    timeout: float
    dear: bool = False
    left: str | None = None
    operations: int = 0
    seconds: float = 0.0
    address: Path | None = field(default=None)

    @property
    def plays(self) -> bool:
        """Whether it still takes part."""
        return self.left is None

    def open(self, address: Path) -> HostFailure | None:
        """Address the table by this path, cold."""
        return self.opening(address)()

    def opening(self, address: Path) -> Callable[[], HostFailure | None]:
        """Begin to address the table by this path; it is waited for by calling what comes back."""
        self.address = address
        start = time.monotonic()
        pending = self._guarded(lambda: self.host.submit_open(str(address), self.timeout))

        def finish() -> HostFailure | None:
            answer = pending if isinstance(pending, HostFailure) else self._guarded(pending.result)
            self.seconds += time.monotonic() - start
            return answer if isinstance(answer, HostFailure) else None

        return finish

    def execute(self, operation: Operation, tag: str) -> Callable[[], Reply | HostFailure]:
        """Ask for an operation; the answer is waited for by calling what comes back."""
        pending = self._guarded(lambda: self.host.submit(operation, tag, self.timeout))
        if isinstance(pending, HostFailure):
            lost = pending
            return lambda: lost
        return lambda: self._timed(pending.result)

    def read(self, read: Query) -> Callable[[], ReadReply | HostFailure]:
        """Ask for rows; the answer is waited for by calling what comes back."""
        pending = self._guarded(lambda: self.host.submit_read(read, self.timeout))
        if isinstance(pending, HostFailure):
            lost = pending
            return lambda: lost
        return lambda: self._timed(pending.result)

    def _timed(self, ask: Callable[[], Answered]) -> Answered | HostFailure:
        start = time.monotonic()
        answer = self._guarded(ask)
        self.operations += 1
        self.seconds += getattr(answer, "seconds", time.monotonic() - start)
        return answer

    def _guarded(self, ask: Callable[[], Answered]) -> Answered | HostFailure:
        try:
            return ask()
        except HostError as error:
            self.left = f"its host {error.what}"
            return HostFailure(_requirement(error), error)


def _requirement(error: HostError) -> str:
    match error:
        case HostDied():
            return LIVES
        case HostHung():
            return ANSWERS
        case HostGarbage() | AdapterBug():
            return SPEAKS
    message = f"a kind of host error that nobody judges: {type(error).__name__}"
    raise TypeError(message)
