"""The builders that `DeltaTable` returns: for tables, merges and optimizations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import DataType, LongType, StructField, StructType

from pyspark_delta.commands.merge import merge
from pyspark_delta.commands.merge_clauses import BY_SOURCE, MATCHED, NOT_MATCHED, Clause
from pyspark_delta.commands.optimize import optimize
from pyspark_delta.commands.result_frames import frame_of
from pyspark_delta.commands.table_definition import Definition, How, define
from pyspark_delta.commands.zorder import zorder
from pyspark_delta.exceptions import InvalidArgument, UnsupportedTableFeature
from pyspark_delta.log.delta_log import DeltaLog

if TYPE_CHECKING:
    from pyspark_delta.table import DeltaTable

__all__ = ["DeltaMergeBuilder", "DeltaOptimizeBuilder", "DeltaTableBuilder", "IdentityGenerator"]


class DeltaMergeBuilder:
    """Builds a merge: add clauses in the order in which they apply, then `execute()`.

    Each call returns a new builder.
    """

    def __init__(  # noqa: PLR0917 - delta-spark's order
        self,
        spark: SparkSession,
        log: DeltaLog,
        source: DataFrame,
        condition: str | Column,
        alias: str | None,
        clauses: tuple[Clause, ...] = (),
        *,
        grows: bool = False,
    ) -> None:
        self._spark = spark
        self._log = log
        self._source = source
        self._condition = condition
        self._alias = alias
        self._clauses = clauses
        self._grows = grows

    def whenMatchedUpdate(
        self,
        condition: str | Column | None = None,
        set: Mapping[str, str | Column] | None = None,  # noqa: A002 - delta-spark's name
    ) -> DeltaMergeBuilder:
        """Update matching rows; the new values may use the columns of both sides."""
        return self._when(MATCHED, "update", condition, _assigned(set, "set"))

    def whenMatchedUpdateAll(self, condition: str | Column | None = None) -> DeltaMergeBuilder:
        """Update matching rows with all columns of the source, by name."""
        return self._when(MATCHED, "update", condition)

    def whenMatchedDelete(self, condition: str | Column | None = None) -> DeltaMergeBuilder:
        """Delete matching rows."""
        return self._when(MATCHED, "delete", condition)

    def whenNotMatchedInsert(
        self, condition: str | Column | None = None, values: Mapping[str, str | Column] | None = None
    ) -> DeltaMergeBuilder:
        """Insert a row with these values for each source row without a match; columns not named are null."""
        return self._when(NOT_MATCHED, "insert", condition, _assigned(values, "values"))

    def whenNotMatchedInsertAll(self, condition: str | Column | None = None) -> DeltaMergeBuilder:
        """Insert each source row without a match, with all its columns, by name."""
        return self._when(NOT_MATCHED, "insert", condition)

    def whenNotMatchedBySourceUpdate(
        self,
        condition: str | Column | None = None,
        set: Mapping[str, str | Column] | None = None,  # noqa: A002 - delta-spark's name
    ) -> DeltaMergeBuilder:
        """Update rows that no source row matches; the new values may use the table's columns."""
        return self._when(BY_SOURCE, "update", condition, _assigned(set, "set"))

    def whenNotMatchedBySourceDelete(self, condition: str | Column | None = None) -> DeltaMergeBuilder:
        """Delete rows that no source row matches."""
        return self._when(BY_SOURCE, "delete", condition)

    def withSchemaEvolution(self) -> DeltaMergeBuilder:
        """Add the source's columns that clauses assign to the table; `*` assigns all of them."""
        return self._with()

    def execute(self) -> DataFrame:
        """Run the merge and return one row: how many rows were affected, updated, deleted and inserted."""
        metrics = merge(
            self._spark,
            self._log,
            self._source,
            self._condition,
            self._clauses,
            self._alias,
            grows=self._grows,
        )
        updated, deleted, inserted = (
            metrics.get(f"numTargetRows{change}", 0) for change in ("Updated", "Deleted", "Inserted")
        )
        names = ("num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows")
        return _one_row(
            self._spark,
            dict(zip(names, (updated + deleted + inserted, updated, deleted, inserted), strict=True)),
        )

    def _when(
        self,
        when: str,
        action: str,
        condition: str | Column | None,
        assigned: Mapping[str, str | Column] | None = None,
    ) -> DeltaMergeBuilder:
        if condition is not None and not isinstance(condition, str | Column):
            raise TypeError(f"a condition must be SQL text or a Column, not {type(condition).__name__}")
        return self._with(Clause(when, action, condition, assigned), grows=self._grows)

    def _with(self, *more: Clause, grows: bool = True) -> DeltaMergeBuilder:
        clauses = (*self._clauses, *more)
        return DeltaMergeBuilder(
            self._spark, self._log, self._source, self._condition, self._alias, clauses, grows=grows
        )


