"""UPDATE: give the rows that a condition picks new values, computed from the old ones."""

from __future__ import annotations

from collections.abc import Mapping

from pyroaring import BitMap64
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from pyspark_delta.arrow_rewrite import LIVE_ROWS_PER_CHANGE
from pyspark_delta.commands.assignments import Assigned, Tree, assigned_value, assignments
from pyspark_delta.commands.command_context import Change, RowRemoval, Timer, changing, total
from pyspark_delta.commands.conditions import Condition, analyse, empty_frame, quoted, read_conf
from pyspark_delta.commands.file_candidates import Candidates, find_candidates, whole_files
from pyspark_delta.commands.values import columns_of, fit, fresh_names, is_plain, strict
from pyspark_delta.exceptions import SchemaMismatch
from pyspark_delta.log.actions import Add, Remove
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.sql_text import type_text

__all__ = ["update"]


def update(
    spark: SparkSession,
    log: DeltaLog,
    assigned: Assigned,
    condition: str | Column | None = None,
    alias: str | None = None,
) -> dict[str, int]:
    """Update the rows that the condition picks, all rows without a condition; return the metrics of the history."""
    with changing(spark, log) as change:
        change.refuse_if_append_only("UPDATE")
        schema = change.snapshot.schema
        case_sensitive = read_conf(spark, "spark.sql.caseSensitive", "false") == "true"
        tree = assignments(assigned, schema, alias, case_sensitive)
        analysed = analyse(spark, schema, "true" if condition is None else condition, "UPDATE", alias)
        this = _Update(change, analysed, tree, alias)
        if assigned and analysed.constant is not False:
            candidates = find_candidates(change, None if analysed.constant else analysed)
            if candidates.adds:
                return this.run(candidates)
        return this.nothing()


