"""MERGE: source rows joined to the table; for each row the first clause that applies acts.

Two Spark jobs, whatever the clauses. The first joins the table's candidate files with the source (broadcast, if it is
small) and keeps, of each pair that a clause acts on, the row's number, the source row's number, the clause and the new
values: what is rewritten, marked or inserted follows from that. The second writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from pyspark_delta.commands.assignments import Tree, assigned_value, assignments
from pyspark_delta.commands.candidates import Candidates, find_candidates
from pyspark_delta.commands.change import Change, Marked, Timer, changing, now_ms, total
from pyspark_delta.commands.conditions import (
    Condition,
    analyse,
    empty_frame,
    expression,
    quoted,
    read_conf,
)
from pyspark_delta.commands.merge_clauses import (
    BY_SOURCE,
    MATCHED,
    NOT_MATCHED,
    Clause,
    Pairs,
    check,
    numbers_of,
    parameters,
)
from pyspark_delta.commands.merge_source import Source, prepared
from pyspark_delta.commands.rows import bitmap, grouped, packed
from pyspark_delta.commands.values import columns_of, fit, fresh_names, strict
from pyspark_delta.exceptions import AmbiguousMerge, SchemaMismatch
from pyspark_delta.log.actions import Add, Remove
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.scan import FILE, ROW

__all__ = ["merge"]

# Up to here the numbers of matched source rows stand in the plan itself; above, they are joined.
IN_PLAN = 1_000
# Up to here the changed rows are sent to every executor when files are rewritten.
BROADCAST_ROWS = 1_000_000


def merge(  # noqa: PLR0917 - called by one place
    spark: SparkSession,
    log: DeltaLog,
    source: DataFrame,
    on: str | Column,
    clauses: Sequence[Clause],
    alias: str | None = None,
) -> dict[str, int]:
    """Merge; the metrics, as the history has them."""
    check(clauses)
    with changing(spark, log) as change:
        if any(each.action != "insert" for each in clauses):
            change.refuse_if_append_only("MERGE")
        timer = Timer()
        with prepared(spark, source) as ready:
            return _Merge(change, ready, expression(on), clauses, alias, timer.ms()).run()


class _Merge:
    """One merge, ending in a commit unless no clause acted."""

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
        self._matched = numbers_of(clauses, MATCHED)
        self._by_source = numbers_of(clauses, BY_SOURCE)
        self._inserting = numbers_of(clauses, NOT_MATCHED)
        self._updating = [number for number, each in enumerate(clauses) if each.action == "update"]
        self._deleting = [number for number, each in enumerate(clauses) if each.action == "delete"]
        taken = [*(field.name for field in self._schema.fields), *source.columns, FILE, ROW]
        self._row, self._clause = fresh_names(taken, "row", "clause")
        self._taken = taken

    def run(self) -> dict[str, int]:
        candidates = self._candidates()
        found = self._found(candidates)
        inserted = (
            self._inserted_frame() if self._inserting else None
        )  # refuses what does not resolve, before any job
        if self._updating:
            found = found.persist()
        try:
            numbers = found.select(
                F.col(self._row).alias("row"),
                F.col(self._source.number).alias("source"),
                F.col(self._clause).alias("clause"),
            ).toArrow()
            pairs = Pairs(numbers)
            self._refuse_ambiguous(pairs)
            scanned = self._timer.ms()
            if inserted is not None:
                inserted = self._unmatched(inserted, pairs)
            if self._change.deletion_vectors_wanted():
                return self._by_vectors(candidates, found, pairs, inserted, scanned)
            return self._by_rewriting(candidates, found, pairs, inserted, scanned)
        finally:
            if self._updating:
                found.unpersist()

    # First job

    def _candidates(self) -> Candidates:
        """The files that can have a match; all of them if rows without one count too."""
        condition = None if self._by_source else self._of_the_target()
        return find_candidates(self._change, condition)

    def _of_the_target(self) -> Condition | None:
        """What the merge's condition asks of the table's columns alone."""
        target = empty_frame(self._spark, self._schema)
        if self._alias is not None:
            target = target.alias(self._alias)
        own = target._jdf.queryExecution().analyzed().outputSet()
        joined = target.join(self._source.frame, self._on)._jdf.queryExecution().analyzed()
        texts = [
            each.sql() for each in _conjuncts(joined.condition().get()) if each.references().subsetOf(own)
        ]
        if not texts:
            return None
        try:
            return analyse(self._spark, self._schema, " AND ".join(texts), "MERGE", self._alias)
        except AnalysisException:  # Spark's own text of an expression is not always one that it can read
            return None

    def _found(self, candidates: Candidates) -> DataFrame:
        target = candidates.frame()
        number = packed(F.col(FILE), F.col(ROW)).alias(self._row)
        target = target.select(*columns_of(self._schema), number)
        if self._alias is not None:
            target = target.alias(self._alias)
        joined = target.join(self._source.side(), self._on, "left" if self._by_source else "inner")
        is_match = F.col(self._source.number).isNotNull()
        chosen = F.lit(None).cast("int")
        for clause in reversed([*self._matched, *self._by_source]):
            applies = is_match if clause in self._matched else ~is_match
            chosen = F.when(applies & self._clauses[clause].predicate, F.lit(clause)).otherwise(chosen)
        numbered = joined.select("*", chosen.alias(self._clause))
        acts = F.col(self._clause).isNotNull()
        # A match that no clause acts on still keeps its source row from being inserted.
        numbered = numbered.where(acts | is_match if self._inserting else acts)
        return self._with_values(numbered, target)

    def _with_values(self, numbered: DataFrame, target: DataFrame) -> DataFrame:
        """The row's, the source row's and the clause's numbers, and the new values of rows that are updated."""
        keys = [F.col(name) for name in (self._row, self._source.number, self._clause)]
        if not self._updating:
            return numbered.select(*keys)
        names = {
            clause: fresh_names(
                self._taken, *(f"new_{clause}_{index}" for index in range(len(self._schema.fields)))
            )
            for clause in self._updating
        }
        values = [
            F.when(F.col(self._clause) == clause, value).alias(name)
            for clause in self._updating
            for name, value in zip(
                names[clause], self._new_values(self._clauses[clause], target), strict=True
            )
        ]
        return self._narrowed(numbered.select(*keys, *values), keys, names)

    def _narrowed(self, wide: DataFrame, keys: list[Column], names: Mapping[int, list[str]]) -> DataFrame:
        """The values of several clauses brought together into one column for each of the table's."""
        types = {each.name: each.dataType for each in wide.schema.fields}
        differences: list[str] = []
        columns = []
        for index, wanted in enumerate(self._schema.fields):
            value = F.lit(None).cast(wanted.dataType)
            for clause in reversed(list(names)):
                name = names[clause][index]
                new = fit(F.col(name), types[name], wanted.dataType, wanted.name, differences)
                value = F.when(F.col(self._clause) == clause, new).otherwise(value)
            columns.append(value.alias(self._value_name(index)))
        if differences:
            raise SchemaMismatch(
                "values do not fit the columns that they are assigned to", differences=differences
            )
        with strict(self._spark):
            return wide.select(*keys, *columns)

    def _new_values(self, clause: Clause, target: DataFrame) -> list[Column]:
        tree = self._tree(clause)
        return [
            assigned_value(target[quoted(field.name)], field.dataType, tree[field.name])
            if field.name in tree
            else target[quoted(field.name)]
            for field in self._schema.fields
        ]

    def _tree(self, clause: Clause) -> Tree:
        if clause.assigned is not None:
            case_sensitive = read_conf(self._spark, "spark.sql.caseSensitive", "false") == "true"
            return assignments(clause.assigned, self._schema, self._alias, case_sensitive)
        return {field.name: self._source.column(field.name) for field in self._schema.fields}

    def _value_name(self, index: int) -> str:
        return fresh_names(self._taken, f"value_{index}")[0]

    # Between the jobs

    def _refuse_ambiguous(self, pairs: Pairs) -> None:
        acting = self._matched
        if not acting or (len(acting) == 1 and self._is_plain_deletion(self._clauses[acting[0]])):
            return
        if pairs.ambiguous(acting):
            raise AmbiguousMerge(
                "several rows of the source match one row of the table, and clauses act on it for each"
            )

    @staticmethod
    def _is_plain_deletion(clause: Clause) -> bool:
        # Deleted twice is deleted: which source row does it makes no difference.
        return clause.action == "delete" and clause.condition is None

    # Second job

    def _inserted_frame(self) -> DataFrame:
        """The rows that the source would insert if none of its rows matched, with their numbers in the last column."""
        number = self._source.number
        source = self._source.frame
        chosen = F.lit(None).cast("int")
        for clause in reversed(self._inserting):
            chosen = F.when(self._clauses[clause].predicate, F.lit(clause)).otherwise(chosen)
        source = source.select("*", chosen.alias(self._clause)).where(F.col(self._clause).isNotNull())
        wide_names: dict[int, list[str]] = {}
        values: list[Column] = []
        for clause in self._inserting:
            tree = self._tree(self._clauses[clause])
            names = fresh_names(
                self._taken, *(f"new_{clause}_{index}" for index in range(len(self._schema.fields)))
            )
            wide_names[clause] = names
            for name, field in zip(names, self._schema.fields, strict=True):
                new = (
                    assigned_value(F.lit(None).cast(field.dataType), field.dataType, tree[field.name])
                    if field.name in tree
                    else F.lit(None).cast(field.dataType)
                )
                values.append(F.when(F.col(self._clause) == clause, new).alias(name))
        keys = [F.col(number), F.col(self._clause)]
        return self._narrowed(source.select(*keys, *values), keys, wide_names)

    def _unmatched(self, inserted: DataFrame, pairs: Pairs) -> DataFrame | None:
        """Less those whose source row matches; None if that is all of them."""
        number = self._source.number
        matched = pairs.matched_sources()
        if len(matched) == self._source.rows:
            return None
        if not len(matched):
            return inserted
        if len(matched) <= IN_PLAN:
            return inserted.where(~F.col(number).isin(matched.to_pylist()))
        seen = self._spark.createDataFrame(pa.table({number: matched}))
        return inserted.join(
            F.broadcast(seen) if len(matched) <= BROADCAST_ROWS else seen, number, "left_anti"
        )

    def _by_vectors(
        self, candidates: Candidates, found: DataFrame, pairs: Pairs, inserted: DataFrame | None, scanned: int
    ) -> dict[str, int]:
        updated, deleted = pairs.acting(self._updating), pairs.acting(self._deleting)
        frames = [] if inserted is None else [self._table_columns(inserted)]
        if len(updated):
            frames.append(self._table_columns(found.where(F.col(self._clause).isin(self._updating))))
        added = self._write(frames)
        gone = pa.concat_arrays([updated, deleted])
        marked = self._change.mark(
            candidates.adds, {ordinal: bitmap(rows) for ordinal, rows in grouped(gone)}
        )
        return self._commit(marked, added, pairs, 0, scanned)

    def _by_rewriting(
        self, candidates: Candidates, found: DataFrame, pairs: Pairs, inserted: DataFrame | None, scanned: int
    ) -> dict[str, int]:
        deleted = {ordinal: len(rows) for ordinal, rows in grouped(pairs.acting(self._deleting))}
        acted = {
            ordinal: len(rows) for ordinal, rows in grouped(pairs.acting([*self._updating, *self._deleting]))
        }
        live = {ordinal: self._change.live_rows(candidates.adds[ordinal]) for ordinal in acted}
        frames = [] if inserted is None else [self._table_columns(inserted)]
        kept = sorted(ordinal for ordinal in acted if deleted.get(ordinal, 0) < live[ordinal])
        if kept:
            frames.append(self._rewritten(candidates, kept, found, sum(acted.values())))
        added = self._write(frames)
        now = now_ms()
        touched = [candidates.adds[ordinal] for ordinal in sorted(acted)]
        removed = Marked(
            removes=tuple(add.remove(now) for add in touched),
            whole_files=len(touched),
            vectors_removed=sum(add.deletion_vector is not None for add in touched),
        )
        return self._commit(removed, added, pairs, sum(live.values()) - sum(acted.values()), scanned)

    def _rewritten(self, candidates: Candidates, kept: list[int], found: DataFrame, acted: int) -> DataFrame:
        """All rows of these files: updated where a clause says so, without the deleted ones."""
        touched = candidates.only(kept)
        ordinal = F.col(FILE)
        if touched is not candidates:
            # `found` knows the files by their old ordinals.
            ordinal = F.element_at(F.lit(kept), ordinal.cast("int") + 1)
        old = touched.frame().select(*columns_of(self._schema), packed(ordinal, F.col(ROW)).alias(self._row))
        changed = found.where(F.col(self._clause).isNotNull()).drop(self._source.number)
        if not self._updating:
            return self._table_columns(
                old.join(self._small(changed, acted), self._row, "left_anti"), old=True
            )
        joined = old.join(self._small(changed, acted), self._row, "left")
        clause = F.col(self._clause)
        stays = joined.where(clause.isNull() | clause.isin(self._updating))
        return stays.select(
            *(
                F.when(clause.isNull(), F.col(quoted(field.name)))
                .otherwise(F.col(self._value_name(index)))
                .alias(field.name)
                for index, field in enumerate(self._schema.fields)
            )
        )

    def _small(self, changed: DataFrame, rows: int) -> DataFrame:
        return F.broadcast(changed) if rows <= BROADCAST_ROWS else changed

    def _table_columns(self, frame: DataFrame, *, old: bool = False) -> DataFrame:
        names = [field.name for field in self._schema.fields]
        if old:
            return frame.select(*(F.col(quoted(name)) for name in names))
        return frame.select(*(F.col(self._value_name(index)).alias(name) for index, name in enumerate(names)))

    def _write(self, frames: Sequence[DataFrame]) -> list[Add]:
        if not frames:
            return []
        added = self._change.write(reduce(DataFrame.unionAll, frames))
        return [add for add in added if self._change.live_rows(add)]

    def _commit(
        self, gone: Marked, added: list[Add], pairs: Pairs, copied: int, scanned: int
    ) -> dict[str, int]:
        if not gone.removes and not added:
            self._change.undo()
            return {}
        counts = {number: len(pairs.acting([number])) for number in (*self._matched, *self._by_source)}

        def acted(when: str, action: str) -> int:
            return sum(
                counts[number]
                for number, each in enumerate(self._clauses)
                if number in counts and (each.when, each.action) == (when, action)
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
            "numTargetFilesRemoved": gone.whole_files,
            "numTargetBytesAdded": total(added),
            "numTargetBytesRemoved": total(gone.removes) - total(gone.adds),
            "numTargetDeletionVectorsAdded": gone.vectors_added,
            "numTargetDeletionVectorsRemoved": gone.vectors_removed,
            "numTargetDeletionVectorsUpdated": gone.vectors_updated,
            "materializeSourceTimeMs": self._prepared_ms,
            "scanTimeMs": scanned,
            "rewriteTimeMs": self._timer.ms(),
            "executionTimeMs": self._change.elapsed_ms(),
        }
        actions: list[Add | Remove] = [*gone.removes, *gone.adds, *added]
        self._change.commit(actions, "MERGE", parameters(self._on, self._clauses), metrics)
        return metrics


def _conjuncts(expression: Any) -> Iterator[Any]:
    if expression.getClass().getSimpleName() == "And":
        yield from _conjuncts(expression.left())
        yield from _conjuncts(expression.right())
    else:
        yield expression
