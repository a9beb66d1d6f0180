"""The interface between the harness and an adapter: what an implementation of Delta Lake must offer to be tested.

An adapter lives in a host process (see `host_server`), one instance in each process, and addresses one table at a
time. It maps operations to its engine's own public API. It never emulates: for what the engine lacks, it answers
`Unsupported(reason)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from delta_models.operations import Detail, History, Operation, Read, ReadChanges, ReadStream
from delta_models.outcomes import Outcome

if TYPE_CHECKING:
    import pyarrow as pa

CONTRACT_VERSION = 1
Query = Read | ReadChanges | History | Detail | ReadStream


@dataclass(frozen=True, slots=True)
class Identity:
    """The engine under test.

    `compatible_with` names engines whose behaviour this one promises to share where the protocol is silent (rules of
    class *reference*).
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
    """The rows that a read returned and, if the engine reports it, the version that they belong to."""

    table: pa.Table
    version: int | None = None


def history_table(entries: Iterable[Sequence[Any]]) -> pa.Table:
    """Return the answer to `History`, made of the entries of an engine's history in the engine's order.

    An entry is version, operation and time of a commit and, if the engine reports them, its metrics by name.
    """
    import pyarrow as pa  # noqa: PLC0415 - an adapter that answers has imported it

    listed = [(*entry, None)[:4] for entry in entries]
    texts = pa.map_(pa.string(), pa.string())
    return pa.table(
        {
            "version": pa.array([version for version, *_ in listed], pa.int64()),
            "operation": pa.array([operation for _, operation, *_ in listed], pa.string()),
            "timestamp": pa.array(
                [None if time is None else str(time) for _, _, time, _ in listed], pa.string()
            ),
            "metrics": pa.array(
                [
                    None if metrics is None else [(name, str(value)) for name, value in metrics.items()]
                    for *_, metrics in listed
                ],
                texts,
            ),
        }
    )


def detail_table(details: Mapping[str, object]) -> pa.Table:
    """Return the answer to `Detail`, one row. Leave out what the engine does not report, or give None.

    - Files: `numFiles`, `sizeInBytes`.
    - Protocol: `minReaderVersion`, `minWriterVersion`, and `readerFeatures` and `writerFeatures`, or both as
      `tableFeatures`.
    - Metadata: `id`, `name`, `description`, `createdTime` (in milliseconds), `partitionColumns`, `properties`.
    - Schema: `schemaString`, the whole schema as the log has it, or `columns`, the schema that a reader sees.
    """
    import pyarrow as pa  # noqa: PLC0415 - as above

    texts, names, number = pa.string(), pa.list_(pa.string()), pa.int64()
    types = {
        "numFiles": number, "sizeInBytes": number,
        "minReaderVersion": pa.int32(), "minWriterVersion": pa.int32(),
        "readerFeatures": names, "writerFeatures": names, "tableFeatures": names,
        "id": texts, "name": texts, "description": texts, "createdTime": number, "partitionColumns": names,
        "properties": pa.map_(texts, texts), "schemaString": texts, "columns": texts,
    }  # fmt: skip
    unknown = sorted(details.keys() - types.keys())
    if unknown:
        raise KeyError(f"no details of a table: {', '.join(unknown)}")
    return pa.table({name: pa.array([details.get(name)], kind) for name, kind in types.items()})


class Adapter(Protocol):
    """One implementation, driven through its public API."""

    @property
    def identity(self) -> Identity:
        """The engine's name, version and home."""

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """The capability document, valid by `capabilities.schema.json`."""

    def start(self, work: Path) -> None:
        """Start what is expensive and kept, for instance a session. `work` is a private folder of this host."""

    def open(self, location: str) -> None:
        """Address the table at this path from now on, cold: without anything remembered under another path.

        The table need not exist yet.
        """

    def execute(self, operation: Operation, tag: str) -> Outcome:
        """Perform one operation that changes the table. If the engine has user metadata, `tag` goes into the commit.

        Errors of the engine become `Rejected(kind, message)`, or `Unknown` if the table may have changed. An
        exception that leaves this method is a bug of the adapter.
        """

    def read(self, read: Query) -> Answer | Outcome:
        """Return the rows of a read, or the outcome that says why there are none (`Rejected`, `Unsupported`).

        Other queries come only to an adapter that claims them. The answer to `ReadChanges` has the table's columns,
        `_change_type`, `_commit_version` and, if the engine reports it, `_commit_timestamp`. `history_table` makes the
        answer to `History`, `detail_table` the answer to `Detail`. The answer to `ReadStream` is everything that the
        stream reader of this name has received so far: the table's columns and, if it follows changes, `_change_type`.
        The stream reader keeps its progress in the table's folder (see `streams`), to continue after a restart.
        """

    def stop(self) -> None:
        """End what `start` started."""
