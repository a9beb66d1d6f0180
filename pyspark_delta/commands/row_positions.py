"""Collect the row positions of a frame to the driver, in the cheapest way that fits.

One number stands for a row: the ordinal of its file in the high bits, its index in the file in the low bits.
"""

from __future__ import annotations

import array
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyroaring import BitMap64
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

__all__ = ["MANY_ROWS", "bitmap", "count_by_file", "grouped", "packed", "rows_by_file"]

ROW_BITS = 40
# Up to this many candidate rows, row numbers are collected. Above, Spark counts them or makes bitmaps.
MANY_ROWS = 20_000_000
_BUCKET = 32_768  # rows in one of the bitmaps that Spark makes


def packed(file: Column, row: Column) -> Column:
    """The number of a row, as a Column."""
    return F.shiftleft(file.cast("long"), ROW_BITS).bitwiseOR(row)


def packed_text(file: str, row: str) -> str:
    """The number of a row, as SQL text. SQL takes one call to the JVM, a Column many."""
    return f"(shiftleft(cast({file} as bigint), {ROW_BITS}) | {row})"


def rows_by_file(frame: DataFrame, file: str, row: str, candidates: int | None) -> dict[int, BitMap64]:
    """The row indexes of a frame by the ordinal of their file; `candidates` limits their number, if known."""
    if candidates is not None and candidates <= MANY_ROWS:
        numbers = frame.select(packed(F.col(file), F.col(row)).alias("packed")).toArrow()
        return {ordinal: bitmap(rows) for ordinal, rows in grouped(numbers["packed"])}
    return _bitmaps_by_spark(frame, file, row)


def count_by_file(frame: DataFrame, file: str, candidates: int | None) -> dict[int, int]:
    """The number of rows of a frame by file."""
    if candidates is not None and candidates <= MANY_ROWS:
        # One stage instead of two, and a column that is mostly runs of the same number.
        counted = frame.select(F.col(file).alias("file")).toArrow()["file"].value_counts()
        return dict(
            zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
        )
    counts = frame.groupBy(F.col(file).alias("file")).agg(F.count(F.lit(1)).alias("count")).collect()
    return {row_count["file"]: row_count["count"] for row_count in counts}


def grouped(numbers: pa.ChunkedArray | pa.Array) -> Iterator[tuple[int, pa.Array]]:
    """Row numbers split by file: the ordinal, and the row indexes in ascending order."""
    flat = numbers.combine_chunks() if isinstance(numbers, pa.ChunkedArray) else numbers
    if not len(flat):
        return
    ascending = flat.take(pc.sort_indices(flat))
    runs = pc.run_end_encode(pc.shift_right(ascending, ROW_BITS), run_end_type=pa.int64())
    start = 0
    mask = (1 << ROW_BITS) - 1
    for ordinal, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        yield ordinal, pc.bit_wise_and(ascending.slice(start, end - start), mask)
        start = end


def bitmap(rows: pa.Array) -> BitMap64:
    """The row indexes as the bitmap of a deletion vector."""
    numbers = array.array("Q")
    numbers.frombytes(memoryview(rows.buffers()[1])[rows.offset * 8 : (rows.offset + len(rows)) * 8])
    return BitMap64(numbers)


def _bitmaps_by_spark(frame: DataFrame, file: str, row: str) -> dict[int, BitMap64]:
    """Collect bitmaps made by Spark: one bit a row instead of eight bytes. Spark's bitmaps count from one."""
    position = F.col(row) + 1
    buckets = (
        frame.groupBy(F.col(file).alias("file"), F.bitmap_bucket_number(position).alias("bucket"))
        .agg(F.bitmap_construct_agg(F.bitmap_bit_position(position)).alias("bits"))
        .toArrow()
    )
    rows: dict[int, BitMap64] = {}
    for batch in buckets.to_batches():
        for ordinal, bucket, bits in zip(*(batch.column(index) for index in range(3)), strict=True):
            ones = pa.Array.from_buffers(pa.bool_(), _BUCKET, [None, bits.as_buffer()])
            start = (bucket.as_py() - 1) * _BUCKET
            indexes = pc.add(pc.indices_nonzero(ones), pa.scalar(start, pa.uint64()))
            rows.setdefault(ordinal.as_py(), BitMap64()).update(bitmap(indexes))
    return rows
