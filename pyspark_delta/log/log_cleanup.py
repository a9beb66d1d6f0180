"""Delete log files that are no longer needed, by the algorithm that the protocol recommends ("metadata cleanup").

Everything stays from the newest checkpoint on that is older than the retention, and so does the commit of its version.
Without such a checkpoint nothing is deleted.
"""

from __future__ import annotations

from pyspark_delta import features
from pyspark_delta.log.checkpoint import sidecars_of
from pyspark_delta.log.names import (
    LOG,
    SIDECARS,
    checkpoint_file,
    commit_version,
    compaction_range,
    version_of,
)
from pyspark_delta.log.segment import Checkpoint, Listing
from pyspark_delta.log.snapshot import Snapshot

__all__ = ["clean_up"]

_DAY_MS = 86_400_000


def clean_up(snapshot: Snapshot, now_ms: int) -> list[str]:
    """Delete commits, checkpoints and checksums whose retention is over; return their names."""
    if "checkpointProtection" in features.writer_features(snapshot.protocol):
        return []
    retention = features.interval_ms(snapshot.properties, "delta.logRetentionDuration", "interval 30 days")
    cutoff = (now_ms - retention) // _DAY_MS * _DAY_MS
    store = snapshot.store
    files = store.list_from(LOG)
    old_commits = [
        version
        for file in files
        if (version := commit_version(file.name)) is not None and file.mtime_ms <= cutoff
    ]
    if not old_commits:
        return []
    listing = Listing(file.name for file in files)
    newest = max(old_commits)
    usable = [checkpoint for checkpoint in listing.checkpoints if checkpoint.version <= newest]
    if not usable:
        return []
    kept = usable[-1].version
    expired = [file.name for file in files if _is_before(file.name, kept)]
    # Ascending, so that a crash in between leaves a shorter log, never a gap.
    names = [f"{LOG}/{name}" for name in expired]
    remaining = [checkpoint for checkpoint in listing.checkpoints if checkpoint.version >= kept]
    names += _unused_sidecars(snapshot, remaining, now_ms)
    store.delete(names)
    return names


def _is_before(name: str, kept: int) -> bool:
    span = compaction_range(name)
    if span is not None:
        return span[0] <= kept
    version = version_of(name)
    if version is None or version >= kept:
        return False
    return commit_version(name) is not None or checkpoint_file(name) is not None or name.endswith(".crc")


def _unused_sidecars(snapshot: Snapshot, remaining: list[Checkpoint], now_ms: int) -> list[str]:
    store = snapshot.store
    files = [file for file in store.list_from(f"{LOG}/{SIDECARS}") if file.mtime_ms < now_ms - _DAY_MS]
    if not files:
        return []
    used = {name for checkpoint in remaining for name in sidecars_of(store, checkpoint)}
    return [f"{LOG}/{SIDECARS}/{file.name}" for file in files if file.name not in used]
