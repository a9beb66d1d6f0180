"""What an adapter is: the little that the harness needs of an implementation of Delta Lake to hold it to the
protocol.

An adapter lives in a host process (see `host`), one instance a process, and addresses one table at a time. It
maps the alphabet onto its engine's own public API. It never emulates: what the engine lacks is answered
`Unsupported(reason)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from delta_models.operations import Operation, Read
from delta_models.outcomes import Outcome

if TYPE_CHECKING:
    import pyarrow as pa

CONTRACT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is being tested. `compatible_with` names engines whose behaviour it promises to share where the
    protocol is silent (rules of class *reference*).
    """

    name: str
    version: str
    homepage: str
    issue_tracker: str
    compatible_with: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows that a read returned, and the version that they belong to if the engine says so."""

    table: pa.Table
    version: int | None = None


class Adapter(Protocol):
    """One implementation, driven through its public API."""

    @property
    def identity(self) -> Identity:
        """Name, version, where it lives."""

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """The capability document, valid by `capabilities.schema.json`."""

    def start(self, work: Path) -> None:
        """Start what is dear and kept (a session); `work` is a private folder that goes with the host."""

    def open(self, location: str) -> None:
        """Address the table at this path from now on, cold: nothing remembered of it under another path. The
        table need not exist yet.
        """

    def execute(self, operation: Operation, tag: str) -> Outcome:
        """Perform one operation that changes the table; `tag` goes into the commit's user metadata where
        there is such a thing.

        Errors of the engine become `Rejected(kind, message)`, or `Unknown` where it can't be told whether the
        table changed. An exception that leaves this method is a bug of the adapter.
        """

    def read(self, read: Read) -> Answer | Outcome:
        """The rows of a read, or why there are none (`Rejected`, `Unsupported`)."""

    def stop(self) -> None:
        """End what `start` began."""
