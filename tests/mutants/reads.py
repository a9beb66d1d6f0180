"""Mutants that read wrongly: their log is right, and their answers are not."""

from __future__ import annotations

from datetime import UTC
from zoneinfo import ZoneInfo

import pyarrow as pa

from delta_adapters.contract import Answer, Query
from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.expressions import evaluate
from delta_models.log import Add, Snapshot
from delta_models.outcomes import Outcome, Rejected
from delta_models.schema import LONG, TIMESTAMP, struct
from delta_models.values import Rows
from tests.mutants import stories
from tests.mutants.registry import trips
from tests.mutants.wrappers import WrongDraft

CLOCK = struct(("id", LONG), ("when", TIMESTAMP))
ELSEWHERE = (
    ops.Create(CLOCK), ops.Append(Rows(CLOCK, ((1, 0), (2, None)))), ops.SetZone("Asia/Kathmandu"),
)  # fmt: skip


class BendsAnswers(Reference):
    """Changes the answers of reads by `bend`, which a mutant defines."""

    def bend(self, read: ops.Read, answer: Answer) -> Answer | Outcome:
        raise NotImplementedError

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        return (
            self.bend(read, answer) if isinstance(answer, Answer) and isinstance(read, ops.Read) else answer
        )


@trips("read.latest", stories.STALE)
class StaleReads(Reference):
    """A read of the newest version answers with the one before."""

    def snapshot_for(self, at):
        snapshot = super().snapshot_for(at)
        stale = isinstance(at, ops.Latest) and snapshot.version > 1
        return self.reader.snapshot(snapshot.version - 1) if stale else snapshot


@trips("read.state", stories.TIME_TRAVEL)
class TravelsNowhere(Reference):
    """A read of an earlier version answers with the newest."""

    def snapshot_for(self, at):
        return self.reader.snapshot()


@trips("read.filter", stories.FILTER)
class SkipsWrongly(Reference):
    """A filter skips every file of which a row is null somewhere."""

    @staticmethod
    def may_match(read: ops.Read, snapshot: Snapshot, add: Add) -> bool:
        nulls = (add.statistics or {}).get("nullCount", {})
        return read.where is None or not any(nulls.values())


@trips("read.filter", stories.FILTER_UNKNOWN)
@trips("metamorphic.filter-picks", stories.FILTER_UNKNOWN)
class FiltersUnknownsIn(Reference):
    """A filter lets rows through for which its predicate is unknown."""

    def scan(self, snapshot, read):
        whole = super().scan(snapshot, ops.Read(read.at))
        if read.where is None:
            return super().scan(snapshot, read)
        return Rows(whole.schema, tuple(
            row for row in whole.rows if evaluate(read.where, whole.schema, row) is not False
        ))  # fmt: skip


@trips("read.nan-order", stories.FILTER_NAN)
class FiltersNanOut(Reference):
    """A filter takes every comparison with NaN for false."""

    def scan(self, snapshot, read):
        selected = super().scan(snapshot, read)
        if read.where is None:
            return selected
        return Rows(selected.schema, tuple(row for row in selected.rows if row[2] == row[2]))


@trips("write.nan-order", stories.DELETE_NAN)
class DeletesNoNan(WrongDraft):
    """A delete takes every comparison with NaN for false."""

    kind = ops.Delete

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, ops.Delete):
            after = after.with_rows((*after.rows, *(row for row in before.rows if row[2] != row[2])))
        return Reference.draft(self, operation, snapshot, before, after)


@trips("read.cold", stories.REOPEN)
class ForgetsWhenCold(BendsAnswers):
    """A session that sees the table for the first time misses its last row."""

    opened = 0

    def open(self, location: str) -> None:
        super().open(location)
        self.opened += 1

    def bend(self, read, answer):
        return (
            answer
            if self.opened < 2
            else Answer(answer.table.slice(0, answer.table.num_rows - 1), answer.version)
        )


@trips("read.columns", stories.APPEND)
class AnswersInAnotherOrder(BendsAnswers):
    """The columns of an answer are in the reverse order."""

    def bend(self, read, answer):
        return Answer(answer.table.select(answer.table.column_names[::-1]), answer.version)


@trips("read.columns", stories.APPEND)
class AnswersInAnotherType(BendsAnswers):
    """Longs are answered as doubles."""

    def bend(self, read, answer):
        position = answer.table.schema.get_field_index("id")
        column = answer.table.column("id").cast(pa.float64())
        return Answer(answer.table.set_column(position, "id", column), answer.version)


@trips("read.version", stories.APPEND)
class SaysAnotherVersion(BendsAnswers):
    """An answer is said to be of the next version."""

    def bend(self, read, answer):
        return Answer(answer.table, answer.version + 1)


@trips("read.succeeds", stories.TIME_TRAVEL)
class CannotTravel(Reference):
    """A read of an earlier version that the log still holds is refused."""

    def read(self, read):
        return super().read(read) if isinstance(read.at, ops.Latest) else Rejected("missing-version", "gone")


@trips("read.refuses-what-is-not-there", stories.READ_NO_TABLE)
class ReadsNothing(Reference):
    """A read of a table that does not exist answers with no rows."""

    def read(self, read):
        answer = super().read(read)
        return Answer(pa.table({})) if isinstance(answer, Rejected) else answer


@trips("metamorphic.zone-keeps-answer", ELSEWHERE)
class ReadsInItsZone(BendsAnswers):
    """A timestamp is answered as what a clock in the session's zone showed at that moment."""

    def __init__(self):
        super().__init__()
        self.zone = ZoneInfo("UTC")

    def perform(self, operation, snapshot, tag):
        if isinstance(operation, ops.SetZone):
            self.zone = ZoneInfo(operation.zone)
        return super().perform(operation, snapshot, tag)

    def bend(self, read, answer):
        position = answer.table.column_names.index("when")
        moments = [
            None if moment is None else moment.astimezone(self.zone).replace(tzinfo=UTC)
            for moment in answer.table.column(position).to_pylist()
        ]
        kind = answer.table.schema.field(position)
        return Answer(answer.table.set_column(position, kind, pa.array(moments, kind.type)), answer.version)


@trips("metamorphic.definition-keeps-answer", stories.RENAME)
class LooksForNewNames(BendsAnswers):
    """A renamed column is looked for in files under its new name, and answered as null."""

    def bend(self, read, answer):
        if "title" not in answer.table.column_names:
            return answer
        position = answer.table.column_names.index("title")
        kind = answer.table.schema.field(position)
        nothing = pa.nulls(answer.table.num_rows, kind.type)
        return Answer(answer.table.set_column(position, kind, nothing), answer.version)


@trips("metamorphic.upkeep-keeps-answer", stories.OPTIMIZE)
class ReadsOldAndNew(BendsAnswers):
    """After compaction the rows of the old files are answered beside those of the new one."""

    def bend(self, read, answer):
        commit = self.reader.commits(answer.version)[-1] if answer.version else None
        if commit is None or commit.data_change:
            return answer
        return Answer(pa.concat_tables([answer.table, answer.table]), answer.version)
