"""Decide when a tombstone expires, and which files of a log a clean-up may delete."""

from __future__ import annotations

import re

from delta_models.log.actions import Remove
from delta_models.log.file_names import Listing
from delta_models.log.state import Snapshot

DELETED_FILES = "delta.deletedFileRetentionDuration"
WEEK = 7 * 86_400_000
_PART = re.compile(r"([+-]?\d+)\s+([a-z]+?)s?(?=\s|$)")
_UNITS = {
    "week": 7 * 86_400_000,
    "day": 86_400_000,
    "hour": 3_600_000,
    "minute": 60_000,
    "second": 1_000,
    "millisecond": 1,
}


def parse_duration(text: str) -> int:
    """Return the milliseconds of `interval 1 week` or `2 days 3 hours`. Raises ValueError."""
    stripped = text.strip().lower().removeprefix("interval").strip()
    total, end = 0, 0
    for match in _PART.finditer(stripped):
        if stripped[end : match.start()].strip() or match[2] not in _UNITS:
            raise ValueError(f"not a duration: {text!r}")
        total += int(match[1]) * _UNITS[match[2]]
        end = match.end()
    if end == 0 or stripped[end:].strip():
        raise ValueError(f"not a duration: {text!r}")
    return total


def retention_of(snapshot: Snapshot, name: str, default: int) -> int:
    """Return a retention of the table in milliseconds; the default if the property is missing or malformed."""
    text = snapshot.properties.get(name)
    if text is None:
        return default
    try:
        return parse_duration(text)
    except ValueError:
        return default


def is_expired(snapshot: Snapshot, remove: Remove, now: int) -> bool:
    """Whether a tombstone has expired at a time in milliseconds. One without a timestamp always has."""
    kept = retention_of(snapshot, DELETED_FILES, WEEK)
    return remove.deletion_timestamp is None or now > remove.deletion_timestamp + kept


def cleanable_files(listing: Listing, newest_expired: int | None) -> tuple[str, ...]:
    """Return the files that a clean-up may delete if `newest_expired` is the newest version past the retention.

    See the protocol's section "Metadata Cleanup". The newest checkpoint at or below that version stays, with its commit
    and all later files. Without such a checkpoint everything stays.
    """
    if newest_expired is None:
        return ()
    covering = [
        checkpoint.version
        for checkpoint in listing.checkpoints
        if checkpoint.complete and checkpoint.version <= newest_expired
    ]
    if not covering:
        return ()
    floor = max(covering)
    names = [name for version, name in listing.commits.items() if version < floor]
    names += [name for version, name in listing.checksums.items() if version < floor]
    names += [
        name for checkpoint in listing.checkpoints if checkpoint.version < floor for name in checkpoint.files
    ]
    names += [compaction.name for compaction in listing.compactions if compaction.first <= floor]
    return tuple(sorted(names))
