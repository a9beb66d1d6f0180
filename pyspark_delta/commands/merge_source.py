"""The source of a merge: read once, its rows numbered, and small ones sent to every executor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from pyspark_delta.commands.conditions import quoted, read_conf
from pyspark_delta.commands.values import fresh_names

__all__ = ["Source", "prepared"]

# Up to this size a source is broadcast: many times Spark's own limit, because the other side is a whole table.
BROADCAST_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """The source with a column that numbers its rows, the same in every job."""

    frame: DataFrame
    number: str
    columns: tuple[str, ...]
    rows: int
    small: bool
    at_hand: bool = False  # whether the driver has the rows already

    def column(self, name: str) -> Column:
        """A column of the source, whatever other frames have."""
        return self.frame[quoted(name)]

    def side(self) -> DataFrame:
        """The source as one side of a join with the table."""
        return F.broadcast(self.frame) if self.small else self.frame


@contextmanager
def prepared(spark: SparkSession, frame: DataFrame) -> Iterator[Source]:
    """The source, kept for as long as the merge needs it: nothing it is made of is evaluated twice."""
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
    """How many rows there are, if the driver has them all already; evaluating them again then gives the same."""
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
