"""Read the files of a snapshot as a data frame through Spark's Parquet reader, without deleted rows.

With `with_position`, each row also says which file it is from and its index there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from pyspark_delta import deleted_rows, missing_files, sql_text
from pyspark_delta.log.file_set import Files
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.physical_layout import FILE, ROW, Layout

__all__ = ["FILE", "ROW", "scan"]


def scan(
    spark: SparkSession,
    snapshot: Snapshot,
    files: Files | None = None,
    columns: Sequence[str] | None = None,
    with_position: bool = False,
) -> DataFrame:
    """The rows of these files, by default all files of the snapshot, in the snapshot's schema.

    With positions, `__file` is the ordinal of a row's file in `files` and `__row` its index in the file.
    """
    files = snapshot.files() if files is None else files
    missing_files.require_files(snapshot, files)
    missing_files.name_missing_files_later(snapshot)
    layout = Layout.of(snapshot)
    if files.has_deletion_vectors():
        frame = _without_deleted(spark, snapshot, files, layout, with_position=with_position)
    else:
        constants = {FILE: range(len(files))} if with_position else None
        frame = layout.frame(spark, files, constants, with_row=with_position)
    if columns is None:
        return frame
    wanted = [sql_text.name(name) for name in columns]
    return frame.select(*wanted, FILE, ROW) if with_position else frame.select(*wanted)


def _without_deleted(
    spark: SparkSession, snapshot: Snapshot, files: Files, layout: Layout, *, with_position: bool
) -> DataFrame:
    marked = np.asarray(files.arrow()["deletionVector"].is_valid())
    ordinals = np.flatnonzero(marked)
    kept = deleted_rows.scan_without_deleted(
        spark, snapshot, files, ordinals, layout, with_position=with_position
    )
    if marked.all():
        return kept
    others = np.flatnonzero(~marked)
    constants = {FILE: others} if with_position else None
    return layout.frame(spark, files.take(others), constants, with_row=with_position).unionAll(kept)
