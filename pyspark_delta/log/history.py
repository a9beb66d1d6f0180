"""The history of a table: what its commits record, their times, and the version at a time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from pyspark.sql.types import TimestampType

from pyspark_delta.exceptions import InvalidArgument, TimestampNotFound
from pyspark_delta.features import flag
from pyspark_delta.log.actions import CommitInfo
from pyspark_delta.log.names import LOG, commit_name, commit_version, version_of
from pyspark_delta.log.state import lines
from pyspark_delta.log.store import LogStore
from pyspark_delta.partition_values import internal

if TYPE_CHECKING:
    from pyspark_delta.log.snapshot import Snapshot

__all__ = [
    "HistoryEntry",
    "commit_time",
    "commit_times",
    "history",
    "moment_ms",
    "read_commits",
    "version_at",
]

_IN_COMMIT = "delta.enableInCommitTimestamps"
_IN_COMMIT_VERSION = "delta.inCommitTimestampEnablementVersion"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One commit: its version, its time in milliseconds, and its commitInfo if it has one."""

    version: int
    timestamp: int
    commit_info: CommitInfo | None


def history(store: LogStore, snapshot: Snapshot, limit: int | None = None) -> list[HistoryEntry]:
    """The commits that still exist, newest first."""
    times = _contiguous(commit_times(store, snapshot), snapshot.version)
    wanted = sorted(times, reverse=True)[: limit if limit is not None else len(times)]
    entries = []
    for version in wanted:
        try:
            content = store.read(f"{LOG}/{commit_name(version)}")
        except FileNotFoundError:  # cleaned up since the listing
            break
        entries.append(HistoryEntry(version, times[version], _commit_info(version, content)))
    return entries


def version_at(store: LogStore, snapshot: Snapshot, timestamp: object) -> int:
    """The newest version that is not newer than this time."""
    moment = moment_ms(timestamp)
    times = _contiguous(commit_times(store, snapshot), snapshot.version)
    if not times:
        raise TimestampNotFound(f"no commit of {snapshot.path} is left to tell the times of versions")
    first, last = min(times), max(times)
    if moment < times[first]:
        raise TimestampNotFound(
            f"{_text(moment)} is before the oldest version of {snapshot.path} that is left: "
            f"version {first} of {_text(times[first])}"
        )
    if moment > times[last]:
        raise TimestampNotFound(
            f"{_text(moment)} is after the newest version of {snapshot.path}: version {last} of {_text(times[last])}"
        )
    return max(version for version, time in times.items() if time <= moment)


def commit_times(store: LogStore, snapshot: Snapshot) -> dict[int, int]:
    """The time of each commit: its file's, adjusted to ascend, or its own if the table has in-commit timestamps."""
    listed = {
        version: file.mtime_ms
        for file in store.list_from(LOG)
        if (version := commit_version(file.name)) is not None and version <= snapshot.version
    }
    in_commit_from = _in_commit_from(snapshot.properties)
    times: dict[int, int] = {}
    before: int | None = None
    for version in sorted(listed):
        time = listed[version]
        if in_commit_from is not None and version >= in_commit_from:
            info = _commit_info(version, store.read(f"{LOG}/{commit_name(version)}"))
            time = int(info.raw.get("inCommitTimestamp", time)) if info else time
        if before is not None and time <= before:
            time = before + 1
        times[version] = before = time
    return times


def commit_time(store: LogStore, properties: Mapping[str, str], version: int) -> int:
    """The time of one commit; of its checkpoint if the commit was cleaned up."""
    in_commit_from = _in_commit_from(properties)
    try:
        if in_commit_from is not None and version >= in_commit_from:
            info = _commit_info(version, store.read(f"{LOG}/{commit_name(version)}"))
            if info is not None and "inCommitTimestamp" in info.raw:
                return int(info.raw["inCommitTimestamp"])
        return store.stat(f"{LOG}/{commit_name(version)}").mtime_ms
    except FileNotFoundError:
        return max(
            (file.mtime_ms for file in store.list_from(LOG) if version_of(file.name) == version), default=0
        )


def read_commits(store: LogStore, first: int, last: int) -> list[list[dict[str, Any]]]:
    """The parsed actions of these commits, ascending; FileNotFoundError if one is gone."""
    return [lines(version, store.read(f"{LOG}/{commit_name(version)}")) for version in range(first, last + 1)]


def moment_ms(timestamp: object) -> int:
    """The milliseconds of a datetime (naive: this process's zone), a date, a text as Spark reads it, or a number."""
    if isinstance(timestamp, dt.datetime):
        return int(timestamp.timestamp() * 1000)
    if isinstance(timestamp, dt.date):
        return int(dt.datetime(timestamp.year, timestamp.month, timestamp.day).timestamp() * 1000)  # noqa: DTZ001
    if isinstance(timestamp, int) and not isinstance(timestamp, bool):
        return timestamp
    if isinstance(timestamp, str):
        zone = _local_zone()
        try:
            micros = internal(timestamp, TimestampType(), zone)
        except Exception as problem:
            raise InvalidArgument(
                f"{timestamp!r} is no time", "Write it as `2026-01-31 12:00:00`."
            ) from problem
        if micros is not None:
            return int(micros) // 1000
    raise InvalidArgument(f"{timestamp!r} is no time", "Give a text, a datetime, or milliseconds since 1970.")


def _local_zone() -> str:
    """The time zone of the active Spark session, else UTC."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - the log can be used without a session

    session = SparkSession.getActiveSession()
    zone = session.conf.get("spark.sql.session.timeZone") if session is not None else None
    if zone is None:
        return "UTC"
    try:
        ZoneInfo(zone)
    except (ValueError, KeyError):  # an offset as `+01:00`, which `internal` can't take as a zone
        return "UTC"
    return str(zone)


def _in_commit_from(properties: Mapping[str, str]) -> int | None:
    """The first version whose commits record their own time; None if there is none."""
    return int(properties.get(_IN_COMMIT_VERSION, 0)) if flag(properties, _IN_COMMIT) else None


def _contiguous(times: dict[int, int], last: int) -> dict[int, int]:
    """The commits from the last gap up to the newest."""
    files: dict[int, int] = {}
    version = last
    while version in times:
        files[version] = times[version]
        version -= 1
    return files


def _commit_info(version: int, content: bytes) -> CommitInfo | None:
    if not content.startswith(b'{"commitInfo"'):
        bodies = [action["commitInfo"] for action in lines(version, content) if action.get("commitInfo")]
        return CommitInfo(bodies[0]) if bodies else None
    return CommitInfo(lines(version, content.split(b"\n", 1)[0])[0]["commitInfo"])


def _text(ms: int) -> str:
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC).isoformat(timespec="milliseconds")
