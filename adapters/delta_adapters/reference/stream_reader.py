"""How the honest engine follows a table: by its log, commit after commit, from where it was at its last look."""

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
    """A commit took rows away that a reader of new rows alone can't take back."""


class StreamReader(TableReader):
    """A table that is followed. Its small methods are what liars override."""

    def told(self, look: Query) -> Answer | Outcome:
        """What a follower has got, and what else is told."""
        if not isinstance(look, ops.ReadStream):
            return super().told(look)
        try:
            return self.follow(look, self.reader.snapshot())
        except TookRows as error:
            return Rejected("rows-changed", str(error))
        except NoChangeData as error:
            return Rejected("bad-argument", str(error))

    def follow(self, tail: ops.ReadStream, snapshot: Snapshot) -> Answer:
        """Take what has come since the last look, and keep it with the version that it reaches to."""
        received = ReceivedBatches(progress_of(self.folder, f"reference-{tail.reader}"))
        position = self.position(received)
        if position is None:
            self.require_changes(tail, snapshot)
            rows: Sequence[Row] = [
                (*row, "insert") if tail.follows == CHANGES else row
                for row in self.scan(snapshot, ops.Read()).rows
            ]
        else:
            rows = list(self.rows_since(tail, snapshot, position))
        if position is None or position < snapshot.version:
            told = (CHANGE_TYPE,) if tail.follows == CHANGES else ()
            batch = Rows(Struct((*snapshot.schema.fields, *told)), tuple(rows))
            received.keep(snapshot.version, to_arrow(batch))
        return Answer(received.all(), snapshot.version)

    def position(self, received: ReceivedBatches) -> int | None:
        """The version up to which all is seen; None before the first look."""
        return received.newest

    def rows_since(self, tail: ops.ReadStream, snapshot: Snapshot, position: int) -> Iterator[Row]:
        """The rows of the commits after a version."""
        if position >= snapshot.version:
            return
        if tail.follows == CHANGES:
            told = changes(self.reader, position + 1, snapshot.version)
            yield from (row[:-2] for row in told.rows)
            return
        for commit in self.reader.commits(position + 1, snapshot.version):
            yield from self.rows_of_commit(tail, snapshot, commit)

    def rows_of_commit(self, tail: ops.ReadStream, snapshot: Snapshot, commit: Commit) -> Iterator[Row]:
        """The rows that a commit brings a reader of new rows."""
        if any(remove.data_change for remove in commit.removes):
            if tail.follows == INSERTS:
                return
            raise TookRows(f"version {commit.version} takes rows away")
        for add in commit.adds:
            if add.data_change:
                yield from self.file_rows(snapshot, add)

    @staticmethod
    def require_changes(tail: ops.ReadStream, snapshot: Snapshot) -> None:
        """Raise NoChangeData where changes are asked for and not recorded."""
        if tail.follows == CHANGES and snapshot.properties.get(ENABLED, "false").lower() != "true":
            raise NoChangeData(f"the change feed is off in version {snapshot.version}")
