"""What the honest engine reads: a state of the table, its past, and what else is asked of it."""

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
from delta_models.expressions import compiled
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
    """A table that is read. Its small methods are what liars override."""

    def __init__(self) -> None:
        self.folder = Path()
        self.reader = LogReader(self.folder)

    def open(self, location: str) -> None:
        """Address a table, with nothing remembered."""
        self.folder = Path(location)
        self.reader = LogReader(self.folder)

    def current(self) -> Snapshot | None:
        """The newest state, None if there is no table."""
        try:
            return self.reader.snapshot()
        except NoTable:
            return None

    def table(self, snapshot: Snapshot | None) -> Table:
        """A state as the model has it."""
        if snapshot is None:
            return Table()
        return table_of(snapshot, self.reader.rows(snapshot).rows)

    def file_rows(self, snapshot: Snapshot, add: Add) -> tuple[Row, ...]:
        """The rows of one live file, with their ids where they have such."""
        return file_rows(self.reader, snapshot, add)

    def read(self, read: Query) -> Answer | Outcome:
        """The rows of a read, or what else is asked of the table."""
        try:
            if not isinstance(read, ops.Read):
                return self.told(read)
            snapshot = self.snapshot_for(read.at)
            rows = self.scan(snapshot, read)
        except LogError as error:
            return rejection(error)
        except KeyError as error:
            return Rejected("schema", str(error))
        return Answer(to_arrow(rows), snapshot.version)

    def told(self, look: Query) -> Answer | Outcome:
        """What the log says of the table's past, and of the table."""
        snapshot = self.reader.snapshot()
        match look:
            case ops.ReadChanges():
                return self.changes(look)
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
        return Unsupported(f"{name_of(look)} is told elsewhere")

    @staticmethod
    def provenance(commit: Commit, times: Mapping[int, int]) -> tuple[str, object, Mapping[str, str] | None]:
        """The operation, the time and the counts of a commit."""
        values = commit.info.values if commit.info else {}
        return str(values.get("operation", "")), times.get(commit.version), values.get("operationMetrics")

    def changes(self, look: ops.ReadChanges) -> Answer | Outcome:
        """The change feed."""
        first = look.first.version if isinstance(look.first, ops.AtVersion) else 0
        last = look.last.version if isinstance(look.last, ops.AtVersion) else None
        try:
            return Answer(to_arrow(changes(self.reader, first, last)))
        except NoChangeData as error:
            return Rejected("bad-argument", str(error))

    def snapshot_for(self, at: ops.When) -> Snapshot:
        """The state that a read asks for."""
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
        """The rows that a predicate picks, and of them the columns asked for."""
        files = [add for add in live_adds(snapshot) if self.may_match(read, snapshot, add)]
        rows: Sequence[Row] = list(chain.from_iterable(self.file_rows(snapshot, file) for file in files))
        if read.where is not None:
            picks = compiled(read.where, snapshot.schema)
            rows = [row for row in rows if picks(row) is True]
        if read.columns is None:
            return Rows(snapshot.schema, tuple(rows))
        places = [snapshot.schema.index(name) for name in read.columns]
        schema = Struct(tuple(snapshot.schema.fields[at] for at in places))
        return Rows(schema, tuple(tuple(row[at] for at in places) for row in rows))

    @staticmethod
    def may_match(read: ops.Read, snapshot: Snapshot, add: Add) -> bool:
        """Whether a file has to be looked into."""
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
    """Why a table can't be read."""
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
