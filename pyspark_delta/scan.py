"""Reads: the files of a snapshot as a data frame, through Spark's own Parquet reader, less the rows that are deleted.

`with_position` adds which file a row is from and which of its rows it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from pyspark_delta import deleted_rows, sql_text
from pyspark_delta.exceptions import MissingDataFile
from pyspark_delta.layout import FILE, ROW, Layout
from pyspark_delta.log.actions import load
from pyspark_delta.log.files import Files
from pyspark_delta.log.names import LOG, commit_name
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import absolute_path
from pyspark_delta.storage import storage_of

__all__ = ["FILE", "ROW", "absence_told", "require_files", "scan"]

_CHECKED_FILES = 10_000
# Spark's own word for it, Java's, and the system's.
_SIGNS_OF_ABSENCE = ("FILE_NOT_EXIST", "FileNotFoundException", "No such file")


def scan(
    spark: SparkSession,
    snapshot: Snapshot,
    files: Files | None = None,
    columns: Sequence[str] | None = None,
    with_position: bool = False,
) -> DataFrame:
    """The rows of these files (all of the snapshot unless said) in the schema of the snapshot.

    With positions, `__file` is the ordinal of a row's file among `files` and `__row` the index of the row in it.
    """
    files = snapshot.files() if files is None else files
    require_files(snapshot, files)
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


def require_files(snapshot: Snapshot, files: Files) -> None:
    """Tell of a file that is gone by its name and by the version that brought it, before a job fails half way.

    Only where that is cheap: on a local disk, and not for tables of very many files; there `absence_told` tells of it.
    """
    if len(files) > _CHECKED_FILES:
        return
    for path in files.paths():
        storage = storage_of(path)
        if storage.asks_cheaply and not storage.exists(path):
            raise missing(snapshot, path)


@contextmanager
def absence_told(snapshot: Snapshot) -> Iterator[None]:
    """Let a job that fails for a file which is not there tell its name and the version that brought it."""
    try:
        yield
    except Exception as problem:
        told = str(problem)
        gone = _named_in(told, snapshot) if any(sign in told for sign in _SIGNS_OF_ABSENCE) else None
        if gone is None:
            raise
        raise missing(snapshot, gone) from problem


def missing(snapshot: Snapshot, path: str) -> MissingDataFile:
    """The error for a file that is not there."""
    version = _added_by(snapshot, path)
    since = f"by version {version}" if version is not None else "by a version whose commit is no longer there"
    return MissingDataFile(f"the data file {path}, added {since} of the table {snapshot.path}, is not there")


def _named_in(told: str, snapshot: Snapshot) -> str | None:
    """The file of a version that is told of and is not there."""
    for path in snapshot.files().paths():
        name = path.rpartition("/")[2]
        if (name in told or quote(name) in told) and not storage_of(path).exists(path):
            return path
    return None


def _added_by(snapshot: Snapshot, path: str) -> int | None:
    """The newest version up to the snapshot's whose commit adds this file."""
    for version in range(snapshot.version, -1, -1):
        try:
            commit = snapshot.store.read(f"{LOG}/{commit_name(version)}")
        except FileNotFoundError:
            return None
        for line in commit.splitlines():
            add = (load(line) or {}).get("add") if b'"add"' in line else None
            if add and absolute_path(add["path"], snapshot.path) == path:
                return version
    return None


def _without_deleted(
    spark: SparkSession, snapshot: Snapshot, files: Files, layout: Layout, *, with_position: bool
) -> DataFrame:
    marked = np.asarray(files.arrow()["deletionVector"].is_valid())
    ordinals = np.flatnonzero(marked)
    kept = deleted_rows.without(spark, snapshot, files, ordinals, layout, with_position=with_position)
    if marked.all():
        return kept
    others = np.flatnonzero(~marked)
    constants = {FILE: others} if with_position else None
    return layout.frame(spark, files.take(others), constants, with_row=with_position).unionAll(kept)
