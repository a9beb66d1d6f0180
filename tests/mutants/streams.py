"""Mutants that give a streaming reader wrong rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from delta_adapters.contract import Answer, Query
from delta_adapters.reference import Reference
from delta_adapters.streams import ReceivedBatches
from delta_models import operations as ops
from delta_models.log import Commit, Snapshot
from delta_models.outcomes import Outcome, Rejected
from delta_models.values import Row
from tests.mutants import stories
from tests.mutants.registry import trips

RECORDED = ops.Create(stories.SCHEMA, (), (("delta.enableChangeDataFeed", "true"),))
ROWS, INSERTS, CHANGES = (ops.ReadStream(name, name) for name in ("rows", "inserts", "changes"))
LAST = ops.Append(stories.rows((9, "z", 9.0)))
GROWS = (stories.CREATE, stories.FILL, ROWS, stories.FILL_MORE, ROWS)
REOPENED = (*GROWS, ops.Reopen(), LAST, ROWS)
OPTIMIZED = (*GROWS, ops.Optimize(), ROWS)
CHANGED = (RECORDED, stories.FILL, CHANGES, stories.FILL_MORE, ops.Delete(stories.SMALL), CHANGES)
TAKEN = (*GROWS, ops.Delete(stories.SMALL), ROWS)
PASSED_OVER = (
    stories.CREATE, stories.FILL, INSERTS, ops.Update((("name", stories.text("new")),), stories.SMALL), LAST, INSERTS,
)  # fmt: skip


@trips("stream.each-row-once", REOPENED)
class BeginsACommitEarlier(Reference):
    """A reader that was started again begins with a commit that it had seen."""

    opened = 0

    def open(self, location: str) -> None:
        super().open(location)
        self.opened += 1

    def position(self, received: ReceivedBatches) -> int | None:
        newest = super().position(received)
        return newest if newest is None or self.opened < 2 else newest - 1


@trips("stream.each-row-once", (*CHANGED, ops.Reopen(), LAST, CHANGES))
class TellsAChangeAgain(BeginsACommitEarlier):
    """A reader of changes that was started again is told one that it had been told."""


@trips("stream.none-lost", (*GROWS, LAST, LAST, ROWS))
class SkipsACommit(Reference):
    """Of several commits at once a reader gets only the older ones."""

    def rows_since(self, tail: ops.ReadStream, snapshot: Snapshot, position: int) -> Iterator[Row]:
        several = snapshot.version > position + 1
        return super().rows_since(tail, self.reader.snapshot(snapshot.version - several), position)


@trips("stream.none-lost", CHANGED)
class ForgetsTheEndOfARow(SkipsACommit):
    """Of several commits at once a reader of changes is told only the older ones."""


@trips("stream.upkeep-brings-nothing", OPTIMIZED)
class ShowsRearrangedFiles(Reference):
    """A reader gets the rows of files that upkeep wrote again."""

    def rows_of_commit(self, tail: ops.ReadStream, snapshot: Snapshot, commit: Commit) -> Iterator[Row]:
        fresh = tuple(replace(add, data_change=True) for add in commit.adds)
        yield from super().rows_of_commit(tail, snapshot, replace(commit, adds=fresh))


@trips("stream.follows", GROWS)
class RefusesToFollow(Reference):
    """A reader is refused at its second look."""

    def read(self, read: Query) -> Answer | Outcome:
        again = isinstance(read, ops.ReadStream) and (self.folder / "_checkpoints").exists()
        return Rejected("bad-argument", "once is enough") if again else super().read(read)


@trips("stream.changes-refused", TAKEN)
class OverlooksWhatWent(Reference):
    """A reader of rows is not told that some were taken away."""

    def rows_of_commit(self, tail: ops.ReadStream, snapshot: Snapshot, commit: Commit) -> Iterator[Row]:
        yield from super().rows_of_commit(replace(tail, follows="inserts"), snapshot, commit)


@trips("stream.changes-skipped", PASSED_OVER)
class TakesRewrittenFiles(Reference):
    """A reader that should pass over changes gets the files that they wrote."""

    def rows_of_commit(self, tail: ops.ReadStream, snapshot: Snapshot, commit: Commit) -> Iterator[Row]:
        yield from super().rows_of_commit(tail, snapshot, replace(commit, removes=()))
