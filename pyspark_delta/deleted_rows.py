"""Leave rows that deletion vectors mark out of a scan.

If the files with vectors have few enough rows, the query carries one bit for each row and looks rows up by position.
That takes neither a join nor another job. Otherwise the deleted rows are the broadcast side of an anti-join on one
number: the file's ordinal in the high bits, the row's index in the low bits.
"""

from __future__ import annotations

import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
from pyroaring import BitMap
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from pyspark_delta import deletion_vectors, file_index
from pyspark_delta.file_index import DeletedRows
from pyspark_delta.log.file_set import Files
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.physical_layout import FILE, ROW, Layout

__all__ = ["MOST_BITS", "scan_without_deleted"]

ROW_BITS = 40
MOST_BITS = 1 << 28
_KEPT_BITS = 1 << 25

_DELETED = "__deleted"
_THREADS_FROM = 8

Rows = list[np.ndarray[Any, np.dtype[np.int64]]]


def scan_without_deleted(
    spark: SparkSession,
    snapshot: Snapshot,
    files: Files,
    ordinals: np.ndarray[Any, Any],
    layout: Layout,
    *,
    with_position: bool = False,
) -> DataFrame:
    """The live rows of the files at these ordinals, all of which have vectors; with `FILE` and `ROW` if wanted."""
    marked = files.take(ordinals)
    counts = marked.num_records
    has_few = counts.null_count == 0 and int(np.sum(counts.to_numpy())) <= MOST_BITS
    if has_few and file_index.is_available(spark):
        constants = {FILE: ordinals} if with_position else None
        deleted_rows = _deleted_rows_of(spark, snapshot, files, marked)
        return layout.frame(spark, marked, constants, with_row=with_position, deleted_rows=deleted_rows)
    frame = _by_join(spark, marked, ordinals, layout, _read_vectors(snapshot, marked))
    return frame if with_position else frame.drop(FILE, ROW)


_known: weakref.WeakKeyDictionary[Files, tuple[Any, DeletedRows]] = weakref.WeakKeyDictionary()


def _deleted_rows_of(spark: SparkSession, snapshot: Snapshot, files: Files, marked: Files) -> DeletedRows:
    """The deleted rows of the marked files; if small, they are kept for the next scan of the same snapshot."""
    jvm, known = _known.get(files, (None, None))
    if known is not None and jvm is spark._jvm:  # noqa: SLF001 - the classic session's own way to the JVM
        return known
    counts = marked.num_records.to_numpy()
    firsts = np.cumsum(counts) - counts
    rows = _read_vectors(snapshot, marked)
    places = [
        indexes[indexes < count] + first for first, count, indexes in zip(firsts, counts, rows, strict=True)
    ]
    deleted = BitMap(np.concatenate(places).astype(np.uint32))
    total = int(counts.sum())
    deleted_rows = DeletedRows(firsts.tolist(), counts.tolist(), file_index.bits(spark, deleted, total))
    if total <= _KEPT_BITS:
        _known[files] = (spark._jvm, deleted_rows)  # noqa: SLF001
    return deleted_rows


def _by_join(
    spark: SparkSession,
    files: Files,
    ordinals: np.ndarray[Any, Any],
    layout: Layout,
    rows: Rows,
) -> DataFrame:
    packed = [indexes | (int(ordinal) << ROW_BITS) for ordinal, indexes in zip(ordinals, rows, strict=True)]
    deleted = spark.createDataFrame(pa.table({_DELETED: np.concatenate(packed)}))
    frame = layout.frame(spark, files, {FILE: ordinals}, with_row=True)
    key = F.expr(f"shiftleft({FILE}, {ROW_BITS}) | {ROW}")
    return frame.join(F.broadcast(deleted), key == deleted[_DELETED], "left_anti")


def _read_vectors(snapshot: Snapshot, files: Files) -> Rows:
    """The indexes of the deleted rows, file by file."""

    def rows(add: Any) -> np.ndarray[Any, Any]:
        bitmap = deletion_vectors.read(add.deletion_vector, snapshot.path, snapshot.store)
        return np.array(bitmap.to_array(), dtype=np.int64)

    adds = files.adds()
    if len(adds) < _THREADS_FROM:
        return [rows(add) for add in adds]
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(rows, adds))
