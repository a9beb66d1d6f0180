"""Analyse conditions with Spark, once, on the driver, against the table's schema.

A condition picks the rows for which it is true, not those for which it is false or null.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import StructType

from pyspark_delta.exceptions import InvalidArgument

__all__ = ["Condition", "analyse", "empty_frame", "expression", "quoted", "read_conf", "text_of"]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition over the columns of a table, analysed by Spark."""

    column: Column
    text: str
    references: frozenset[str]  # top-level columns, as the schema spells them
    has_subquery: bool
    alias: str | None  # by which the condition may call the table
    constant: bool | None  # the result for every row; None if it depends on the row

    @property
    def picked(self) -> Column:
        """True for the rows that the condition picks, false for all others."""
        return F.coalesce(self.column, F.lit(False))

    @property
    def others(self) -> Column:
        """True for the rows that the condition does not pick."""
        return ~self.picked

    def only_of(self, columns: Iterable[str]) -> bool:
        """Whether the condition depends on no other columns than these."""
        return not self.has_subquery and self.references <= frozenset(columns)


def analyse(
    spark: SparkSession, schema: StructType, condition: str | Column, operation: str, alias: str | None = None
) -> Condition:
    """Analyse a condition with Spark; Spark's own error is raised for unknown columns and wrong types."""
    column = expression(condition)
    frame = empty_frame(spark, schema)
    if alias is not None:
        frame = frame.alias(alias)
    analysed = frame.where(column)._jdf.queryExecution().analyzed().condition()
    if not analysed.deterministic():
        raise InvalidArgument(
            f"the condition of {operation} gives another answer each time that it is asked: {analysed.sql()}",
            "Use no rand(), uuid() and the like in a condition; add such a column first and use that.",
        )
    references, attributes = set(), analysed.references().iterator()
    while attributes.hasNext():
        references.add(attributes.next().name())
    return Condition(
        column,
        analysed.sql(),
        frozenset(references),
        _has_subquery(analysed),
        alias,
        None if references else _constant(analysed),
    )


def expression(condition: str | Column) -> Column:
    """Return a Column, parsed if it is given as SQL."""
    return F.expr(condition) if isinstance(condition, str) else condition


def text_of(condition: str | Column) -> str:
    """The condition as text for messages and the history."""
    return condition if isinstance(condition, str) else str(condition._jc.toString())


def quoted(name: str) -> str:
    """The column's name, quoted so that Spark reads it as one name."""
    return "`" + name.replace("`", "``") + "`"


def empty_frame(spark: SparkSession, schema: StructType) -> DataFrame:
    """A frame of this schema without rows, made without a job."""
    session = spark._jsparkSession
    rows = spark._jvm.java.util.ArrayList()
    return DataFrame(session.createDataFrame(rows, session.parseDataType(schema.json())), spark)


def read_conf(spark: SparkSession, key: str, default: str | None = None) -> str | None:
    """A setting of the session, by the name that delta-spark uses."""
    value = spark.conf.get(key, default)
    return None if value is None else str(value)


def _has_subquery(analysed: Any) -> bool:
    if analysed.getClass().getSimpleName() in {"Exists", "InSubquery", "ScalarSubquery", "ListQuery"}:
        return True
    children = analysed.children().iterator()
    while children.hasNext():
        if _has_subquery(children.next()):
            return True
    return False


def _constant(analysed: Any) -> bool | None:
    if _has_subquery(analysed) or not analysed.foldable():
        return None
    try:
        return bool(analysed.eval(None))  # null picks nothing, as false does
    except Py4JJavaError:  # current_date() and the like have a value only while a query runs
        return None
