"""VACUUM: delete files that no version within the retention needs.

A file is needed if it belongs to the newest version or was removed within the retention. The same holds for deletion
vectors. Other files are deleted once they are older than the retention. Younger files may belong to a writer that has
not committed yet.

Names that begin with `_` or `.` are hidden, and vacuum leaves them alone. The exception is what a killed writer of this
engine left: that is deleted if it is older than both the retention and one day. Links stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from pyspark_delta import parallel
from pyspark_delta.commands.command_context import USER_METADATA, now_ms, vector_file
from pyspark_delta.commands.conditions import read_conf
from pyspark_delta.commands.result_frames import frame_of
from pyspark_delta.exceptions import InvalidArgument, RetentionTooShort
from pyspark_delta.features import interval_ms
from pyspark_delta.log.actions import DeletionVector, Remove
from pyspark_delta.log.columns import bodies
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.names import LOG
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import absolute_path
from pyspark_delta.storage import storage_failures, storage_of
from pyspark_delta.write import STAGING_PREFIX

__all__ = ["UnneededFiles", "find_unneeded_files", "vacuum"]

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
RETENTION = "delta.deletedFileRetentionDuration"
DEFAULT_RETENTION = "interval 7 days"
CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"
LOGGED = "spark.databricks.delta.vacuum.logging.enabled"
_PARTITION = re.compile(r"[^=/]+=.*")
_UNFINISHED = re.compile(rf"{STAGING_PREFIX}[0-9a-f]{{32}}")
_STAGED = re.compile(r"\..+\.[0-9a-f]{32}\.tmp")


@dataclass(frozen=True, slots=True)
class UnneededFiles:
    """The files and folders to delete, as absolute paths."""

    files: tuple[str, ...]
    size: int
    folders: tuple[str, ...]  # empty now or after the deletion; inner ones first


def vacuum(
    spark: SparkSession, log: DeltaLog, retention_hours: float | None = None, *, dry_run: bool = False
) -> DataFrame:
    """Delete unneeded files and return an empty frame; with `dry_run`, only return one row for each such file."""
    snapshot = log.update()
    snapshot.check_writable()
    retention = _retention_ms(spark, snapshot, retention_hours)
    now = now_ms()
    unneeded = find_unneeded_files(spark, log, snapshot, now - retention, now)
    paths = StructType([StructField("path", StringType())])
    if dry_run:
        return frame_of(spark, paths, [{"path": path} for path in unneeded.files])
    specified = {} if retention_hours is None else {"specifiedRetentionMillis": str(retention)}
    parameters = {
        "retentionCheckEnabled": str(_is_retention_checked(spark)).lower(),
        "defaultRetentionMillis": str(interval_ms(snapshot.properties, RETENTION, DEFAULT_RETENTION)),
        **specified,
    }
    logged = read_conf(spark, LOGGED, "true") == "true"
    if logged:
        metrics = {"numFilesToDelete": len(unneeded.files), "sizeOfDataToDelete": unneeded.size}
        _commit_note(spark, log, "VACUUM START", parameters, metrics)
    status = "FAILED"
    deleted = 0
    try:
        with storage_failures(f"files of {log.path} can't be deleted"):
            deleted = delete_unneeded_files(spark, unneeded)
        status = "COMPLETED"
    finally:
        if logged:
            metrics = {"numDeletedFiles": deleted, "numVacuumedDirectories": len(unneeded.folders)}
            _commit_note(spark, log, "VACUUM END", {"status": status}, metrics)
    return frame_of(spark, paths, []).select()


def find_unneeded_files(
    spark: SparkSession | None, log: DeltaLog, snapshot: Snapshot, cutoff_ms: int, now: int
) -> UnneededFiles:
    """The files to delete, if everything removed since the cutoff is kept.

    Folders are listed level by level, several at a time; Spark lists them if there are very many.
    """
    root = log.path
    needed = _needed_paths(log, snapshot, cutoff_ms)
    files: dict[str, int] = {}
    folders: list[str] = []
    level = [root]
    unfinished: list[str] = []
    while level:
        contents = parallel.map_items(spark, level, partial(_list_folder, cutoff_ms))
        for folder, content in zip(level, contents, strict=True):
            old = {place: size for place, size in content.old.items() if place not in needed}
            files |= old
            if folder != root and content.is_old and len(old) == len(content.old):
                folders.append(folder)
        unfinished += [f"{root}/{name}" for name in contents[0].unfinished] if level == [root] else []
        level = [
            f"{folder}/{name}"
            for folder, content in zip(level, contents, strict=True)
            for name in content.below
        ]
    young = min(cutoff_ms, now - DAY_MS)
    for content in parallel.map_items(spark, unfinished, partial(_list_unfinished_write, young)):
        files |= content.old
        folders += content.below
    files |= _list_staged_files(root, young)
    return UnneededFiles(tuple(files), sum(files.values()), tuple(reversed(folders)))


def delete_unneeded_files(spark: SparkSession, unneeded: UnneededFiles) -> int:
    """Delete the files and folders; return how many files were deleted."""
    deleted = sum(parallel.map_items(spark, unneeded.files, _remove))
    for folder in unneeded.folders:
        storage_of(folder).remove_folder(folder)  # fails, as it should, if a writer or a hidden file is there
    return deleted


def _remove(place: str) -> bool:
    try:
        storage_of(place).remove(place)
    except FileNotFoundError:  # another vacuum was faster
        return False
    return True


@dataclass(frozen=True, slots=True)
class _FolderContent:
    """The old files of a folder and the folders below it."""

    old: dict[str, int]  # files old enough to delete, with their sizes
    below: tuple[str, ...]  # folders to list next; for an unfinished write, folders to delete
    is_old: bool = False  # the folder and every file in it are old
    unfinished: tuple[str, ...] = ()


def _list_folder(cutoff_ms: int, folder: str) -> _FolderContent:
    """The files of a folder that are not hidden and older than the cutoff, and the folders to list next."""
    storage = storage_of(folder)
    old: dict[str, int] = {}
    below, unfinished = [], []
    is_old = False
    with suppress(FileNotFoundError):
        is_old = storage.entry(folder).mtime_ms < cutoff_ms
    for entry in storage.entries(folder):
        hidden = entry.name.startswith(("_", "."))
        if entry.is_folder:
            if _UNFINISHED.fullmatch(entry.name):
                unfinished.append(entry.name)
            elif not hidden or _PARTITION.fullmatch(entry.name) or entry.name == "_change_data":
                below.append(entry.name)
        elif hidden:
            continue
        elif entry.mtime_ms < cutoff_ms and not entry.is_link:
            old[f"{folder}/{entry.name}"] = entry.size
        else:
            is_old = False
    return _FolderContent(old, tuple(below), is_old, tuple(unfinished))


def _list_unfinished_write(young_ms: int, folder: str) -> _FolderContent:
    """Everything that an unfinished write left; nothing if any of it is young, as its writer may be at work."""
    storage = storage_of(folder)
    old: dict[str, int] = {}
    folders: list[str] = []
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        folders.append(place)
        try:
            newest = storage.entry(place).mtime_ms
        except FileNotFoundError:  # its writer deleted it
            return _FolderContent({}, ())
        for entry in storage.entries(place):
            newest = max(newest, entry.mtime_ms)
            if entry.is_folder:
                waiting.append(f"{place}/{entry.name}")
            else:
                old[f"{place}/{entry.name}"] = entry.size
        if newest >= young_ms:
            return _FolderContent({}, ())
    return _FolderContent(old, tuple(folders))


def _list_staged_files(root: str, young_ms: int) -> dict[str, int]:
    """Old staging files of the log, or beside the data, whose writer was killed before it renamed them."""
    return {
        f"{folder}/{entry.name}": entry.size
        for folder in (root, f"{root}/{LOG}")
        for entry in storage_of(root).entries(folder)
        if not entry.is_folder and entry.mtime_ms < young_ms and _STAGED.fullmatch(entry.name)
    }


def _retention_ms(spark: SparkSession, snapshot: Snapshot, hours: float | None) -> int:
    usual = interval_ms(snapshot.properties, RETENTION, DEFAULT_RETENTION)
    if hours is None:
        return usual
    if isinstance(hours, bool) or not isinstance(hours, int | float):
        raise TypeError(f"retentionHours must be a number, not {type(hours).__name__}")
    if hours < 0:
        raise InvalidArgument(f"a retention of {hours} hours lies in the future", "Give zero or more.")
    retention = int(hours * HOUR_MS)
    if retention < usual and _is_retention_checked(spark):
        raise RetentionTooShort(
            f"a retention of {hours} hours is shorter than the table's own {usual / HOUR_MS:g}: readers of older "
            "versions and writers at work may still need those files",
            f"Ask for {usual / HOUR_MS:g} hours, change {RETENTION}, or, if nobody else uses the table, set {CHECK} to "
            "false.",
        )
    return retention


def _is_retention_checked(spark: SparkSession) -> bool:
    return read_conf(spark, CHECK, "true") == "true"


def _needed_paths(log: DeltaLog, snapshot: Snapshot, cutoff_ms: int) -> set[str]:
    """Absolute paths of the files to keep, deletion vectors included."""
    root = log.path
    needed: set[str] = set(snapshot.files().paths())
    live = snapshot.files()
    tables = [live.arrow()] if live.has_deletion_vectors() else []
    kept = snapshot.tombstones().newer_than(cutoff_ms - 1)
    needed.update(kept.paths())
    tables.append(kept.arrow())
    for table in tables:
        for body in bodies(table.filter(table["deletionVector"].is_valid())):
            needed.add(vector_file(DeletionVector.from_json(body["deletionVector"]), root) or "")
    for remove in _expired_removals(log, snapshot, cutoff_ms):
        needed.add(absolute_path(remove.path, root))
        if remove.deletion_vector is not None:
            needed.add(vector_file(remove.deletion_vector, root) or "")
    # The log may name a file by another path: through a link, or absolute.
    real = storage_of(root).real(root)
    elsewhere = {storage_of(path).real(path) for path in needed if path and not path.startswith(f"{root}/")}
    return needed | {f"{root}{path.removeprefix(real)}" for path in elsewhere if path.startswith(f"{real}/")}


def _expired_removals(log: DeltaLog, snapshot: Snapshot, cutoff_ms: int) -> Iterable[Remove]:
    """Removals within a requested retention that is longer than the table's.

    Checkpoints no longer have them, but commits may.
    """
    if cutoff_ms >= snapshot.tombstone_cutoff(now_ms()):
        return
    for entry in log.history():
        if entry.timestamp < cutoff_ms:
            break
        for action in log.commits(entry.version, entry.version)[0]:
            if action.get("remove"):
                yield Remove.from_json(action["remove"])


def _commit_note(
    spark: SparkSession, log: DeltaLog, operation: str, parameters: dict[str, str], metrics: dict[str, int]
) -> None:
    log.begin().commit(
        [],
        operation,
        parameters,
        {name: str(value) for name, value in metrics.items()},
        data_change=False,
        user_metadata=read_conf(spark, USER_METADATA),
    )
