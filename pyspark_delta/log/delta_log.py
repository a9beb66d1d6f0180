"""The log of one table: read once, then updated with new commits, and its versions as snapshots."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pyspark_delta.exceptions import (
    CorruptCheckpoint,
    CorruptLog,
    DeltaError,
    EmptyLog,
    LogGap,
    NotADeltaTable,
    VersionNotFound,
)
from pyspark_delta.log import history as histories
from pyspark_delta.log import last_checkpoint
from pyspark_delta.log.checkpoint import read_checkpoint
from pyspark_delta.log.checkpoint_writer import write_checkpoint
from pyspark_delta.log.log_cleanup import clean_up
from pyspark_delta.log.names import LOG, commit_name, prefix
from pyspark_delta.log.segment import Checkpoint, Listing, Segment
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.log.state import Base, Overlay, State
from pyspark_delta.log.store import LogStore, open_store, table_path
from pyspark_delta.transaction import Transaction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["DeltaLog"]

_log = logging.getLogger("pyspark_delta")

_TRIES = 5
_KEPT_LOGS = 256
_KEPT_SNAPSHOTS = 8
_KEPT_FILES = 1_000_000


class DeltaLog:
    """The log of one table; one object for each path in this process, safe between threads."""

    _known: ClassVar[OrderedDict[str, DeltaLog]] = OrderedDict()
    _known_lock = threading.Lock()

    def __init__(self, path: str, store: LogStore) -> None:
        self.path = path
        self.store = store
        self.spark: SparkSession | None = None
        self._lock = threading.RLock()
        self._latest: Snapshot | None = None
        self._identity: tuple[int, ...] | None = None
        self._snapshots: OrderedDict[int, Snapshot] = OrderedDict()

    @classmethod
    def for_path(cls, path: str | os.PathLike[str], spark: SparkSession | None = None) -> DeltaLog:
        """Return the log of the table in this folder; the table need not exist."""
        place = table_path(path)
        with cls._known_lock:
            log = cls._known.pop(place, None) or cls(place, open_store(place))
            cls._known[place] = log
            while len(cls._known) > _KEPT_LOGS:
                cls._known.popitem(last=False)
        if spark is not None:
            log.spark = spark
        return log

    @classmethod
    def forget(cls, path: str | os.PathLike[str] | None = None) -> None:
        """Drop the cached state of one table or of all tables; the next call reads everything again."""
        with cls._known_lock:
            if path is None:
                cls._known.clear()
            else:
                cls._known.pop(table_path(path), None)

    def exists(self) -> bool:
        """Whether there is a table, that is, a log with a commit or a checkpoint."""
        if self._latest is not None and self._is_current(self._latest.version):
            return True
        return not Listing(self.store.names_from(LOG)).is_empty

    def require(self) -> None:
        """Raise NotADeltaTable or EmptyLog unless there is a table."""
        if not self.exists():
            raise _no_table(self.store)

    def update(self) -> Snapshot:
        """Read commits since the last call and return the newest version."""
        with self._lock:
            latest = self._latest
            if latest is not None and self._is_current(latest.version):
                return self._refresh(latest)
            self._snapshots.clear()
            return self._set_latest(self._load(None))

    def snapshot(self, version: int | None = None, timestamp: object = None) -> Snapshot:
        """Return the table at a version or a time (text, datetime, or milliseconds), by default the newest."""
        if version is None and timestamp is None:
            return self.update()
        with self._lock:
            latest = self.update()
            if timestamp is not None:
                if version is not None:
                    raise VersionNotFound("both a version and a timestamp were given", "Give one of them.")
                version = histories.version_at(self.store, latest, timestamp)
            assert version is not None  # noqa: S101 - one of the two was given
            if version == latest.version:
                return latest
            if version > latest.version or version < 0:
                raise VersionNotFound(
                    f"there is no version {version}: {self.path} is at version {latest.version}"
                )
            if version in self._snapshots:
                self._snapshots.move_to_end(version)
                return self._snapshots[version]
            return self._remember(self._load(version))

    def history(self, limit: int | None = None) -> list[histories.HistoryEntry]:
        """The commits that still exist, newest first."""
        return histories.history(self.store, self.update(), limit)

    def commits(self, first: int, last: int) -> list[list[dict[str, Any]]]:
        """The parsed actions of these commits, ascending; FileNotFoundError if one is gone."""
        return histories.read_commits(self.store, first, last)

    def begin(self) -> Transaction:
        """Begin a transaction on the newest version, or on none if there is no table yet."""
        try:
            snapshot = self.update()
        except NotADeltaTable:
            snapshot = None
        return Transaction(self, snapshot)

    def checkpoint(self, snapshot: Snapshot | None = None) -> None:
        """Write a checkpoint of a version, by default the newest, and the hint that points to it."""
        write_checkpoint(snapshot or self.update(), int(time.time() * 1000))

    def clean_up(self, now_ms: int | None = None) -> list[str]:
        """Delete commits and checkpoints whose retention is over; return their names."""
        return clean_up(self.update(), now_ms or int(time.time() * 1000))

    def committed(self, version: int, actions: Iterable[Mapping[str, Any]]) -> Snapshot:
        """Take in the version that this process just committed, without reading it again, and return its snapshot."""
        with self._lock:
            latest = self._latest
            if latest is not None and latest.version == version - 1:
                return self._set_latest(Snapshot(self.store, version, latest.state.advanced([actions])))
            return self.update()

    def _refresh(self, latest: Snapshot) -> Snapshot:
        contents = []
        version = latest.version
        while True:
            try:
                contents.append(self.store.read(f"{LOG}/{commit_name(version + 1)}"))
            except FileNotFoundError:
                break
            version += 1
        if not contents:
            return latest
        state = latest.state.read(range(latest.version + 1, version + 1), contents)
        return self._set_latest(Snapshot(self.store, version, state))

    def _is_current(self, version: int) -> bool:
        """Whether the cached state belongs to the files that exist now, and not to a table that they replaced."""
        return (
            self._identity is not None
            and self.store.identity(f"{LOG}/{commit_name(version)}") == self._identity
        )

    def _set_latest(self, snapshot: Snapshot) -> Snapshot:
        self._identity = self.store.identity(f"{LOG}/{commit_name(snapshot.version)}")
        self._latest = snapshot
        return self._remember(snapshot)

    def _remember(self, snapshot: Snapshot) -> Snapshot:
        self._snapshots[snapshot.version] = snapshot
        while len(self._snapshots) > 1 and (
            len(self._snapshots) > _KEPT_SNAPSHOTS or self._kept_files() > _KEPT_FILES
        ):
            self._snapshots.popitem(last=False)
        return snapshot

    def _kept_files(self) -> int:
        """The number of files in memory for the cached versions; a shared base counts once."""
        bases = {id(snapshot.state.base): snapshot.state.base for snapshot in self._snapshots.values()}
        return sum(base.count for base in bases.values() if not base.is_remote)

    def _load(self, version: int | None) -> Snapshot:
        return load(self.store, version, self.spark)


def load(store: LogStore, version: int | None = None, spark: SparkSession | None = None) -> Snapshot:
    """Read a version from the files alone. Bad checkpoints are replaced by older ones or commits if that is safe."""
    hint = last_checkpoint.read_hint(store)
    first = hint.version if hint is not None and (version is None or version >= hint.version) else None
    bad: dict[Checkpoint, CorruptCheckpoint] = {}
    compacted = True
    problem: Exception | None = None
    for _ in range(_TRIES):
        listing = Listing(store.names_from(LOG, prefix(first) if first is not None else ""))
        if first is not None and not any(checkpoint.version >= first for checkpoint in listing.checkpoints):
            _log.warning("%s: the hint to a checkpoint of version %s points nowhere", store.root, first)
            first = None
            continue
        if listing.is_empty:
            raise _no_table(store)
        try:
            segment = listing.segment(version, without=bad, compacted=compacted)
        except LogGap as gap:
            if first is not None:
                first = None
                continue
            if bad:
                raise next(iter(bad.values())) from gap
            raise
        try:
            return Snapshot(store, segment.version, _state_of(store, segment, spark))
        except CorruptCheckpoint as damage:
            assert segment.checkpoint is not None  # noqa: S101 - it was read
            _log.warning("%s: %s; looking for an older one, or all commits", store.root, damage.cause)
            bad[segment.checkpoint] = damage
            first = None
        except CorruptLog as damage:
            if not compacted or all(span.first == span.last for span in segment.ranges):
                raise
            _log.warning("%s: %s; reading the commits instead of compactions", store.root, damage.cause)
            compacted = False
        except FileNotFoundError as gone:  # another process cleaned up between listing and reading
            problem = gone
            first = None
    if bad:
        raise next(iter(bad.values()))
    raise LogGap(f"files of the log vanish while they are read: {problem}") from problem


def _state_of(store: LogStore, segment: Segment, spark: SparkSession | None) -> State:
    state = (
        read_checkpoint(store, segment.checkpoint, spark) if segment.checkpoint else State(Base(), Overlay())
    )
    if not segment.ranges:
        return state
    contents = store.read_many([f"{LOG}/{span.name}" for span in segment.ranges])
    versions = [
        span.last if span.first == span.last else f"{span.first} to {span.last}" for span in segment.ranges
    ]
    return state.read(versions, contents)


def _no_table(store: LogStore) -> DeltaError:
    if store.exists(LOG):
        return EmptyLog(f"the log of {store.root} has no commit and no checkpoint")
    return NotADeltaTable(f"{store.root} is no Delta table: it has no folder {LOG}")
