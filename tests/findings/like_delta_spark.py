"""An engine of this process that reads "" in partitionValues as delta-spark does, and others with a second fault.

tests/adapters/delta_spark and tests/triage play the cause itself on the real delta-spark; that takes a JVM.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from delta_adapters.contract import Answer, Identity, Query
from delta_adapters.reference import Reference
from delta_adapters.reference.actions import CommitBuilder
from delta_models.log import Add, LogReader, Snapshot
from delta_models.log.reader import live_adds
from delta_models.operations import Delete, Operation, Read, ReadChanges
from delta_models.outcomes import Outcome, Rejected
from delta_models.table import Table
from delta_models.values import Row


class TakesTextsAsTheyAre(LogReader):
    """A reader to which an empty partition value is an empty text."""

    null_is_empty = False

    def file_rows(self, snapshot: Snapshot, add: Add) -> tuple[Row, ...]:
        wanted = {"", None} if self.null_is_empty else {""}
        empty = {name for name, text in add.partition_values.items() if text in wanted}
        return tuple(
            tuple(
                "" if name in empty else value for name, value in zip(snapshot.schema.names, row, strict=True)
            )
            for row in super().file_rows(snapshot, add)
        )


class TakesNullAsEmptyToo(TakesTextsAsTheyAre):
    """A reader to which null is an empty text as well."""

    null_is_empty = True


class LikeDeltaSpark(Reference):
    """The engine without a second fault."""

    reader_class = TakesTextsAsTheyAre

    @property
    def identity(self) -> Identity:
        return replace(super().identity, name="delta-spark", version="4.4.0")

    def open(self, location: str) -> None:
        super().open(location)
        self.reader = self.reader_class(self.folder)

    @staticmethod
    def may_match(read: Read, snapshot: Snapshot, add: Add) -> bool:
        return True  # the reference engine's skipping takes "" for null


class AnswersNullAsEmptyToo(LikeDeltaSpark):
    """Null in a partition column is answered as an empty text, whatever the log says."""

    reader_class = TakesNullAsEmptyToo


class LosesTheLastRow(LikeDeltaSpark):
    """An answer, also that of the change feed, lacks its last row."""

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        if isinstance(read, Read | ReadChanges) and isinstance(answer, Answer):
            return replace(answer, table=answer.table.slice(0, max(0, len(answer.table) - 1)))
        return answer


class AnswersAnotherText(LikeDeltaSpark):
    """An empty partition text is answered as `x`."""

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        if not isinstance(answer, Answer) or "part" not in answer.table.column_names:
            return answer
        place = answer.table.column_names.index("part")
        texts = ["x" if text == "" else text for text in answer.table["part"].to_pylist()]
        column = pa.array(texts, pa.string())
        return replace(answer, table=answer.table.set_column(place, answer.table.schema.field(place), column))


class DeletesOneRowMore(LikeDeltaSpark):
    """An operation takes the row with the id 3 along."""

    def draft(
        self, operation: Operation, snapshot: Snapshot | None, before: Table, after: Table
    ) -> CommitBuilder:
        return super().draft(
            operation, snapshot, before, after.with_rows(tuple(row for row in after.rows if row[0] != 3))
        )


class RewritesAnotherFile(LikeDeltaSpark):
    """An operation rewrites the file of the row with the id 3 as well."""

    def copy_on_write(self, snapshot: Snapshot | None, after: Table) -> tuple[list[Row], list[Add]]:
        rows, removed = super().copy_on_write(snapshot, after)
        assert snapshot is not None
        for add in live_adds(snapshot):
            held = self.file_rows(snapshot, add)
            if add not in removed and any(row[0] == 3 for row in held):
                rows, removed = [*rows, *held], [*removed, add]
        return rows, removed


class CountsOneRowMore(LikeDeltaSpark):
    """Each count of changed rows is too large by one."""

    def count_operation(self, *told: Any) -> dict[str, int]:
        counts = super().count_operation(*told)
        return {name: count + name.endswith("RowsUpdated") for name, count in counts.items()}


class RefusesWhatItFinds(LikeDeltaSpark):
    """An operation that finds rows is refused, as one that finds several for one is."""

    def apply_model(self, operation: Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        return (
            Rejected("ambiguous-match", "no")
            if isinstance(operation, Delete)
            else super().apply_model(operation, snapshot, tag)
        )
