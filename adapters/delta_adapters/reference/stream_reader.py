"""The layer that follows a table: it reads the log commit by commit, from the version of its last read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.contract import Answer, Query
from delta_adapters.reference.table_reader import TableReader
from delta_adapters.streams import ReceivedBatches, progress_of
from delta_models import operations as ops
from delta_models.log import Commit, Snapshot
from delta_models.log.changes import CHANGE_TYPE, NoChangeData, changes
from delta_models.outcomes import Outcome, Rejected
from delta_models.schema import Struct
from delta_models.table.change_feed import ENABLED
from delta_models.values import Row, Rows

CHANGES, INSERTS = "changes", "inserts"


class TookRows(Exception):
    """A commit removed rows, which a reader of new rows can't follow."""


class StreamReader(TableReader):
    """The layer of the reference engine that answers `ReadStream`."""

    def answer(self, query: Query) -> Answer | Outcome:
        """Answer `ReadStream`, and any other query as the layer below does."""
        if not isinstance(query, ops.ReadStream):
            return super().answer(query)
        try:
            return self.follow(query, self.reader.snapshot())
        except TookRows as error:
            return Rejected("rows-changed", str(error))
        except NoChangeData as error:
            return Rejected("bad-argument", str(error))

    def follow(self, stream: ops.ReadStream, snapshot: Snapshot) -> Answer:
        """Keep the rows of the commits since the last read as one batch, and return all batches."""
        received = ReceivedBatches(progress_of(self.folder, f"reference-{stream.reader}"))
        position = self.position(received)
        if position is None:
            self.require_changes(stream, snapshot)
            rows: Sequence[Row] = [
                (*row, "insert") if stream.follows == CHANGES else row
                for row in self.scan(snapshot, ops.Read()).rows
            ]
        else:
            rows = list(self.rows_since(stream, snapshot, position))
        if position is None or position < snapshot.version:
            change_columns = (CHANGE_TYPE,) if stream.follows == CHANGES else ()
            batch = Rows(Struct((*snapshot.schema.fields, *change_columns)), tuple(rows))
            received.keep(snapshot.version, to_arrow(batch))
        return Answer(received.all(), snapshot.version)

    def position(self, received: ReceivedBatches) -> int | None:
        """Return the version of the last read; None before the first one."""
        return received.newest

    def rows_since(self, stream: ops.ReadStream, snapshot: Snapshot, position: int) -> Iterator[Row]:
        """Yield the rows of the commits after a version. Raises TookRows if the stream can't follow one of them."""
        if position >= snapshot.version:
            return
        if stream.follows == CHANGES:
            feed = changes(self.reader, position + 1, snapshot.version)
            yield from (row[:-2] for row in feed.rows)
            return
        for commit in self.reader.commits(position + 1, snapshot.version):
            yield from self.rows_of_commit(stream, snapshot, commit)

    def rows_of_commit(self, stream: ops.ReadStream, snapshot: Snapshot, commit: Commit) -> Iterator[Row]:
        """Yield the rows that a commit brings a reader of new rows. Raises TookRows if it removes rows."""
        if any(remove.data_change for remove in commit.removes):
            if stream.follows == INSERTS:
                return
            raise TookRows(f"version {commit.version} takes rows away")
        for add in commit.adds:
            if add.data_change:
                yield from self.file_rows(snapshot, add)

    @staticmethod
    def require_changes(stream: ops.ReadStream, snapshot: Snapshot) -> None:
        """Raise NoChangeData if the stream follows changes and the table does not record them."""
        if stream.follows == CHANGES and snapshot.properties.get(ENABLED, "false").lower() != "true":
            raise NoChangeData(f"the change feed is off in version {snapshot.version}")
