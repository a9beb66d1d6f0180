"""MERGE: join source rows to the table; for each row, the first clause that applies acts.

A merge takes two Spark jobs, whatever its clauses. The first job joins the table's candidate files with the source,
which is broadcast if it is small. For each pair that a clause acts on it keeps the row's number, the source row's
number, the clause and the new values. From these follow the rows to rewrite, mark or insert. The second job writes.

If the table is one small file and the source is small, a single job writes all rows of the result. If that job can't
decide the merge, the two jobs run instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from pyspark_delta import schema as schemas
from pyspark_delta.arrow_rewrite import LIVE_ROWS_PER_CHANGE
from pyspark_delta.commands.command_context import Change, RowRemoval, Timer, changing, total
from pyspark_delta.commands.conditions import (
    Condition,
    analyse,
    empty_frame,
    expression,
    quoted,
    read_conf,
)
from pyspark_delta.commands.file_candidates import AT_ONCE_BYTES, Candidates, find_candidates
from pyspark_delta.commands.merge_clauses import (
    BY_SOURCE,
    MATCHED,
    Clause,
    Pairs,
    check,
    parameters,
)
from pyspark_delta.commands.merge_rows import TARGET_ROWS, MergedRows
from pyspark_delta.commands.merge_schema import grown_schema
from pyspark_delta.commands.merge_source import Source, prepared_source
from pyspark_delta.commands.row_positions import bitmap, grouped, packed, packed_text
from pyspark_delta.exceptions import AmbiguousMerge, ConstraintViolated, DeltaError, InvalidArgument
from pyspark_delta.log.actions import Add, Remove
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.scan import FILE, ROW

__all__ = ["merge"]

# Up to this many, the numbers of matched source rows are literals in the plan; above, they are joined.
IN_PLAN = 1_000
# Up to this many changed rows are broadcast when files are rewritten.
BROADCAST_ROWS = 1_000_000
# Up to this many source rows on the driver are merged with one small file in one task.
AT_ONCE_ROWS = 10_000
AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"


def merge(  # noqa: PLR0917 - called by one place
    spark: SparkSession,
    log: DeltaLog,
    source: DataFrame,
    on: str | Column,
    clauses: Sequence[Clause],
    alias: str | None = None,
    *,
    grows: bool = False,
) -> dict[str, int]:
    """Run a merge and return the metrics of the history. With `grows`, the table gets the source's new columns."""
    check(clauses)
    with changing(spark, log) as change:
        if any(clause.action != "insert" for clause in clauses):
            change.refuse_if_append_only("MERGE")
        timer = Timer()
        if grows or read_conf(spark, AUTO_MERGE, "false") == "true":
            _grow_schema(change, source, clauses, alias)
        with prepared_source(spark, source) as ready:
            return _Merge(change, ready, expression(on), clauses, alias, timer.ms()).run()


@dataclass(frozen=True, slots=True)
class _TouchedFiles:
    """The candidates in which clauses act on rows, by their ordinals."""

    changed: pa.Array  # the numbers of all rows that are updated or deleted
    acted: Mapping[int, int]  # how many rows of a file these are
    live: Mapping[int, int]  # how many rows a file had before
    kept: list[int]  # the files that still have rows after the merge, in order

    @property
    def has_few_changes(self) -> bool:
        """Whether so few rows change that the others are worth copying by Arrow."""
        return LIVE_ROWS_PER_CHANGE * sum(self.acted.values()) <= sum(self.live.values())


