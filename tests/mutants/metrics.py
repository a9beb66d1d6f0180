"""Mutants with wrong operation metrics, in the commit or in the history."""

from __future__ import annotations

import pyarrow as pa

from delta_adapters.reference import CommitBuilder, Reference
from delta_models import operations as ops
from delta_models.table import Table
from tests.mutants import stories
from tests.mutants.introspection import PAST, BendsQueries
from tests.mutants.registry import trips

PART_OF_A_FILE = (*stories.PLAIN, ops.Delete(stories.compare(stories.ID, "=", stories.number(1))))


class Miscounts(Reference):
    """Adds one to each metric of `names`."""

    names: tuple[str, ...] = ()

    def count_operation(
        self, operation: ops.Operation, before: Table, after: Table, draft: CommitBuilder
    ) -> dict[str, int]:
        counts = super().count_operation(operation, before, after, draft)
        return {name: count + (name in self.names) for name, count in counts.items()}


@trips("metrics.rows-written", stories.APPEND)
class MiscountsWhatItWrites(Miscounts):
    """An append is said to have written one row more."""

    names = ("numOutputRows",)


@trips("metrics.rows-deleted", stories.DELETE)
class MiscountsWhatItDeletes(Miscounts):
    """A delete is said to have taken one row more."""

    names = ("numDeletedRows",)


@trips("metrics.rows-copied", PART_OF_A_FILE)
class MiscountsWhatItCopies(Miscounts):
    """A delete is said to have copied one row more."""

    names = ("numCopiedRows",)


@trips("metrics.rows-updated", stories.UPDATE)
class MiscountsWhatItUpdates(Miscounts):
    """An update is said to have changed one row more."""

    names = ("numUpdatedRows",)


@trips("metrics.rows-merged", stories.MERGE)
class CountsUpdatesAsInserts(Reference):
    """A merge is said to have inserted the rows that it updated."""

    def count_operation(
        self, operation: ops.Operation, before: Table, after: Table, draft: CommitBuilder
    ) -> dict[str, int]:
        counts = super().count_operation(operation, before, after, draft)
        moved = counts.pop("numTargetRowsUpdated", 0)
        if moved:
            counts |= {
                "numTargetRowsInserted": counts["numTargetRowsInserted"] + moved,
                "numTargetRowsUpdated": 0,
            }
        return counts


@trips("metrics.files", stories.OPTIMIZE)
class MiscountsItsNewFiles(Miscounts):
    """A compaction is said to have made one file more."""

    names = ("numAddedFiles",)


class BendsTheHistory(BendsQueries):
    """Changes one column of the history by `value`, which a mutant defines."""

    kind = ops.History
    column = ""

    def bend(self, answer):
        position = answer.table.column_names.index(self.column)
        column = answer.table.column(position)
        values = pa.array([self.value(value) for value in column.to_pylist()], column.type)
        return type(answer)(answer.table.set_column(position, self.column, values), answer.version)

    def value(self, honest):
        raise NotImplementedError


@trips("history.operations", PAST)
class CallsEverythingAWrite(BendsTheHistory):
    """The history calls every operation a WRITE."""

    column = "operation"

    def value(self, honest):
        return "WRITE"


@trips("history.metrics", PAST)
class TellsOtherCounts(BendsTheHistory):
    """The history gives one more than each count of a commit."""

    column = "metrics"

    def value(self, honest):
        return honest and [(name, str(int(value) + 1)) for name, value in honest]
