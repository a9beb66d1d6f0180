"""What an adapter is: the little that the harness needs of an implementation of Delta Lake to hold it to the
protocol.

An adapter lives in a host process (see `host`), one instance a process, and addresses one table at a time. It
maps the alphabet onto its engine's own public API. It never emulates: what the engine lacks is answered
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


def history_table(told: Iterable[Sequence[Any]]) -> pa.Table:
    """What an engine tells of a table's past, in its own order: version, operation and time of each, and as a fourth,
    if the engine tells them, the metrics by name."""
    import pyarrow as pa  # noqa: PLC0415 - an adapter that answers has imported it

    listed = [(*each, None)[:4] for each in told]
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


def detail_table(told: Mapping[str, object]) -> pa.Table:
    """What an engine says of a table, in one row; what it does not say is left out, or None.

    Of its files `numFiles` and `sizeInBytes`; of its protocol `minReaderVersion`, `minWriterVersion`, `readerFeatures`
    and `writerFeatures`, or `tableFeatures`, both in one; of its metadata `id`, `name`, `description`, `createdTime`
    (in milliseconds), `partitionColumns`, `properties` and `schemaString`, the whole schema as the log has it, or
    `columns`, the schema that one who reads the table sees.
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
    unknown = sorted(told.keys() - types.keys())
    if unknown:
        raise KeyError(f"no details of a table: {', '.join(unknown)}")
    return pa.table({name: pa.array([told.get(name)], of) for name, of in types.items()})


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

    def read(self, read: Query) -> Answer | Outcome:
        """The rows of a read, or why there are none (`Rejected`, `Unsupported`).

        Looks of other kinds come only to an adapter that claims them. The answer to `ReadChanges` has the table's
        columns, `_change_type`, `_commit_version` and, if the engine says so, `_commit_timestamp`; that to `History`
        is made by `history_table`, that to `Detail` by `detail_table`. The answer to `ReadStream`
        is all that the reader of
        this name has got, in the table's columns and, where it follows changes, `_change_type`; how far it has come it
        keeps in the table's folder (see `streams`), so that it goes on after a restart.
        """

    def stop(self) -> None:
        """End what `start` began."""
