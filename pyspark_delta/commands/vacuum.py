"""VACUUM: files that no version within the retention needs are deleted.

A file is needed if it, or its deletion vector, belongs to the newest version or was removed within the retention.
Others go once they are as old as the retention: younger ones may belong to a writer that has not committed yet. What is
hidden (begins with `_` or `.`) is somebody else's, but for our own folders of unfinished writes.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from pyspark_delta import spread
from pyspark_delta.commands.answers import frame_of
from pyspark_delta.commands.change import USER_METADATA, now_ms, vector_file
from pyspark_delta.commands.conditions import read_conf
from pyspark_delta.exceptions import InvalidArgument, RetentionTooShort, UnsupportedTableFeature
from pyspark_delta.features import interval_ms
from pyspark_delta.log.actions import DeletionVector, Remove
from pyspark_delta.log.columns import bodies
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import absolute_path
from pyspark_delta.write import STAGING_PREFIX

__all__ = ["Rubbish", "find_rubbish", "vacuum"]

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
RETENTION = "delta.deletedFileRetentionDuration"
DEFAULT_RETENTION = "interval 7 days"
CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"
LOGGED = "spark.databricks.delta.vacuum.logging.enabled"
_PARTITION = re.compile(r"[^=/]+=.*")


@dataclass(frozen=True, slots=True)
class Rubbish:
    """What is to be deleted, as absolute paths."""

    files: tuple[str, ...]
    size: int
    folders: tuple[str, ...]  # those that were empty already, or will be
    abandoned: tuple[str, ...]  # unfinished writes of ours


def vacuum(
    spark: SparkSession, log: DeltaLog, retention_hours: float | None = None, *, dry_run: bool = False
) -> DataFrame:
    """Delete what is not needed, or with `dry_run` only tell it: one row a file then, none otherwise."""
    snapshot = log.update()
    snapshot.check_writable()
    retention = _retention_ms(spark, snapshot, retention_hours)
    found = find_rubbish(log, snapshot, now_ms() - retention)
    paths = StructType([StructField("path", StringType())])
    if dry_run:
        return frame_of(spark, paths, [{"path": path} for path in found.files])
    specified = {} if retention_hours is None else {"specifiedRetentionMillis": str(retention)}
    parameters = {
        "retentionCheckEnabled": str(_checks(spark)).lower(),
        "defaultRetentionMillis": str(interval_ms(snapshot.properties, RETENTION, DEFAULT_RETENTION)),
        **specified,
    }
    logged = read_conf(spark, LOGGED, "true") == "true"
    if logged:
        metrics = {"numFilesToDelete": len(found.files), "sizeOfDataToDelete": found.size}
        _note(spark, log, "VACUUM START", parameters, metrics)
    status = "FAILED"
    deleted = 0
    try:
        deleted = delete_rubbish(spark, found)
        status = "COMPLETED"
    finally:
        if logged:
            metrics = {"numDeletedFiles": deleted, "numVacuumedDirectories": len(found.folders)}
            _note(spark, log, "VACUUM END", {"status": status}, metrics)
    return frame_of(spark, paths, [])


def find_rubbish(log: DeltaLog, snapshot: Snapshot, cutoff_ms: int) -> Rubbish:
    """What may go, given that everything removed since the cutoff is kept."""
    root = log.path
    if not root.startswith("/"):
        raise UnsupportedTableFeature(f"{root} is on a storage whose files this engine can't list yet")
    needed = _needed(log, snapshot, cutoff_ms)
    files: list[str] = []
    folders: list[str] = []
    abandoned: list[str] = []
    size = 0
    for folder in _tree(root, abandoned):
        emptied = folder.path != root and folder.mtime_ms < cutoff_ms
        for entry in folder.files:
            if entry.path in needed or entry.mtime_ms >= cutoff_ms:
                emptied = False
            else:
                files.append(entry.path)
                size += entry.size
        if emptied:
            folders.append(folder.path)
    stale = [path for path in abandoned if _newest_ms(path) < cutoff_ms - DAY_MS]
    return Rubbish(tuple(files), size, tuple(reversed(folders)), tuple(stale))


def delete_rubbish(spark: SparkSession, found: Rubbish) -> int:
    """Delete it; how many files went."""
    deleted = sum(spread.over(spark, found.files, _unlinked))
    for folder in found.folders:
        with suppress(OSError):  # not empty: a writer has come, or there is something hidden in it
            os.rmdir(folder)
    for folder in found.abandoned:
        shutil.rmtree(folder, ignore_errors=True)
    return deleted


def _unlinked(path: str) -> bool:
    try:
        os.unlink(path)
    except FileNotFoundError:  # another vacuum was faster
        return False
    folder, name = os.path.split(path)
    with suppress(OSError):  # Hadoop's checksum beside it, if there is one
        os.unlink(f"{folder}/.{name}.crc")
    return True


def _retention_ms(spark: SparkSession, snapshot: Snapshot, hours: float | None) -> int:
    usual = interval_ms(snapshot.properties, RETENTION, DEFAULT_RETENTION)
    if hours is None:
        return usual
    if isinstance(hours, bool) or not isinstance(hours, int | float):
        raise TypeError(f"retentionHours must be a number, not {type(hours).__name__}")
    if hours < 0:
        raise InvalidArgument(f"a retention of {hours} hours lies in the future", "Give zero or more.")
    asked = int(hours * HOUR_MS)
    if asked < usual and _checks(spark):
        raise RetentionTooShort(
            f"a retention of {hours} hours is shorter than the table's own {usual / HOUR_MS:g}: readers of older "
            "versions and writers at work may still need those files",
            f"Ask for {usual / HOUR_MS:g} hours, change {RETENTION}, or, if nobody else uses the table, set {CHECK} to "
            "false.",
        )
    return asked


def _checks(spark: SparkSession) -> bool:
    return read_conf(spark, CHECK, "true") == "true"


def _needed(log: DeltaLog, snapshot: Snapshot, cutoff_ms: int) -> set[str]:
    """Absolute paths of files that stay, deletion vectors among them."""
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
    for remove in _expired_but_asked_for(log, snapshot, cutoff_ms):
        needed.add(absolute_path(remove.path, root))
        if remove.deletion_vector is not None:
            needed.add(vector_file(remove.deletion_vector, root) or "")
    # The same file may be known by another path: through a link, or by an absolute one.
    real = os.path.realpath(root)
    elsewhere = {os.path.realpath(path) for path in needed if not path.startswith(f"{root}/")}
    return needed | {f"{root}{path.removeprefix(real)}" for path in elsewhere if path.startswith(f"{real}/")}


def _expired_but_asked_for(log: DeltaLog, snapshot: Snapshot, cutoff_ms: int) -> Iterable[Remove]:
    """Removals within an asked retention that is longer than the table's: checkpoints forget them, commits may tell."""
    if cutoff_ms >= snapshot.tombstone_cutoff(now_ms()):
        return
    for entry in log.history():
        if entry.timestamp < cutoff_ms:
            break
        for action in log.commits(entry.version, entry.version)[0]:
            if action.get("remove"):
                yield Remove.from_json(action["remove"])


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    size: int
    mtime_ms: int


