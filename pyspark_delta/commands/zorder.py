"""Z-ORDER: put rows that are close in several columns into the same files.

A sample gives ranges of each column's values with about as many rows each. The bits of the range numbers are
interleaved into one number, and the rows are sorted by that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    MapType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_delta.commands.assignments import parse_name
from pyspark_delta.commands.command_context import changing, now_ms, total
from pyspark_delta.commands.conditions import quoted
from pyspark_delta.commands.optimize import chosen_files, target_size
from pyspark_delta.commands.rewrite import group_by_partition, publish, result_frame, rewrite
from pyspark_delta.commands.values import fresh_names
from pyspark_delta.exceptions import DeltaAnalysisError, InvalidArgument
from pyspark_delta.log.actions import Add, dump
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.file_set import Files
from pyspark_delta.scan import scan
from pyspark_delta.schema import find, path_text

__all__ = ["zorder"]

SAMPLED_ROWS = 100_000
MOST_BITS = 8  # 255 cuts for each column: more ranges than most tables have files
_NUMBER_BITS = 62


def zorder(
    spark: SparkSession, log: DeltaLog, columns: Sequence[str], partition_filter: str | None = None
) -> DataFrame:
    """Rewrite all files of the partitions that the filter picks, in the z-order of the columns."""
    started = now_ms()
    with changing(spark, log) as change:
        schema = change.snapshot.schema
        paths = [_path(name, schema, change.snapshot.partition_columns) for name in columns]
        if not paths:
            raise InvalidArgument(
                "no column to order by is named", 'For example: executeZOrderBy("id", "date")'
            )
        if len(set(paths)) < len(paths):
            raise InvalidArgument(f"a column to order by is named twice: {', '.join(columns)}")
        chosen = chosen_files(change, partition_filter)
        bins = group_by_partition(chosen)
        if not bins:
            return result_frame(change, bins=[], added=[], considered=len(chosen), started_ms=started)
        everything = [add for files in bins for add in files]
        change.transaction.read_files(everything)
        sample = scan(spark, change.snapshot, Files.of(everything, log.path))
        rows = sum(map(change.physical_rows, everything))
        if rows > SAMPLED_ROWS:
            # Sample all files: in a table ordered by time, the first rows say nothing about the last.
            sample = sample.sample(SAMPLED_ROWS / rows, seed=rows)
        values = [_sort_expression(path, _type(schema, path)) for path in paths]
        cuts = [_cuts(sample, value, len(paths)) for value in values]
        limit = target_size(change)

        def ordered(frame: DataFrame, files: Sequence[Add]) -> DataFrame:
            (number,) = fresh_names(frame.columns, "z")
            frame = frame.select("*", _interleaved(values, cuts).alias(number))
            parts = max(1, ceil(total(files) / limit))
            frame = (
                frame.coalesce(1) if parts == 1 else frame.repartitionByRange(parts, F.col(quoted(number)))
            )
            return frame.sortWithinPartitions(F.col(quoted(number))).drop(number)

        added = rewrite(change, bins, ordered)
        parameters = {
            "predicate": dump([] if partition_filter is None else [partition_filter]).decode(),
            "zOrderBy": dump([path_text(path) for path in paths]).decode(),
            "clusterBy": "[]",
            "auto": "false",
        }
        publish(change, bins, added, "OPTIMIZE", parameters)
        return result_frame(
            change, bins=bins, added=added, considered=len(chosen), started_ms=started, z_ordered=True
        )


def _path(name: str, schema: StructType, partition_columns: Sequence[str]) -> tuple[str, ...]:
    path: list[str] = []
    inside: DataType = schema
    for part in parse_name(name):
        field = find(inside, part) if isinstance(inside, StructType) else None
        if field is None:
            raise DeltaAnalysisError(f"there is no column {name} to order by")
        path.append(field.name)
        inside = field.dataType
    if path[0] in partition_columns:
        raise InvalidArgument(f"{name} is a partition column: the files are apart by it already")
    if isinstance(inside, StructType | ArrayType | MapType):
        raise InvalidArgument(f"{name} has type {inside.simpleString()}, which has no order")
    return tuple(path)


def _type(schema: StructType, path: tuple[str, ...]) -> DataType:
    inside: DataType = schema
    for part in path:
        inside = inside[part].dataType
    return inside


def _sort_expression(path: tuple[str, ...], data_type: DataType) -> Column:
    """A column as numbers or texts in the same order, in types that Python can represent in full."""
    column = F.col(quoted(path[0]))
    for part in path[1:]:
        column = column.getField(part)
    if isinstance(data_type, DateType):
        return F.unix_date(column)
    if isinstance(data_type, TimestampType | TimestampNTZType):
        return F.unix_micros(column.cast("timestamp"))
    if isinstance(data_type, BooleanType):
        return column.cast("int")
    if isinstance(data_type, DecimalType):
        return column.cast("double")
    return F.hex(column) if isinstance(data_type, BinaryType) else column


def _cuts(frame: DataFrame, value: Column, columns: int) -> list[Column]:
    """The values between ranges of about as many rows, as SQL literals."""
    ranges = 1 << min(MOST_BITS, _NUMBER_BITS // columns)
    values = frame.select(value.alias("value")).where(F.col("value").isNotNull())
    tiles = values.selectExpr("value", f"ntile({ranges}) OVER (ORDER BY value) AS tile")
    firsts = tiles.groupBy("tile").agg(F.min("value").alias("value")).orderBy("tile").collect()
    cuts: list[Column] = []
    before = None
    for row in firsts[1:]:
        if row["value"] != before:
            cuts.append(F.lit(row["value"]))
            before = row["value"]
    return cuts


def _rank(value: Column, cuts: Sequence[Column], low: int, high: int) -> Column:
    """The number of the range that a value is in, as an unrolled binary search."""
    if low == high:
        return F.lit(low)
    middle = (low + high + 1) // 2
    return F.when(value < cuts[middle - 1], _rank(value, cuts, low, middle - 1)).otherwise(
        _rank(value, cuts, middle, high)
    )


def _interleaved(values: Sequence[Column], cuts: Sequence[Sequence[Column]]) -> Column:
    number = F.lit(0).cast("long")
    bits = min(MOST_BITS, _NUMBER_BITS // len(values))
    for place, (value, bounds) in enumerate(zip(values, cuts, strict=True)):
        rank = F.when(value.isNull(), F.lit(0)).otherwise(
            _rank(value, bounds, 0, len(bounds)) if bounds else F.lit(0)
        )
        wide = rank.cast("long")
        for bit in range(bits):
            one = F.shiftright(wide, bit).bitwiseAND(F.lit(1).cast("long"))
            number = number.bitwiseOR(F.shiftleft(one, bit * len(values) + place))
    return number
