"""The layer that reads: the rows of a state, the history, the details and the change feed of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from itertools import chain
from pathlib import Path

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.contract import Answer, Query, detail_table, history_table
from delta_adapters.reference.definition import table_of
from delta_adapters.reference.row_tracking import file_rows
from delta_adapters.reference.skipping import may_match
from delta_models import operations as ops
from delta_models.expressions import compile_expression
from delta_models.log import (
    Add,
    Commit,
    CorruptFile,
    CorruptLog,
    LogError,
    LogReader,
    MissingFile,
    MissingVersion,
    NoTable,
    Snapshot,
    UnsupportedFeature,
)
from delta_models.log.changes import NoChangeData, changes
from delta_models.log.commit_timestamps import commit_times, version_at
from delta_models.log.reader import live_adds
from delta_models.outcomes import Outcome, Rejected, Unsupported
from delta_models.schema import Struct
from delta_models.table import Table
from delta_models.values import Row, Rows
from delta_models.wire_names import name_of


class TableReader:
    """The layer of the reference engine that answers reads and queries."""

    def __init__(self) -> None:
        self.folder = Path()
        self.reader = LogReader(self.folder)

    def open(self, location: str) -> None:
        """Address a table, cold."""
        self.folder = Path(location)
        self.reader = LogReader(self.folder)

    def current(self) -> Snapshot | None:
        """Return the newest state, None if there is no table."""
        try:
            return self.reader.snapshot()
        except NoTable:
            return None

    def table(self, snapshot: Snapshot | None) -> Table:
        """Return a state as the model's table."""
        if snapshot is None:
            return Table()
        return table_of(snapshot, self.reader.rows(snapshot).rows)

    def file_rows(self, snapshot: Snapshot, add: Add) -> tuple[Row, ...]:
        """Return the rows of one live file, with their ids if the table tracks rows."""
        return file_rows(self.reader, snapshot, add)

    def read(self, read: Query) -> Answer | Outcome:
        """Answer a read or another query."""
        try:
            if not isinstance(read, ops.Read):
                return self.answer(read)
            snapshot = self.snapshot_for(read.at)
            rows = self.scan(snapshot, read)
        except LogError as error:
            return rejection(error)
        except KeyError as error:
            return Rejected("schema", str(error))
        return Answer(to_arrow(rows), snapshot.version)

    def answer(self, query: Query) -> Answer | Outcome:
        """Answer a query about changes, history or details, from the log."""
        snapshot = self.reader.snapshot()
        match query:
            case ops.ReadChanges():
                return self.changes(query)
            case ops.History():
                commits = [
                    self.reader.commit(commit)
                    for commit in sorted(self.reader.listing().commits, reverse=True)
                ]
                times = commit_times(self.reader)
                listed = [(commit.version, *self.provenance(commit, times)) for commit in commits]
                return Answer(history_table(listed), snapshot.version)
            case ops.Detail(at=at):
                snapshot = self.snapshot_for(at)
                return Answer(detail_table(_details(snapshot)), snapshot.version)
        return Unsupported(f"{name_of(query)} is told elsewhere")

    @staticmethod
    def provenance(commit: Commit, times: Mapping[int, int]) -> tuple[str, object, Mapping[str, str] | None]:
        """Return the operation, the time and the metrics of a commit."""
        values = commit.info.values if commit.info else {}
        return str(values.get("operation", "")), times.get(commit.version), values.get("operationMetrics")

    def changes(self, query: ops.ReadChanges) -> Answer | Outcome:
        """Return the change feed."""
        first = query.first.version if isinstance(query.first, ops.AtVersion) else 0
        last = query.last.version if isinstance(query.last, ops.AtVersion) else None
        try:
            return Answer(to_arrow(changes(self.reader, first, last)))
        except NoChangeData as error:
            return Rejected("bad-argument", str(error))

    def snapshot_for(self, at: ops.When) -> Snapshot:
        """Return the state that a read names."""
        match at:
            case ops.Latest():
                return self.reader.snapshot()
            case ops.AtVersion(version=version):
                return self.reader.snapshot(version)
            case ops.AtTimestamp(micros=micros):
                return self.reader.snapshot(version_at(self.reader, micros))
        message = f"{name_of(at)} can't be asked for"
        raise MissingVersion(message)

    def scan(self, snapshot: Snapshot, read: ops.Read) -> Rows:
        """Return the rows that a read's predicate picks, in the columns that it names."""
        files = [add for add in live_adds(snapshot) if self.may_match(read, snapshot, add)]
        rows: Sequence[Row] = list(chain.from_iterable(self.file_rows(snapshot, file) for file in files))
        if read.where is not None:
            picks = compile_expression(read.where, snapshot.schema)
            rows = [row for row in rows if picks(row) is True]
        if read.columns is None:
            return Rows(snapshot.schema, tuple(rows))
        positions = [snapshot.schema.index(name) for name in read.columns]
        schema = Struct(tuple(snapshot.schema.fields[position] for position in positions))
        return Rows(schema, tuple(tuple(row[position] for position in positions) for row in rows))

    @staticmethod
    def may_match(read: ops.Read, snapshot: Snapshot, add: Add) -> bool:
        """Whether a file may hold rows that the read picks."""
        return may_match(read.where, snapshot, add, UTC)


def _details(snapshot: Snapshot) -> dict[str, object]:
    adds, protocol, metadata = list(live_adds(snapshot)), snapshot.protocol, snapshot.metadata
    return {
        "numFiles": len(adds),
        "sizeInBytes": sum(add.size for add in adds),
        "minReaderVersion": protocol.min_reader,
        "minWriterVersion": protocol.min_writer,
        "readerFeatures": sorted(protocol.reader_features or ()),
        "writerFeatures": sorted(protocol.writer_features or ()),
        "id": metadata.id,
        "name": metadata.name,
        "description": metadata.description,
        "createdTime": metadata.created_time,
        "partitionColumns": list(metadata.partition_columns),
        "properties": list(metadata.configuration.items()),
        "schemaString": metadata.schema_string,
    }


def rejection(error: LogError) -> Rejected:
    """Return the rejection that an error of the log reader means."""
    match error:
        case NoTable():
            kind = "missing-table"
        case MissingVersion():
            kind = "missing-version"
        case MissingFile():
            kind = "missing-file"
        case UnsupportedFeature():
            kind = "unsupported-feature"
        case CorruptLog() | CorruptFile():
            kind = "corrupt-log"
        case _:
            kind = "unclassified"
    return Rejected(kind, str(error))