class _Update:
    """One update. It ends in a commit unless no row was picked."""

    def __init__(self, change: Change, condition: Condition, tree: Tree, alias: str | None) -> None:
        self._change = change
        self._condition = condition
        self._tree = tree
        self._alias = alias
        self._timer = Timer()

    def run(self, candidates: Candidates) -> dict[str, int]:
        """Update the rows of these files."""
        wholly_picked = self._wholly_picked(candidates)
        if wholly_picked is not None:
            return self._rewrite(
                wholly_picked,
                {
                    ordinal: self._live_rows(wholly_picked, ordinal)
                    for ordinal in range(len(wholly_picked.adds))
                },
            )
        if self._change.deletion_vectors_wanted():
            return self._mark(candidates)
        if candidates.are_one_small_file():
            return self._at_once(candidates)
        picked = self._picked(candidates.frame())
        if not candidates.are_worth_arrow_rewrite():
            return self._rewrite(candidates, candidates.count(picked))
        rows = candidates.pick(picked)
        counts = {ordinal: len(row) for ordinal, row in rows.items()}
        return self._rewrite_by_arrow(candidates, rows, counts) or self._rewrite(candidates, counts)

    def nothing(self) -> dict[str, int]:
        """Change nothing, but refuse values that do not resolve or fit."""
        self.updated(empty_frame(self._change.spark, self._change.snapshot.schema))
        return {}

    def updated(
        self, frame: DataFrame, *, picked_only: bool = False, counting: Observation | None = None
    ) -> DataFrame:
        """The rows of a frame with their new values; the others unchanged, or left out.

        `counting` receives the number of picked rows as `rows`, from the job that computes the frame.
        """
        change, condition = self._change, self._condition
        schema = change.snapshot.schema
        assigned = [field for field in schema.fields if field.name in self._tree]
        flag, *fresh = fresh_names(
            frame.columns, "picked", *(f"new_{index}" for index in range(len(assigned)))
        )
        if self._alias is not None:
            frame = frame.alias(self._alias)
        if picked_only:
            frame = frame.where(condition.column)
        picked = F.lit(True) if picked_only or condition.constant else condition.picked
        if is_plain(change.spark, schema):
            return self._updated_by_casts(frame.select("*", picked.alias(flag)), flag, counting)
        # The user's expressions run under the user's settings, for picked rows only; then casts run strictly.
        values = [
            F.when(
                picked, assigned_value(F.col(quoted(field.name)), field.dataType, self._tree[field.name])
            ).alias(name)
            for name, field in zip(fresh, assigned, strict=True)
        ]
        frame = frame.select(*columns_of(schema), picked.alias(flag), *values)
        frame = _observed(frame, flag, counting)
        types = {field.name: field.dataType for field in frame.schema.fields}
        differences: list[str] = []
        new = {
            field.name: fit(F.col(name), types[name], field.dataType, field.name, differences)
            for name, field in zip(fresh, assigned, strict=True)
        }
        if differences:
            raise SchemaMismatch(
                "values do not fit the columns that they are assigned to", differences=differences
            )
        with strict(change.spark):
            return frame.select(
                *(
                    F.when(F.col(flag), new[field.name])
                    .otherwise(F.col(quoted(field.name)))
                    .alias(field.name)
                    if field.name in new
                    else F.col(quoted(field.name))
                    for field in schema.fields
                )
            )

    def _updated_by_casts(self, frame: DataFrame, flag: str, counting: Observation | None) -> DataFrame:
        """As `updated`, if a cast is all that each value needs; Spark then analyses one frame instead of three."""
        frame = _observed(frame, flag, counting)
        columns = []
        for field in self._change.snapshot.schema.fields:
            column = F.col(quoted(field.name))
            if field.name in self._tree:
                value = assigned_value(column, field.dataType, self._tree[field.name])
                cast = value.cast(type_text(field.dataType))
                column = F.when(F.col(flag), cast).otherwise(column).alias(field.name)
            columns.append(column)
        return frame.select(*columns)

    def _wholly_picked(self, candidates: Candidates) -> Candidates | None:
        if self._condition.constant:
            return candidates
        adds = whole_files(self._change, self._condition, candidates)
        if adds is None:
            return None
        keys = {add.key for add in adds}
        return candidates.only([ordinal for ordinal, add in enumerate(candidates.adds) if add.key in keys])

    def _live_rows(self, candidates: Candidates, ordinal: int) -> int:
        return self._change.live_rows(candidates.adds[ordinal])

    def _picked(self, frame: DataFrame) -> DataFrame:
        if self._alias is not None:
            frame = frame.alias(self._alias)
        return frame.where(self._condition.column)

    def _at_once(self, candidates: Candidates) -> dict[str, int]:
        """Rewrite one small file without searching it first. The result shows how many rows were picked."""
        counting = Observation()
        added = self._change.write(self.updated(candidates.frame(with_position=False), counting=counting))
        updated = int(counting.get["rows"])
        if not updated:
            self._change.undo()
            return {}
        return self._replace(candidates, added, updated, 0)

    def _mark(self, candidates: Candidates) -> dict[str, int]:
        rows = candidates.pick(self._picked(candidates.frame()))
        if not rows:
            return self.nothing()
        scanned = self._timer.ms()
        touched = candidates.only(sorted(rows))
        added = self._change.write(self.updated(touched.frame(), picked_only=True))
        marked = self._change.mark(candidates.adds, rows)
        return self._commit(marked, added, marked.rows, 0, scanned)

    def _rewrite(self, candidates: Candidates, counts: Mapping[int, int]) -> dict[str, int]:
        updated = sum(counts.values())
        if not updated:
            return self.nothing()
        scanned = self._timer.ms()
        touched = candidates.only(sorted(ordinal for ordinal, count in counts.items() if count))
        added = self._change.write(self.updated(touched.frame()))
        return self._replace(touched, added, updated, scanned)

    def _rewrite_by_arrow(
        self, candidates: Candidates, rows: Mapping[int, BitMap64], counts: Mapping[int, int]
    ) -> dict[str, int] | None:
        """Write picked rows to new files and copy the others with Arrow; None if there are too many, or Arrow can't."""
        live = {ordinal: self._change.live_rows(candidates.adds[ordinal]) for ordinal in counts}
        if not counts or LIVE_ROWS_PER_CHANGE * sum(counts.values()) > sum(live.values()):
            return None
        partial = [ordinal for ordinal in sorted(rows) if counts[ordinal] < live[ordinal]]
        rewritten = self._change.rewrite_without(
            [candidates.adds[number] for number in partial], [rows[number] for number in partial]
        )
        if rewritten is None:
            return None
        scanned = self._timer.ms()
        touched = candidates.only(sorted(rows))
        added = [*rewritten, *self._change.write(self.updated(touched.frame(), picked_only=True))]
        return self._replace(touched, added, sum(counts.values()), scanned)

    def _replace(self, touched: Candidates, added: list[Add], updated: int, scanned: int) -> dict[str, int]:
        live = sum(map(self._change.live_rows, touched.adds))
        return self._commit(RowRemoval.whole(touched.adds), added, updated, live - updated, scanned)

    def _commit(
        self, removal: RowRemoval, added: list[Add], updated: int, copied: int, scanned: int
    ) -> dict[str, int]:
        removed_bytes = total(removal.removes) - total(removal.adds)
        metrics = {
            "numRemovedFiles": removal.whole_files,
            "numAddedFiles": len(added),
            "numRemovedBytes": removed_bytes,
            "numAddedBytes": total(added),
            "numUpdatedRows": updated,
            "numCopiedRows": copied,
            "numDeletionVectorsAdded": removal.vectors_added,
            "numDeletionVectorsRemoved": removal.vectors_removed,
            "numDeletionVectorsUpdated": removal.vectors_updated,
            "scanTimeMs": scanned,
            "rewriteTimeMs": self._timer.ms(),
            "executionTimeMs": self._change.elapsed_ms(),
        }
        actions: list[Add | Remove] = [*removal.removes, *removal.adds, *added]
        parameters = {} if self._condition.constant else {"predicate": self._condition.text}
        self._change.commit(actions, "UPDATE", parameters, metrics)
        return metrics


def _observed(frame: DataFrame, flag: str, counting: Observation | None) -> DataFrame:
    """The frame; `counting` receives the number of rows with the flag, as `rows`."""
    if counting is None:
        return frame
    return frame.observe(counting, F.expr(f"count_if({flag}) as rows"))