@dataclass(frozen=True, slots=True)
class _Folder:
    path: str
    mtime_ms: int
    files: tuple[_File, ...]


def _tree(root: str, abandoned: list[str]) -> Iterator[_Folder]:
    """The folders of a table that are not hidden, parents first; unfinished writes of ours are told apart."""
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        files = []
        with suppress(FileNotFoundError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if folder == root and entry.name.startswith(STAGING_PREFIX):
                        abandoned.append(entry.path)
                    elif (
                        not _hidden(entry.name)
                        or _PARTITION.fullmatch(entry.name)
                        or entry.name == "_change_data"
                    ):
                        waiting.append(entry.path)
                elif not _hidden(entry.name):
                    with suppress(FileNotFoundError):
                        stat = entry.stat(follow_symlinks=False)
                        files.append(_File(entry.path, stat.st_size, stat.st_mtime_ns // 1_000_000))
            yield _Folder(folder, os.stat(folder).st_mtime_ns // 1_000_000, tuple(files))


def _hidden(name: str) -> bool:
    return name.startswith(("_", "."))


def _newest_ms(folder: str) -> int:
    newest = 0
    for place, _, names in os.walk(folder):
        for path in (place, *(os.path.join(place, name) for name in names)):
            with suppress(FileNotFoundError):
                newest = max(newest, os.stat(path).st_mtime_ns // 1_000_000)
    return newest


def _note(
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
