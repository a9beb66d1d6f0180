"""The source of a merge: evaluated once, with numbered rows, and broadcast if it is small."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from pyspark_delta.commands.conditions import quoted, read_conf
from pyspark_delta.commands.values import fresh_names

__all__ = ["Source", "prepared_source"]

# A source up to this size is broadcast. Spark's own limit is far lower, but here the other side is a whole table.
BROADCAST_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """The source with a column that numbers its rows, equal in every job."""

    frame: DataFrame
    number: str
    columns: tuple[str, ...]
    rows: int
    small: bool
    at_hand: bool = False  # whether the driver has the rows already

    def column(self, name: str) -> Column:
        """A column of the source, even if other frames have one of the same name."""
        return self.frame[quoted(name)]

    def side(self) -> DataFrame:
        """The source as one side of a join with the table."""
        return F.broadcast(self.frame) if self.small else self.frame


@contextmanager
def prepared_source(spark: SparkSession, frame: DataFrame) -> Iterator[Source]:
    """The source, kept in memory or on disk for as long as the merge needs it, so that it is evaluated once."""
    (number,) = fresh_names(frame.columns, "source_row")
    columns = tuple(frame.columns)
    numbered = frame.selectExpr("*", f"monotonically_increasing_id() as {number}")
    rows = _rows_at_hand(frame)
    if rows is not None:
        yield Source(numbered, number, columns, rows, small=True, at_hand=True)
        return
    numbered.persist()
    try:
        rows = numbered.count()
        size = int(str(numbered._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))
        limit = max(BROADCAST_BYTES, _bytes(read_conf(spark, "spark.sql.autoBroadcastJoinThreshold")))
        yield Source(numbered, number, columns, rows, small=size <= limit)
    finally:
        numbered.unpersist()


def _rows_at_hand(frame: DataFrame) -> int | None:
    """The number of rows, if the driver has all of them, so that evaluating them again gives the same; else None."""
    plan = frame._jdf.queryExecution().optimizedPlan()
    if plan.getClass().getSimpleName() != "LocalRelation":
        return None
    return int(plan.data().size())


def _bytes(text: str | None) -> int:
    units = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
    folded = (text or "0").strip().lower().removesuffix("b")
    if folded and folded[-1] in units:
        return int(folded[:-1]) * units[folded[-1]]
    return int(folded or 0)
