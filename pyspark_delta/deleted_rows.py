"""Rows that deletion vectors took away, taken out of a scan.

Where the vectors' files have few enough rows, one bit for each row travels with the query as an array of numbers, and a
row is looked up by its place: no join, no other job. Beyond that, the deleted rows are the broadcast side of an
anti-join on one packed number, the file's ordinal above the row's index.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from pyspark_delta import deletion_vectors, file_index
from pyspark_delta.layout import FILE, ROW, Layout
from pyspark_delta.log.files import Files
from pyspark_delta.log.snapshot import Snapshot

__all__ = ["MOST_BITS", "without"]

ROW_BITS = 40
MOST_BITS = 1 << 28

_BASE = "__base"
_DELETED = "__deleted"
_THREADS_FROM = 8

Rows = list[np.ndarray[Any, np.dtype[np.int64]]]


def without(
    spark: SparkSession,
    snapshot: Snapshot,
    files: Files,
    ordinals: Sequence[int] | np.ndarray[Any, Any],
    layout: Layout,
) -> DataFrame:
    """The rows of these files, all of which have vectors, with `FILE` (as `ordinals` say) and `ROW`."""
    rows = _deleted(snapshot, files)
    counts = files.num_records
    has_few = counts.null_count == 0 and int(np.sum(counts.to_numpy() + 63)) <= MOST_BITS
    if has_few and file_index.is_available(spark):
        return _by_bits(spark, files, ordinals, layout, rows=rows, counts=counts.to_numpy())
    return _by_join(spark, files, ordinals, layout, rows)


def _by_bits(
    spark: SparkSession,
    files: Files,
    ordinals: Sequence[int] | np.ndarray[Any, Any],
    layout: Layout,
    *,
    rows: Rows,
    counts: np.ndarray[Any, Any],
) -> DataFrame:
    words = (counts + 63) // 64
    bases = (np.cumsum(words) - words) * 64
    bits = np.zeros(int(words.sum()) * 64, dtype=bool)
    for base, count, gone in zip(bases.tolist(), counts.tolist(), rows, strict=True):
        bits[base + gone[gone < count]] = True
    array = file_index.numbers(spark, np.packbits(bits, bitorder="little").tobytes())
    frame = layout.frame(spark, files, {FILE: ordinals, _BASE: bases}, with_row=True)
    word = F.get(array, F.expr(f"cast(shiftright({_BASE} + {ROW}, 6) as int)"))
    return frame.where(F.getbit(word, F.expr(f"cast(({_BASE} + {ROW}) & 63 as int)")) == 0)


def _by_join(
    spark: SparkSession,
    files: Files,
    ordinals: Sequence[int] | np.ndarray[Any, Any],
    layout: Layout,
    rows: Rows,
) -> DataFrame:
    packed = [gone | (int(ordinal) << ROW_BITS) for ordinal, gone in zip(ordinals, rows, strict=True)]
    deleted = spark.createDataFrame(pa.table({_DELETED: np.concatenate(packed)}))
    frame = layout.frame(spark, files, {FILE: ordinals}, with_row=True)
    key = F.expr(f"shiftleft({FILE}, {ROW_BITS}) | {ROW}")
    return frame.join(F.broadcast(deleted), key == deleted[_DELETED], "left_anti")


def _deleted(snapshot: Snapshot, files: Files) -> Rows:
    """The indices of the deleted rows of each file."""

    def rows(add: Any) -> np.ndarray[Any, Any]:
        bitmap = deletion_vectors.read(add.deletion_vector, snapshot.path, snapshot.store)
        return np.array(bitmap.to_array(), dtype=np.int64)

    adds = files.adds()
    if len(adds) < _THREADS_FROM:
        return [rows(add) for add in adds]
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(rows, adds))
