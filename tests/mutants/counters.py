"""Liars about numbers: what a commit counts of itself, and what the history tells of it, is not so."""

from __future__ import annotations

import pyarrow as pa

from delta_adapters.reference import CommitBuilder, Reference
from delta_models import operations as ops
from delta_models.table import Table
from tests.mutants import stories
from tests.mutants.registry import trips
from tests.mutants.tellers import PAST, BendsWhatIsTold

PART_OF_A_FILE = (*stories.PLAIN, ops.Delete(stories.compare(stories.ID, "=", stories.number(1))))


class Miscounts(Reference):
    """Counts one too many."""

    names: tuple[str, ...] = ()

    def count_operation(
        self, operation: ops.Operation, before: Table, after: Table, draft: CommitBuilder
    ) -> dict[str, int]:
        found = super().count_operation(operation, before, after, draft)
        return {name: count + (name in self.names) for name, count in found.items()}


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
        found = super().count_operation(operation, before, after, draft)
        moved = found.pop("numTargetRowsUpdated", 0)
        if moved:
            found |= {
                "numTargetRowsInserted": found["numTargetRowsInserted"] + moved,
                "numTargetRowsUpdated": 0,
            }
        return found


@trips("metrics.files", stories.OPTIMIZE)
class MiscountsItsNewFiles(Miscounts):
    """A compaction is said to have made one file more."""

    names = ("numAddedFiles",)


class BendsTheHistory(BendsWhatIsTold):
    """Lies in one column of the history."""

    kind = ops.History
    column = ""

    def bend(self, answer):
        at = answer.table.column_names.index(self.column)
        told = answer.table.column(at)
        values = pa.array([self.value(each) for each in told.to_pylist()], told.type)
        return type(answer)(answer.table.set_column(at, self.column, values), answer.version)

    def value(self, said):
        raise NotImplementedError


@trips("history.operations", PAST)
class CallsEverythingAWrite(BendsTheHistory):
    """The history calls every operation a WRITE."""

    column = "operation"

    def value(self, said):
        return "WRITE"


@trips("history.metrics", PAST)
class TellsOtherCounts(BendsTheHistory):
    """The history gives one more than each count of a commit."""

    column = "metrics"

    def value(self, said):
        return said and [(name, str(int(value) + 1)) for name, value in said]