class DeltaOptimizeBuilder:
    """Builds an optimization: choose partitions with `where()`, then execute one of the two kinds."""

    def __init__(self, spark: SparkSession, log: DeltaLog, partition_filter: str | None = None) -> None:
        self._spark = spark
        self._log = log
        self._filter = partition_filter

    def where(self, partitionFilter: str) -> DeltaOptimizeBuilder:
        """Choose only partitions for which the filter is true; a second filter is added with AND."""
        both = partitionFilter if self._filter is None else f"({self._filter}) AND ({partitionFilter})"
        return DeltaOptimizeBuilder(self._spark, self._log, both)

    def executeCompaction(self) -> DataFrame:
        """Combine small files into few large ones and return one row with metrics."""
        return optimize(self._spark, self._log, self._filter)

    def executeZOrderBy(self, *cols: str | Sequence[str]) -> DataFrame:
        """Rewrite files so that rows close in these columns are in the same files; return one row with metrics."""
        return zorder(self._spark, self._log, _names(cols, "cols"), self._filter)


@dataclass(frozen=True, slots=True)
class IdentityGenerator:
    """Start and step of an identity column. This engine refuses tables that need one, and names the feature."""

    start: int = 1
    step: int = 1


class DeltaTableBuilder:
    """Builds a table; `execute()` creates or replaces it."""

    def __init__(self, spark: SparkSession, how: How) -> None:
        self._spark = spark
        self._how = how
        self._name: str | None = None
        self._location: str | None = None
        self._comment: str | None = None
        self._fields: list[StructField] = []
        self._partitioned_by: list[str] = []
        self._properties: dict[str, str] = {}

    def tableName(self, identifier: str) -> DeltaTableBuilder:
        """Set the name: one of the session's catalogue, or ``delta.`/path` ``."""
        _is_text(identifier, "identifier")
        self._name = identifier
        return self

    def location(self, location: str) -> DeltaTableBuilder:
        """Set the folder of the table."""
        _is_text(location, "location")
        self._location = location
        return self

    def comment(self, comment: str) -> DeltaTableBuilder:
        """Set the description of the table."""
        _is_text(comment, "comment")
        self._comment = comment
        return self

    def addColumn(  # noqa: PLR0917 - delta-spark's order
        self,
        colName: str,
        dataType: str | DataType,
        nullable: bool = True,
        generatedAlwaysAs: str | IdentityGenerator | None = None,
        generatedByDefaultAs: IdentityGenerator | None = None,
        comment: str | None = None,
    ) -> DeltaTableBuilder:
        """Add a column."""
        _is_text(colName, "colName")
        if not isinstance(dataType, str | DataType):
            raise TypeError(f"dataType must be a text or a DataType, not {type(dataType).__name__}")
        if not isinstance(nullable, bool):
            raise TypeError(f"nullable must be a bool, not {type(nullable).__name__}")
        _refuse_generated(colName, generatedAlwaysAs, generatedByDefaultAs)
        kind = parsed_type(self._spark, dataType) if isinstance(dataType, str) else dataType
        field = StructField(colName, kind, nullable)
        if comment is not None:
            _is_text(comment, "comment")
            field.metadata["comment"] = comment
        self._fields.append(field)
        return self

    def addColumns(self, cols: StructType | Sequence[StructField]) -> DeltaTableBuilder:
        """Add columns given as Spark's fields."""
        for field in cols.fields if isinstance(cols, StructType) else cols:
            if not isinstance(field, StructField):
                raise TypeError(
                    f"cols must be a StructType or a list of StructFields, with no {type(field).__name__}"
                )
            self._fields.append(field)
        return self

    def partitionedBy(self, *cols: str | Sequence[str]) -> DeltaTableBuilder:
        """Set the partition columns."""
        self._partitioned_by = _names(cols, "cols")
        return self

    def clusterBy(self, *cols: str | Sequence[str]) -> DeltaTableBuilder:
        """Raise UnsupportedTableFeature: this engine does not write the feature that a clustered table needs."""
        _names(cols, "cols")
        raise UnsupportedTableFeature(
            "the table would need the feature clustering, which is not supported",
            "Partition it, or order its files with optimize().executeZOrderBy(...).",
            features=("clustering",),
        )

    def property(self, key: str, value: str) -> DeltaTableBuilder:
        """Set a property of the table."""
        _is_text(key, "key")
        _is_text(value, "value")
        self._properties[key] = value
        return self

    def execute(self) -> DeltaTable:
        """Create or replace the table."""
        from pyspark_delta.table import DeltaTable  # noqa: PLC0415 - they make each other

        if self._name is None and self._location is None:
            raise InvalidArgument(
                "the table has neither a name nor a place", "Call tableName() or location() first."
            )
        definition = Definition(
            schema=StructType(self._fields),
            partitioned_by=tuple(self._partitioned_by),
            properties=self._properties,
            comment=self._comment,
            name=self._name,
            location=self._location,
        )
        return DeltaTable(self._spark, define(self._spark, definition, self._how))


