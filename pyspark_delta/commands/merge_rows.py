"""Build the frames of a merge: what its clauses make of the rows of the table and of the source. No job runs here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import StructField, StructType

from pyspark_delta.commands.assignments import Tree, assigned_value, assignments
from pyspark_delta.commands.conditions import quoted, read_conf
from pyspark_delta.commands.merge_clauses import BY_SOURCE, MATCHED, NOT_MATCHED, Clause, numbers_of
from pyspark_delta.commands.merge_schema import overlaid
from pyspark_delta.commands.merge_source import Source
from pyspark_delta.commands.values import columns_of, fit, fresh_names, is_plain, strict
from pyspark_delta.exceptions import InvalidArgument, SchemaMismatch
from pyspark_delta.scan import FILE, ROW
from pyspark_delta.schema import find
from pyspark_delta.sql_text import type_text

__all__ = ["TARGET_ROWS", "MergedRows"]

# The name under which an observation has the number of the table's rows.
TARGET_ROWS = "rows"


class MergedRows:
    """The frames of one merge. `row`, `clause` and `value_name` are columns that they have beside the user's."""

    def __init__(  # noqa: PLR0917 - called by one place
        self,
        spark: SparkSession,
        schema: StructType,
        goal: StructType,
        source: Source,
        on: Column,
        clauses: Sequence[Clause],
        alias: str | None,
    ) -> None:
        self._spark = spark
        self._schema = schema  # whose columns conditions and values can name
        self._goal = goal  # the schema after the merge
        self._grows = goal != schema
        self._source = source
        self._on = on
        self._clauses = clauses
        self._alias = alias
        self.matched = numbers_of(clauses, MATCHED)
        self.by_source = numbers_of(clauses, BY_SOURCE)
        self.inserting = numbers_of(clauses, NOT_MATCHED)
        self.updating = [number for number, clause in enumerate(clauses) if clause.action == "update"]
        self.deleting = [number for number, clause in enumerate(clauses) if clause.action == "delete"]
        self._taken = [*(field.name for field in schema.fields), *source.columns, FILE, ROW]
        self.row, self.clause, self._insertion = fresh_names(self._taken, "row", "clause", "insertion")

    def pairs(self, target: DataFrame, *, with_values: bool) -> DataFrame:
        """Every match, and every row of the table on which a clause acts: numbers of row, source row and clause.

        With `with_values` also the new values of updated rows. `target` has the table's columns and `row`.
        """
        target = self._with_alias(target)
        joined = target.join(self._source.side(), self._on, "left" if self.by_source else "inner")
        is_match = F.col(self._source.number).isNotNull()
        numbered = joined.select("*", self._acting(is_match, F.lit(None).cast("int")).alias(self.clause))
        _refuse_chance(numbered)
        acts = F.col(self.clause).isNotNull()
        # A match without a clause still prevents the insertion of its source row.
        numbered = numbered.where(acts | is_match if self.inserting else acts)
        keys = [F.col(name) for name in (self.row, self._source.number, self.clause)]
        if not (self.updating and with_values):
            return numbered.select(*keys)
        return self._with_values(numbered, keys, self._updates(target), self.clause, "value")

    def inserted(self, unmatched: DataFrame | None = None) -> DataFrame:
        """The rows to insert for these source rows, by default for all, with the numbers of the source rows.

        Pass only source rows without a match: computing the values of the others may fail.
        """
        source = self._source.frame if unmatched is None else unmatched
        source = source.select("*", self._insertions().alias(self.clause))
        _refuse_chance(source)
        source = source.where(F.col(self.clause).isNotNull())
        keys = [F.col(self._source.number), F.col(self.clause)]
        return self._with_values(source, keys, self._inserts(), self.clause, "value")

    def everything(self, target: DataFrame, observation: Observation) -> DataFrame:
        """All rows of the table after the merge, if no row matches twice.

        `observation` receives how many rows the table had, counted as often as they match. It also receives how many
        rows each clause acts on, under the clause's number as text.
        """
        target = self._with_alias(target)
        source = self._source.frame.coalesce(1).hint("shuffle_hash")
        if self.inserting:
            # This computes values for matching source rows too. If one fails, the two-job merge decides.
            source = self._with_insertions(source)
        joined = target.coalesce(1).join(source, self._on, "full" if self.inserting else "left")
        return self._rows_after(joined, target, observation, self.inserting)

    def remaining(self, target: DataFrame, observation: Observation) -> DataFrame:
        """As `everything`, without inserted rows."""
        target = self._with_alias(target)
        return self._rows_after(target.join(self._source.side(), self._on, "left"), target, observation, [])

    def table_columns(self, frame: DataFrame) -> DataFrame:
        """The new values of a frame under the table's column names."""
        return frame.select(
            *(
                F.col(self.value_name(index)).alias(field.name)
                for index, field in enumerate(self._goal.fields)
            )
        )

    def kept(self, field: StructField, column: Callable[[str], Column]) -> Column:
        """The value of a column for rows that no clause changes, given the columns of the old table."""
        known = find(self._schema, field.name) if self._grows else field
        if known is None:
            return F.lit(None).cast(field.dataType)
        value = column(quoted(known.name))
        return fit(value, known.dataType, field.dataType, field.name, [], grows=self._grows)

    def value_name(self, index: int) -> str:
        """The column that holds the new value of the table's column at this index."""
        return self._name("value", index)

    def target_frame(self, frame: DataFrame, row: Column) -> DataFrame:
        """The table's columns of a frame, with the row number."""
        return frame.select(*columns_of(self._schema), row.alias(self.row))

    def _rows_after(
        self, joined: DataFrame, target: DataFrame, observation: Observation, inserting: Sequence[int]
    ) -> DataFrame:
        chosen = self._acting(F.expr(f"{self._source.number} is not null"), F.expr("cast(null as int)"))
        if inserting:
            chosen = F.when(F.expr(f"{self.row} is not null"), chosen).otherwise(F.col(self._insertion))
        frame = joined.select("*", chosen.alias(self.clause))
        if self._is_conditional([*self.matched, *self.by_source]):
            _refuse_chance(frame)
        kept = [self.kept(field, target.__getitem__) for field in self._goal.fields]
        if self.updating and not self._is_plain():
            frame = self._with_values(frame, [F.col("*")], self._updates(target), self.clause, "value")
            new = [{self._is(*self.updating): F.col(self.value_name(index))} for index in range(len(kept))]
        else:
            new = self._plain_updates()
        if inserting:
            for index, branches in enumerate(new):
                branches[self._is(*inserting)] = F.col(self._name("insert", index))
        counts = [
            F.expr(f"count_if({self._is(number)}) as `{number}`") for number in range(len(self._clauses))
        ]
        frame = frame.observe(observation, F.expr(f"count({self.row}) as {TARGET_ROWS}"), *counts)
        if self.deleting or inserting:
            stays = f"({self.clause} is null and {self.row} is not null)"
            frame = frame.where(" or ".join([stays, *map(self._is, [*self.updating, *inserting])]))
        return frame.select(
            *(
                _case(branches, old).alias(field.name)
                for field, old, branches in zip(self._goal.fields, kept, new, strict=True)
            )
        )

    def _plain_updates(self) -> list[dict[str, Column]]:
        """For each column of the table, the values that clauses assign, by the SQL condition that the clause acts."""
        new: list[dict[str, Column]] = [{} for _ in self._goal.fields]
        for number in self.updating:
            tree = self._tree(self._clauses[number])
            for field, branches in zip(self._goal.fields, new, strict=True):
                if field.name in tree:
                    branches[self._is(number)] = self._plain_value(number, tree[field.name], field)
        return new

    def _with_insertions(self, source: DataFrame) -> DataFrame:
        """The source with two additions: the clause that would insert a row, and the values to insert."""
        if self._is_plain() and not self._is_conditional(self.inserting):
            (number,) = self.inserting
            tree = self._tree(self._clauses[number])
            values = (
                self._plain_value(number, tree[field.name], field)
                if field.name in tree
                else F.expr(f"cast(null as {type_text(field.dataType)})")
                for field in self._goal.fields
            )
            named = (value.alias(self._name("insert", index)) for index, value in enumerate(values))
            return source.select("*", F.expr(f"{number} as {self._insertion}"), *named)
        source = source.select("*", self._insertions().alias(self._insertion))
        _refuse_chance(source)
        return self._with_values(source, [F.col("*")], self._inserts(), self._insertion, "insert")

    def _plain_value(self, number: int, value: Column | Tree, field: StructField) -> Column:
        """The value that a clause assigns, cast to the column's type."""
        assert isinstance(value, Column)  # noqa: S101 - no type that is plain has fields
        if self._clauses[number].assigned is None:
            source_field = find(self._source.frame.schema, field.name)
            if source_field is not None and source_field.dataType == field.dataType:
                return value
        return value.cast(type_text(field.dataType))

    def _is_conditional(self, clauses: Sequence[int]) -> bool:
        return any(self._clauses[number].condition is not None for number in clauses)

    def _is(self, *clauses: int) -> str:
        """The SQL condition that one of these clauses acts on a row."""
        return f"{self.clause} in ({', '.join(map(str, clauses))})"

    def _with_alias(self, target: DataFrame) -> DataFrame:
        return target if self._alias is None else target.alias(self._alias)

    def _name(self, stem: str, index: int) -> str:
        return fresh_names(self._taken, f"{stem}_{index}")[0]

    def _acting(self, is_match: Column, chosen: Column) -> Column:
        """The number of the first clause that applies to a row of the table, matched or not."""
        for clause in reversed([*self.matched, *self.by_source]):
            applies = is_match if clause in self.matched else ~is_match
            if self._is_conditional([clause]):
                applies &= self._clauses[clause].predicate
            chosen = F.when(applies, F.lit(clause)).otherwise(chosen)
        return chosen

    def _insertions(self) -> Column:
        """The number of the first clause that would insert a source row."""
        chosen = F.lit(None).cast("int")
        for clause in reversed(self.inserting):
            chosen = F.when(self._clauses[clause].predicate, F.lit(clause)).otherwise(chosen)
        return chosen

    def _updates(self, target: DataFrame) -> dict[int, list[Column]]:
        """The new values of the table's columns, for each clause that updates."""
        kept = [(field, self.kept(field, target.__getitem__)) for field in self._goal.fields]
        kept_by_name = {field.name: old for field, old in kept}
        return {
            number: [
                assigned_value(old, field.dataType, tree[field.name]) if field.name in tree else old
                for field, old in kept
            ]
            for number in self.updating
            for tree in (self._tree(self._clauses[number], kept_by_name),)
        }

    def _inserts(self) -> dict[int, list[Column]]:
        """The values of the table's columns, for each clause that inserts."""
        nothing = [F.lit(None).cast(field.dataType) for field in self._goal.fields]
        return {
            number: [
                assigned_value(none, field.dataType, tree[field.name]) if field.name in tree else none
                for field, none in zip(self._goal.fields, nothing, strict=True)
            ]
            for number in self.inserting
            for tree in (self._tree(self._clauses[number]),)
        }

    def _tree(self, clause: Clause, kept: Mapping[str, Column] | None = None) -> Tree:
        if clause.assigned is not None:
            case_sensitive = read_conf(self._spark, "spark.sql.caseSensitive", "false") == "true"
            return assignments(clause.assigned, self._goal, self._alias, case_sensitive)
        if not self._grows:
            return {field.name: self._source.column(field.name) for field in self._goal.fields}
        tree: Tree = {}
        for field in self._goal.fields:
            source_field = find(self._source.frame.schema, field.name)
            if source_field is not None:
                value = self._source.column(source_field.name)
                tree[field.name] = (
                    value
                    if kept is None
                    else overlaid(value, source_field.dataType, kept[field.name], field.dataType)
                )
        return tree

    def _with_values(
        self,
        frame: DataFrame,
        keys: Sequence[Column],
        values: Mapping[int, Sequence[Column]],
        clause: str,
        stem: str,
    ) -> DataFrame:
        """The keys, and one column for each column of the table: the value by the clause that acts on the row."""
        if self._is_plain():
            chosen = self._chosen(values, clause)
            return frame.select(
                *keys, *(value.alias(self._name(stem, index)) for index, value in enumerate(chosen))
            )
        names = {
            number: fresh_names(self._taken, *(f"{stem}_{number}_{index}" for index in range(len(columns))))
            for number, columns in values.items()
        }
        # The user's expressions run under the user's settings, for rows of their clause only; then casts run strictly.
        wide = frame.select(
            *keys,
            *(
                F.when(F.col(clause) == number, value).alias(name)
                for number, columns in values.items()
                for name, value in zip(names[number], columns, strict=True)
            ),
        )
        types = {field.name: field.dataType for field in wide.schema.fields}
        differences: list[str] = []
        narrow = []
        for index, wanted in enumerate(self._goal.fields):
            value = F.lit(None).cast(wanted.dataType)
            for number in reversed(list(names)):
                name = names[number][index]
                new = fit(
                    F.col(name), types[name], wanted.dataType, wanted.name, differences, grows=self._grows
                )
                value = F.when(F.col(clause) == number, new).otherwise(value)
            narrow.append(value.alias(self._name(stem, index)))
        if differences:
            raise SchemaMismatch(
                "values do not fit the columns that they are assigned to", differences=differences
            )
        with strict(self._spark):
            return wide.select(*keys, *narrow)

    def _is_plain(self) -> bool:
        return not self._grows and is_plain(self._spark, self._goal)

    def _chosen(self, values: Mapping[int, Sequence[Column]], clause: str) -> list[Column]:
        """For each column of the table, the value by the clause that acts; null if none acts."""
        chosen = []
        for index, wanted in enumerate(self._goal.fields):
            value = F.lit(None).cast(wanted.dataType)
            for number in reversed(list(values)):
                new = values[number][index].cast(type_text(wanted.dataType))
                value = F.when(F.col(clause) == number, new).otherwise(value)
            chosen.append(value)
        return chosen


def _case(branches: Mapping[str, Column], otherwise: Column) -> Column:
    """The value of the first condition that holds."""
    value = otherwise
    for number, (condition, new) in enumerate(branches.items()):
        value = value.when(F.expr(condition), new) if number else F.when(F.expr(condition), new)
    return value.otherwise(otherwise) if branches else value


def _refuse_chance(frame: DataFrame) -> None:
    """Raise if the condition of a clause, the frame's last column, is not deterministic."""
    chosen = frame._jdf.queryExecution().analyzed().projectList().last()
    if not chosen.deterministic():
        raise InvalidArgument(
            f"a condition of MERGE gives another answer each time that it is asked: {chosen.sql()}",
            "Use no rand(), uuid() and the like in a condition; add such a column to the source first and use that.",
        )
