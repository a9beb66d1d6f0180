"""Turn failures about missing data files into `MissingDataFile`, which names the file and the version that added it.

If a check is cheap, `require_files` makes it before a job starts. Otherwise the error of the job that hits a missing
file is translated: by `missing_files_named` around work of this engine, and by `name_missing_files_later` for a frame
that the user runs later.
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

__all__ = ["missing_files_named", "name_missing_files_later", "require_files"]

_CHECKED_FILES = 10_000
_KEPT_READS = 100
# How Spark, Java and the operating system report a missing file.
_MISSING_FILE_TEXTS = ("FILE_NOT_EXIST", "FileNotFoundException", "No such file")

_lock = threading.Lock()
_recent_reads: OrderedDict[tuple[str, int], None] = OrderedDict()  # tables and versions, the newest last
_pyspark_conversion: list[
    Callable[[Any], Any]
] = []  # PySpark's own function, once `_convert_exception` replaced it


def require_files(snapshot: Snapshot, files: Files) -> None:
    """Raise MissingDataFile if one of the files is missing, before a job fails half way.

    Files are checked only where that is cheap: on a local disk, and if the table has at most 10,000 of them.
    """
    if len(files) > _CHECKED_FILES:
        return
    for path in files.paths():
        storage = storage_of(path)
        if storage.asks_cheaply and not storage.exists(path):
            raise _missing_error(snapshot, path)


@contextmanager
def missing_files_named(snapshot: Snapshot) -> Iterator[None]:
    """Translate an error of the enclosed work into MissingDataFile, if a missing file of the snapshot caused it.

    This also covers work that is no Spark job, such as a copy by Arrow, and sessions whose exceptions PySpark does not
    convert.
    """
    try:
        yield
    except Exception as problem:
        message = str(problem)
        path = _missing_file_in(message, snapshot) if _reports_missing_file(message) else None
        if path is None:
            raise
        raise _missing_error(snapshot, path) from problem


def name_missing_files_later(snapshot: Snapshot) -> None:
    """Translate the error of any later Spark job that hits a missing file of this version.

    A frame of `read` or `toDF` runs when the user calls an action on it, so no code of this engine is on the stack. The
    one place that every such error passes is PySpark's conversion of JVM exceptions, and PySpark offers no way to
    extend it. So the first call replaces `captured.convert_exception` for the whole process, as delta-spark's Python
    package does. Errors that are not about a missing file of a recently read table pass through unchanged.
    """
    with _lock:
        _recent_reads.pop((snapshot.path, snapshot.version), None)
        _recent_reads[snapshot.path, snapshot.version] = None
        while len(_recent_reads) > _KEPT_READS:
            _recent_reads.popitem(last=False)
        if not _pyspark_conversion:
            _pyspark_conversion.append(captured.convert_exception)
            captured.convert_exception = _convert_exception


def _convert_exception(problem: Any) -> Any:
    """Return MissingDataFile for a missing file of a recent read, else what PySpark makes of the JVM's exception."""
    converted = _pyspark_conversion[0](problem)
    message = str(converted)
    if not _reports_missing_file(message):
        return converted
    with _lock:
        reads = [read for read in reversed(_recent_reads) if read[0] in message or quote(read[0]) in message]
    for table, version in reads:
        try:
            snapshot = DeltaLog.for_path(table).snapshot(version)
        except (DeltaError, OSError):  # the table itself is gone: Spark's message is all there is
            continue
        path = _missing_file_in(message, snapshot)
        if path is not None:
            return _missing_error(snapshot, path)
    return converted


def _reports_missing_file(message: str) -> bool:
    return any(text in message for text in _MISSING_FILE_TEXTS)


def _missing_error(snapshot: Snapshot, path: str) -> MissingDataFile:
    version = _added_by(snapshot, path)
    since = f"by version {version}" if version is not None else "by a version whose commit is no longer there"
    return MissingDataFile(f"the data file {path}, added {since} of the table {snapshot.path}, is not there")


def _missing_file_in(message: str, snapshot: Snapshot) -> str | None:
    """The path of a file of the snapshot that the message names and that does not exist."""
    for path in snapshot.files().paths():
        name = path.rpartition("/")[2]
        if (name in message or quote(name) in message) and not storage_of(path).exists(path):
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