class _Merge:
    """One merge. It ends in a commit unless no clause acted."""

    def __init__(  # noqa: PLR0917 - called by one place
        self,
        change: Change,
        source: Source,
        on: Column,
        clauses: Sequence[Clause],
        alias: str | None,
        prepared_ms: int,
    ) -> None:
        self._change = change
        self._spark = change.spark
        self._source = source
        self._on = on
        self._alias = alias
        self._prepared_ms = prepared_ms
        self._timer = Timer()
        self._schema = change.snapshot.schema
        self._clauses = clauses
        goal = self._schema if change.metadata is None else schemas.from_json(change.metadata.schema_string)
        self._goal = goal
        self._rows = MergedRows(change.spark, self._schema, goal, source, on, clauses, alias)

    def run(self) -> dict[str, int]:
        candidates = self._candidates()
        if self._fits_at_once(candidates):
            metrics = self._at_once(candidates)
            if metrics is not None:
                return metrics
        rows = self._rows
        # If Spark rewrites files, joining them with a small source again is cheaper than keeping the new values.
        by_vectors, small = self._change.deletion_vectors_wanted(), self._source.small
        with_values = by_vectors or not small or candidates.are_worth_arrow_rewrite()
        acting = rows.pairs(self._numbered_rows(candidates), with_values=with_values)
        inserted = None
        if rows.inserting:
            rows.inserted()  # raises for unknown columns before any job
        if rows.updating and with_values:
            acting = acting.persist()
        try:
            numbers = acting.select(
                F.col(rows.row).alias("row"),
                F.col(self._source.number).alias("source"),
                F.col(rows.clause).alias("clause"),
            ).toArrow()
            pairs = Pairs(numbers)
            self._refuse_ambiguous(pairs)
            scanned = self._timer.ms()
            if rows.inserting:
                inserted = self._inserted(pairs)
            if by_vectors:
                return self._by_vectors(candidates, acting, pairs, inserted, scanned)
            valued = acting if with_values else None
            return self._by_rewriting(candidates, valued, pairs, inserted, scanned)
        finally:
            if rows.updating and with_values:
                acting.unpersist()

    # The only job

    def _fits_at_once(self, candidates: Candidates) -> bool:
        return (
            self._source.at_hand
            and self._source.rows <= AT_ONCE_ROWS
            and candidates.are_one_small_file()
            and any(clause.action != "insert" for clause in self._clauses)
            and not self._change.deletion_vectors_wanted()
        )

    def _at_once(self, candidates: Candidates) -> dict[str, int] | None:
        """Write all rows of the file in one job; None, with nothing written, if rows match twice or none changes."""
        observation = Observation()
        try:
            added = self._change.write(self._rows.everything(self._numbered_rows(candidates), observation))
        except (Py4JError, PySparkException) as problem:
            if isinstance(problem, DeltaError) and not isinstance(problem, ConstraintViolated):
                raise
            return None  # perhaps because of a row that would not be inserted
        counted, old = self._counted(observation)
        live = self._change.live_rows(candidates.adds[0])
        acted = sum(counted[number] for number in (*self._rows.updating, *self._rows.deleting))
        if old != live or not acted:
            self._change.undo()  # rows match twice, or none changes
            return None
        added = [add for add in added if self._change.live_rows(add)]
        return self._commit(RowRemoval.whole(candidates.adds), added, counted, live - acted, 0)

    @staticmethod
    def _counted(observation: Observation) -> tuple[dict[int, int], int]:
        """How many rows each clause acted on, and how many rows the table had."""
        counts = dict(observation.get)
        rows = int(counts.pop(TARGET_ROWS))
        return {int(name): int(count) for name, count in counts.items()}, rows

    # First job

    def _candidates(self) -> Candidates:
        """The files that can have a match; all files if unmatched rows matter too, or if there is one small file."""
        snapshot = self._change.snapshot
        is_one = (
            self._source.at_hand
            and snapshot.num_files == 1
            and snapshot.size_in_bytes <= AT_ONCE_BYTES
            and not snapshot.partition_columns
        )
        condition = None if self._rows.by_source or is_one else self._target_condition()
        return find_candidates(self._change, condition)

    def _target_condition(self) -> Condition | None:
        """The part of the merge's condition that uses the table's columns only."""
        target = empty_frame(self._spark, self._schema)
        if self._alias is not None:
            target = target.alias(self._alias)
        target_columns = target._jdf.queryExecution().analyzed().outputSet()
        joined = target.join(self._source.frame, self._on)._jdf.queryExecution().analyzed()
        texts = [
            conjunct.sql()
            for conjunct in _conjuncts(joined.condition().get())
            if conjunct.references().subsetOf(target_columns)
        ]
        if not texts:
            return None
        try:
            return analyse(self._spark, self._schema, " AND ".join(texts), "MERGE", self._alias)
        except InvalidArgument:
            raise
        except AnalysisException:  # Spark can't always parse its own text of an expression
            return None

    def _numbered_rows(self, candidates: Candidates) -> DataFrame:
        names = (quoted(field.name) for field in self._schema.fields)
        return candidates.frame().selectExpr(*names, f"{packed_text(FILE, ROW)} as {self._rows.row}")

    # Between the jobs

    def _refuse_ambiguous(self, pairs: Pairs) -> None:
        acting = self._rows.matched
        if not acting or (len(acting) == 1 and self._is_plain_deletion(self._clauses[acting[0]])):
            return
        if pairs.ambiguous(acting):
            raise AmbiguousMerge(
                "several rows of the source match one row of the table, and clauses act on it for each"
            )

    @staticmethod
    def _is_plain_deletion(clause: Clause) -> bool:
        # Which source row deletes a row makes no difference.
        return clause.action == "delete" and clause.condition is None

    # Second job

    def _inserted(self, pairs: Pairs) -> DataFrame | None:
        """The rows to insert for source rows without a match; None if every source row matches."""
        source, number = self._source.frame, self._source.number
        matched = pairs.matched_sources()
        if len(matched) == self._source.rows:
            return None
        if not len(matched):
            return self._rows.inserted()
        if len(matched) <= IN_PLAN:
            return self._rows.inserted(source.where(~F.col(number).isin(matched.to_pylist())))
        matched_rows = self._spark.createDataFrame(pa.table({number: matched}))
        matched_side = F.broadcast(matched_rows) if len(matched) <= BROADCAST_ROWS else matched_rows
        return self._rows.inserted(source.join(matched_side, number, "left_anti"))

    def _by_vectors(
        self,
        candidates: Candidates,
        acting: DataFrame,
        pairs: Pairs,
        inserted: DataFrame | None,
        scanned: int,
    ) -> dict[str, int]:
        rows = self._rows
        updated, deleted = pairs.acting(rows.updating), pairs.acting(rows.deleting)
        added = self._write(self._new_rows(acting, pairs, inserted))
        removed = pa.concat_arrays([updated, deleted])
        marked = self._change.mark(
            candidates.adds, {ordinal: bitmap(numbers) for ordinal, numbers in grouped(removed)}
        )
        return self._commit(marked, added, self._counts(pairs), 0, scanned)

    def _by_rewriting(
        self,
        candidates: Candidates,
        acting: DataFrame | None,
        pairs: Pairs,
        inserted: DataFrame | None,
        scanned: int,
    ) -> dict[str, int]:
        """Write the files that clauses touch anew, in the first of three ways that applies: the cheapest first."""
        touched = self._touched_files(candidates, pairs)
        insertions = [] if inserted is None else [self._rows.table_columns(inserted)]
        added = None
        if acting is not None and touched.has_few_changes and candidates.are_worth_arrow_rewrite():
            copies = self._copy_by_arrow(candidates, touched)
            if copies is not None:
                added = [*copies, *self._write(self._new_rows(acting, pairs, inserted))]
        if self._source.small:
            acting = None
        if added is None and touched.kept and acting is None and pairs.once:
            live = sum(touched.live[ordinal] for ordinal in touched.kept)
            added = self._rewrite_by_join(candidates.only(touched.kept), insertions, live)
        if added is None:
            added = self._rewrite_by_pairs(candidates, touched, acting, insertions)
        replaced = [candidates.adds[ordinal] for ordinal in sorted(touched.acted)]
        copied = sum(touched.live.values()) - sum(touched.acted.values())
        return self._commit(RowRemoval.whole(replaced), added, self._counts(pairs), copied, scanned)

    def _touched_files(self, candidates: Candidates, pairs: Pairs) -> _TouchedFiles:
        rows = self._rows
        changed = pairs.acting([*rows.updating, *rows.deleting])
        acted = {ordinal: len(numbers) for ordinal, numbers in grouped(changed)}
        deleted = {ordinal: len(numbers) for ordinal, numbers in grouped(pairs.acting(rows.deleting))}
        live = {ordinal: self._change.live_rows(candidates.adds[ordinal]) for ordinal in acted}
        kept = sorted(ordinal for ordinal in acted if deleted.get(ordinal, 0) < live[ordinal])
        return _TouchedFiles(changed, acted, live, kept)

    def _copy_by_arrow(self, candidates: Candidates, touched: _TouchedFiles) -> list[Add] | None:
        """New files with the rows that stay as they are; None, and nothing written, if Arrow can't write them."""
        rows = {ordinal: bitmap(numbers) for ordinal, numbers in grouped(touched.changed)}
        partial = [ordinal for ordinal in touched.kept if touched.acted[ordinal] < touched.live[ordinal]]
        return self._change.rewrite_without(
            [candidates.adds[ordinal] for ordinal in partial], [rows[ordinal] for ordinal in partial]
        )

    def _rewrite_by_pairs(
        self,
        candidates: Candidates,
        touched: _TouchedFiles,
        acting: DataFrame | None,
        insertions: Sequence[DataFrame],
    ) -> list[Add]:
        """Let Spark write all rows that the touched files have after the merge, by a join with the pairs."""
        frames = list(insertions)
        if touched.kept:
            if acting is None:
                acting = self._rows.pairs(self._numbered_rows(candidates), with_values=True)
            rows = sum(touched.acted.values())
            frames.append(self._rewritten(candidates, touched.kept, acting, rows))
        return self._write(frames)

    def _new_rows(self, acting: DataFrame, pairs: Pairs, inserted: DataFrame | None) -> list[DataFrame]:
        """The rows to insert, and the updated rows with their new values."""
        rows = self._rows
        frames = [] if inserted is None else [rows.table_columns(inserted)]
        if len(pairs.acting(rows.updating)):
            frames.append(rows.table_columns(acting.where(F.col(rows.clause).isin(rows.updating))))
        return frames

    def _rewrite_by_join(
        self, touched: Candidates, frames: Sequence[DataFrame], live: int
    ) -> list[Add] | None:
        """Rewrite these files by a join with the source; None, with nothing written, if rows match twice."""
        observation = Observation()
        added = self._write([*frames, self._rows.remaining(self._numbered_rows(touched), observation)])
        if self._counted(observation)[1] == live:
            return added
        self._change.undo()
        return None

    def _rewritten(self, candidates: Candidates, kept: list[int], acting: DataFrame, acted: int) -> DataFrame:
        """All rows of these files after the merge: updated where a clause acts, without the deleted ones."""
        touched = candidates.only(kept)
        ordinal = F.col(FILE)
        if touched is not candidates:
            # `acting` knows the files by their old ordinals.
            ordinal = F.element_at(F.lit(kept), ordinal.cast("int") + 1)
        rows = self._rows
        old = rows.target_frame(touched.frame(), packed(ordinal, F.col(ROW)))
        changed = acting.where(F.col(rows.clause).isNotNull()).drop(self._source.number)
        if not rows.updating:
            stays = old.join(self._broadcast_if_small(changed, acted), rows.row, "left_anti")
            return stays.select(*(rows.kept(field, F.col).alias(field.name) for field in self._goal.fields))
        joined = old.join(self._broadcast_if_small(changed, acted), rows.row, "left")
        clause = F.col(rows.clause)
        stays = joined.where(clause.isNull() | clause.isin(rows.updating))
        return stays.select(
            *(
                F.when(clause.isNull(), rows.kept(field, F.col))
                .otherwise(F.col(rows.value_name(index)))
                .alias(field.name)
                for index, field in enumerate(self._goal.fields)
            )
        )

    def _broadcast_if_small(self, changed: DataFrame, rows: int) -> DataFrame:
        return F.broadcast(changed) if rows <= BROADCAST_ROWS else changed

    def _write(self, frames: Sequence[DataFrame]) -> list[Add]:
        if not frames:
            return []
        added = self._change.write(reduce(DataFrame.unionAll, frames))
        return [add for add in added if self._change.live_rows(add)]

    def _counts(self, pairs: Pairs) -> dict[int, int]:
        return {
            number: len(pairs.acting([number])) for number in (*self._rows.matched, *self._rows.by_source)
        }

    def _commit(
        self, removal: RowRemoval, added: list[Add], counts: Mapping[int, int], copied: int, scanned: int
    ) -> dict[str, int]:
        if not removal.removes and not added and self._change.metadata is None:
            self._change.undo()
            return {}

        def acted(when: str, action: str) -> int:
            return sum(
                counts[number]
                for number, clause in enumerate(self._clauses)
                if number in counts and (clause.when, clause.action) == (when, action)
            )

        updated = acted(MATCHED, "update") + acted(BY_SOURCE, "update")
        output = sum(map(self._change.live_rows, added))
        metrics = {
            "numSourceRows": self._source.rows,
            "numTargetRowsInserted": output - updated - copied,
            "numTargetRowsUpdated": updated,
            "numTargetRowsMatchedUpdated": acted(MATCHED, "update"),
            "numTargetRowsNotMatchedBySourceUpdated": acted(BY_SOURCE, "update"),
            "numTargetRowsDeleted": acted(MATCHED, "delete") + acted(BY_SOURCE, "delete"),
            "numTargetRowsMatchedDeleted": acted(MATCHED, "delete"),
            "numTargetRowsNotMatchedBySourceDeleted": acted(BY_SOURCE, "delete"),
            "numTargetRowsCopied": copied,
            "numOutputRows": output,
            "numTargetFilesAdded": len(added),
            "numTargetFilesRemoved": removal.whole_files,
            "numTargetBytesAdded": total(added),
            "numTargetBytesRemoved": total(removal.removes) - total(removal.adds),
            "numTargetDeletionVectorsAdded": removal.vectors_added,
            "numTargetDeletionVectorsRemoved": removal.vectors_removed,
            "numTargetDeletionVectorsUpdated": removal.vectors_updated,
            "materializeSourceTimeMs": self._prepared_ms,
            "scanTimeMs": scanned,
            "rewriteTimeMs": self._timer.ms(),
            "executionTimeMs": self._change.elapsed_ms(),
        }
        actions: list[Add | Remove] = [*removal.removes, *removal.adds, *added]
        self._change.commit(actions, "MERGE", parameters(self._on, self._clauses), metrics)
        return metrics


def _grow_schema(change: Change, source: DataFrame, clauses: Sequence[Clause], alias: str | None) -> None:
    metadata = change.snapshot.metadata
    goal = grown_schema(change.snapshot.schema, source.schema, clauses, alias)
    if goal != change.snapshot.schema:
        change.redefine(replace(metadata, schema_string=schemas.to_json(goal)))


def _conjuncts(expression: Any) -> Iterator[Any]:
    if expression.getClass().getSimpleName() == "And":
        yield from _conjuncts(expression.left())
        yield from _conjuncts(expression.right())
    else:
        yield expression
