"""Data files that are not there: told by name, with the version that brought it.

Before a job fails half way, where to look is cheap; else by the job that stumbles over one, whenever it runs.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from pyspark.errors.exceptions import captured

from pyspark_delta.exceptions import DeltaError, MissingDataFile
from pyspark_delta.log.actions import load
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.file_set import Files
from pyspark_delta.log.names import LOG, commit_name
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import absolute_path
from pyspark_delta.storage import storage_of

__all__ = ["absence_told", "require_files", "told_later"]

_CHECKED_FILES = 10_000
_KEPT_READS = 100
# Spark's own word for it, Java's, and the system's.
_SIGNS_OF_ABSENCE = ("FILE_NOT_EXIST", "FileNotFoundException", "No such file")

_lock = threading.Lock()
_read: OrderedDict[tuple[str, int], None] = OrderedDict()  # tables and versions, the newest last
_heard: list[Callable[[Any], Any]] = []  # PySpark's own conversion, once ours stands before it


def require_files(snapshot: Snapshot, files: Files) -> None:
    """Tell of a file that is gone by its name and by the version that brought it, before a job fails half way.

    Only where that is cheap: on a local disk, and not for tables of very many files; there `absence_told` tells of it.
    """
    if len(files) > _CHECKED_FILES:
        return
    for path in files.paths():
        storage = storage_of(path)
        if storage.asks_cheaply and not storage.exists(path):
            raise _missing(snapshot, path)


@contextmanager
def absence_told(snapshot: Snapshot) -> Iterator[None]:
    """Let work that fails for a file which is not there tell its name and the version that brought it.

    Also where that is no job of Spark's, such as a copy by Arrow, or where no conversion of exceptions comes by.
    """
    try:
        yield
    except Exception as problem:
        told = str(problem)
        gone = _named_in(told, snapshot) if any(sign in told for sign in _SIGNS_OF_ABSENCE) else None
        if gone is None:
            raise
        raise _missing(snapshot, gone) from problem


def told_later(snapshot: Snapshot) -> None:
    """Let any job of Spark that comes upon a file of this version gone tell so, however long the frame is made."""
    with _lock:
        _read.pop((snapshot.path, snapshot.version), None)
        _read[snapshot.path, snapshot.version] = None
        while len(_read) > _KEPT_READS:
            _read.popitem(last=False)
        if not _heard:
            _heard.append(captured.convert_exception)
            captured.convert_exception = _converted


def _converted(problem: Any) -> Any:
    """What PySpark makes of an exception of the JVM, unless it is of a file that is not there."""
    found = _heard[0](problem)
    told = str(found)
    if not any(sign in told for sign in _SIGNS_OF_ABSENCE):
        return found
    with _lock:
        read = [each for each in reversed(_read) if each[0] in told or quote(each[0]) in told]
    for path, version in read:
        try:
            snapshot = DeltaLog.for_path(path).snapshot(version)
        except (DeltaError, OSError):  # the table itself is gone: what Spark tells is all there is
            continue
        gone = _named_in(told, snapshot)
        if gone is not None:
            return _missing(snapshot, gone)
    return found


def _missing(snapshot: Snapshot, path: str) -> MissingDataFile:
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
