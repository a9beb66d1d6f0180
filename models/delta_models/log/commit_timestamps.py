"""Find out when a version was committed, and which version a time means.

From the enablement of in-commit timestamps on, the commit holds its time. Before, it is the modification time of the
commit file. See the protocol's section "In-Commit Timestamps". If file times stand still or go back, each commit counts
as one millisecond later than the one before it, as in delta-spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from delta_models.log.errors import LogError, MissingVersion
from delta_models.log.file_names import commit_name

if TYPE_CHECKING:
    from delta_models.log.reader import LogReader
    from delta_models.log.state import Snapshot

# A writer takes the time of commitInfo before it writes the commit file, so the file's own time was later.
_COPIED_SLACK = 1_000

ENABLED = "delta.enableInCommitTimestamps"
ENABLEMENT_VERSION = "delta.inCommitTimestampEnablementVersion"
ENABLEMENT_TIMESTAMP = "delta.inCommitTimestampEnablementTimestamp"


def commit_times(reader: LogReader, *, from_info: bool = False) -> dict[int, int]:
    """Return the time of each version that can be loaded, in milliseconds since the epoch.

    With `from_info` the `timestamp` of commitInfo replaces the modification time, which copied tables have lost.
    """
    listing = reader.listing()
    latest = listing.latest
    if latest is None:
        return {}
    since = _in_commit_since(reader.snapshot(latest))
    times: dict[int, int] = {}
    previous: int | None = None
    for version in listing.commits:
        time: int | None = None
        if since is not None and version >= since:
            info = reader.commit(version).info
            time = info.in_commit_timestamp if info is not None else None
        if time is None:
            time = _file_time(reader, version, from_info=from_info)
            if previous is not None and time <= previous:
                time = previous + 1
        times[version] = previous = time
    return {version: time for version, time in times.items() if _reachable(reader, version)}


def version_at(reader: LogReader, micros: int, *, from_info: bool = False, beyond: bool = True) -> int:
    """Return the newest version that is not younger than a time in microseconds since the epoch.

    Raises MissingVersion for a time before the oldest version that can be loaded. Without `beyond` it also does so for
    a time after the newest version, as delta-spark does.
    """
    times = commit_times(reader, from_info=from_info)
    candidates = [version for version, time in times.items() if time * 1000 <= micros]
    if not candidates:
        raise MissingVersion("the time is before the oldest version that can be loaded")
    version = max(candidates)
    slack = _COPIED_SLACK if from_info else 0
    if not beyond and version == max(times) and (times[version] + slack) * 1000 < micros:
        raise MissingVersion("the time is after the newest version")
    return version


def _in_commit_since(latest: Snapshot) -> int | None:
    """The first version whose commit holds its time; None without in-commit timestamps."""
    if latest.properties.get(ENABLED, "false").lower() != "true":
        return None
    version = latest.properties.get(ENABLEMENT_VERSION)
    return int(version) if version is not None and version.isdecimal() else 0


def _file_time(reader: LogReader, version: int, *, from_info: bool) -> int:
    if from_info:
        info = reader.commit(version).info
        timestamp = info.values.get("timestamp") if info is not None else None
        if type(timestamp) is int:
            return timestamp
    return (reader.log / commit_name(version)).stat().st_mtime_ns // 1_000_000


def _reachable(reader: LogReader, version: int) -> bool:
    try:
        reader.starting_points(version)
    except LogError:
        return False
    return True