def parsed_type(spark: SparkSession, text: str) -> DataType:
    """Parse the SQL text of a type."""
    parsed = spark._jvm.org.apache.spark.sql.types.DataType.fromDDL(text).json()
    return StructType.fromJson(
        {"fields": [{"name": "it", "type": json.loads(parsed), "nullable": True, "metadata": {}}]}
    )["it"].dataType


def _one_row(spark: SparkSession, numbers: Mapping[str, int]) -> DataFrame:
    return frame_of(spark, StructType([StructField(name, LongType()) for name in numbers]), [dict(numbers)])


def _assigned(values: object, name: str) -> Mapping[str, str | Column]:
    if values is None:
        raise ValueError(f"{name} is missing: a dict of columns and their new values")
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} must be a dict of columns and values, not {type(values).__name__}")
    for key, value in values.items():
        if not isinstance(key, str):
            raise TypeError(f"the columns in {name} must be named by texts, not by {type(key).__name__}")
        if not isinstance(value, str | Column):
            raise TypeError(f"the values in {name} must be SQL text or Columns, not {type(value).__name__}")
    return values


def _refuse_generated(column: str, always: object, by_default: object) -> None:
    """Raise if the engine would have to generate the column's values; senseless arguments are refused first."""
    if always is not None and by_default is not None:
        raise ValueError(f"column {column} is generated always and by default: only one of them can be")
    if always is None and by_default is None:
        return
    if not isinstance(always, str | IdentityGenerator | None):
        raise TypeError(
            f"generatedAlwaysAs must be SQL text or an IdentityGenerator, not {type(always).__name__}"
        )
    if not isinstance(by_default, IdentityGenerator | None):
        raise TypeError(f"generatedByDefaultAs must be an IdentityGenerator, not {type(by_default).__name__}")
    if any(
        isinstance(generator, IdentityGenerator) and generator.step == 0 for generator in (always, by_default)
    ):
        raise ValueError(f"column {column} would count in steps of 0")
    feature = "generatedColumns" if isinstance(always, str) else "identityColumns"
    raise UnsupportedTableFeature(
        f"column {column} would need the feature {feature}, which is not supported", features=(feature,)
    )


def _names(cols: Sequence[str | Sequence[str]], name: str) -> list[str]:
    flat: list[Any] = list(cols[0]) if len(cols) == 1 and isinstance(cols[0], list | tuple) else list(cols)
    for column in flat:
        _is_text(column, name)
    return flat


def _is_text(value: object, name: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, not {type(value).__name__}")
