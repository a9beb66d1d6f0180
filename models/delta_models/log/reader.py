"""Load a table's states and rows from its folder, without any engine.

Files of the log never change once they exist, so the reader caches what it parsed by name. Before it uses a cached
state, it checks that the last commit file of that state is unchanged. If not, it starts over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, tzinfo
from itertools import chain
from pathlib import Path

from delta_models.log import changes as change_feed
from delta_models.log import commit_timestamps
from delta_models.log.actions import Add, Metadata, Protocol
from delta_models.log.checkpoints import Checkpoint, read_checkpoint
from delta_models.log.checksums import Checksum, read_checksum
from delta_models.log.commits import Commit, parse_commit
from delta_models.log.errors import (
    CorruptLog,
    LogError,
    MissingVersion,
    NoTable,
    UnsupportedFeature,
)
from delta_models.log.file_cache import StoredColumns
from delta_models.log.file_names import (
    CheckpointName,
    Compaction,
    Listing,
    checksum_name,
    commit_name,
    sort_names,
)
from delta_models.log.row_reader import TableFiles
from delta_models.log.state import Snapshot, apply, replay
from delta_models.requirements.base import Checked
from delta_models.values import Row, Rows

READER_FEATURES = frozenset({
    "catalogManaged", "columnMapping", "deletionVectors", "timeType-preview", "timestampNtz", "typeWidening",
    "typeWidening-preview", "v2Checkpoint", "vacuumProtocolCheck", "variantShredding", "variantShredding-preview",
    "variantType", "variantType-preview",
})  # fmt: skip
NEWEST_READER = 3
_KEPT_SNAPSHOTS = 128
Stamp = tuple[int, int, int]


class LogReader:
    """Reads the log and the rows of one table.

    Timestamps in partition values without an offset are local time of `zone`. A `copied` table has lost the
    modification times of its commits, so the times in commitInfo replace them. `stored` caches the contents of data
    files; readers of the same table may share it.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        zone: tzinfo = UTC,
        copied: bool = False,
        stored: StoredColumns | None = None,
    ) -> None:
        self.copied = copied
        self.stored = stored
        self.folder = Path(folder)
        self.log = self.folder / "_delta_log"
        self.zone = zone
        self.forget()

    def forget(self) -> None:
        """Drop everything from the caches."""
        self._commits: dict[int, Commit] = {}
        self._stamps: dict[str, Stamp] = {}
        self._changed: set[str] = set()
        self._checksums: dict[int, tuple[Stamp | None, Checksum]] = {}
        self._changed_checksums: set[str] = set()
        self._forget_states()

    def _forget_states(self) -> None:
        """Drop what was derived from commits. The commits stay, so that a later change of one is noticed."""
        self._snapshots: dict[int, Snapshot] = {}
        self._checkpoints: dict[tuple[str, ...], Checkpoint] = {}
        self._violations: dict[str, tuple[Stamp | None, list[Checked]]] = {}
        self.files = TableFiles(self.folder, self.zone, self.stored)

    # The log

    def listing(self) -> Listing:
        """Return the files of the log as they are now."""
        try:
            return sort_names(os.listdir(self.log))  # noqa: PTH208 - names are all that is wanted
        except (FileNotFoundError, NotADirectoryError):
            return Listing()

    def latest_version(self) -> int | None:
        """Return the newest version; None if there is no table."""
        return self.listing().latest

    def commit(self, version: int) -> Commit:
        """Return one parsed commit. Raises MissingVersion if its file does not exist."""
        name = commit_name(version)
        kept = self._commits.get(version)
        path = os.path.join(self.log, name)  # noqa: PTH118 - thousands of these
        if kept is not None and self._stamps.get(name) == _stamp(path):
            return kept
        return self._read_commit(version, name, path)

    def commits(self, first: int, last: int | None = None) -> tuple[Commit, ...]:
        """Return the commits from version `first` to `last`, both included; without `last` to the newest."""
        if last is None:
            last = max(self.listing().commits, default=-1)
        return tuple(self.commit(version) for version in range(first, last + 1))

    def checkpoint(self, name: CheckpointName) -> Checkpoint:
        """Return one parsed checkpoint. Raises CorruptLog if it is unreadable."""
        kept = self._checkpoints.get(name.files)
        if kept is None:
            kept = self._checkpoints[name.files] = read_checkpoint(self.log, name)
        return kept

    def snapshot(self, version: int | None = None) -> Snapshot:
        """Return the state at a version, or at the newest one. Raises LogError."""
        listing = self.listing()
        latest = listing.latest
        if latest is None:
            raise NoTable(f"there is no Delta table in {self.folder}")
        target = latest if version is None else version
        if not 0 <= target <= latest:
            raise MissingVersion(f"there is no version {target}; the newest is {latest}")
        starts = self._starts(listing, target)
        base = self._kept_base(listing, starts, target)
        state = self._advance(base, target) if base is not None else self._load(starts, target)
        check_readable(state)
        self._keep(state)
        return state

    def replay_from(
        self, version: int, start: CheckpointName | None, compactions: tuple[Compaction, ...] = ()
    ) -> Snapshot:
        """Return the state at a version, loaded from one checkpoint or from the commits alone, without caches.

        Log compactions replace the commits that they cover. Raises LogError.
        """
        base = None if start is None else self.checkpoint(start).snapshot()
        first = 0 if start is None else start.version + 1
        state = replay(base, self._chain(first, version, compactions))
        if state is None:
            raise MissingVersion(f"there is no version {version}")
        return state

    def load_paths(self, version: int) -> tuple[tuple[CheckpointName | None, tuple[Compaction, ...]], ...]:
        """Return all ways to load a version: from each checkpoint or none, with each compaction or none."""
        listing = self.listing()
        routes: list[tuple[CheckpointName | None, tuple[Compaction, ...]]] = []
        for start in self._starts(listing, version):
            first = 0 if start is None else start.version + 1
            routes.append((start, ()))
            routes += [
                (start, (compaction,))
                for compaction in listing.compactions
                if first <= compaction.first and compaction.last <= version
            ]
        return tuple(routes)

    def _chain(self, first: int, last: int, compactions: tuple[Compaction, ...]) -> Iterator[Commit]:
        by_first = {entry.first: entry for entry in compactions}
        version = first
        while version <= last:
            compaction = by_first.get(version)
            if compaction is None or compaction.last > last:
                yield self.commit(version)
                version += 1
            else:
                data = (self.log / compaction.name).read_bytes()
                yield parse_commit(compaction.last, compaction.name, data)
                version = compaction.last + 1

    def starting_points(self, version: int) -> tuple[CheckpointName | None, ...]:
        """Return the checkpoints from which a version can be loaded; None stands for the commits alone."""
        return tuple(self._starts(self.listing(), version))

    def cached_violations(self, name: str, judge: Callable[[], Iterable[Checked]]) -> list[Checked]:
        """Return what `judge` judged in a file of the log, cached until the file changes."""
        stamp = _stamp(str(self.log / name))
        kept = self._violations.get(name)
        if kept is None or kept[0] != stamp:
            kept = self._violations[name] = (stamp, list(judge()))
        return kept[1]

    def checksum(self, version: int) -> Checksum | None:
        """Return the version checksum; None without one. Raises CorruptLog if it is unreadable."""
        stamp = _stamp(str(self.log / checksum_name(version)))
        checksum = read_checksum(self.log, version)
        kept = self._checksums.get(version)
        if checksum is not None:
            if kept is not None and kept[1].form != checksum.form:
                self._changed_checksums.add(checksum_name(version))
            self._checksums[version] = (stamp, checksum)
        return checksum

    def describe(self, version: int | None = None) -> tuple[Protocol, Metadata]:
        """Return protocol and metadata of a version, from its checksum if its log is corrupt."""
        try:
            state = self.snapshot(version)
        except CorruptLog:
            wanted = self.latest_version() if version is None else version
            checksum = None if wanted is None else self.checksum(wanted)
            if checksum is None:
                raise
            return checksum.protocol, checksum.metadata
        return state.protocol, state.metadata

    def commit_times(self) -> dict[int, int]:
        """Return the commit time of each version, in milliseconds since the epoch."""
        return commit_timestamps.commit_times(self, from_info=self.copied)

    def version_at(self, micros: int, *, beyond: bool = True) -> int:
        """Return the version that a time means. Raises MissingVersion.

        `beyond` is that of `commit_timestamps.version_at`.
        """
        return commit_timestamps.version_at(self, micros, from_info=self.copied, beyond=beyond)

    def changes(self, first: int, last: int | None = None) -> Rows:
        """Return the change feed of the versions `first` to `last`, both included. Raises NoChangeData."""
        return change_feed.changes(self, first, last, from_info=self.copied)

    # The rows

    def rows(self, snapshot: Snapshot) -> Rows:
        """Return the rows of a state, with deletion vectors applied and partition values from the log."""
        schema = snapshot.schema
        return Rows(
            schema, tuple(chain.from_iterable(self.file_rows(snapshot, add) for add in live_adds(snapshot)))
        )

    def file_rows(self, snapshot: Snapshot, add: Add) -> tuple[Row, ...]:
        """Return the rows that one live file contributes to a state."""
        return self.files.contribution(snapshot, add).rows

    def deleted(self, add: Add) -> frozenset[int]:
        """Return the positions of the rows that the deletion vector of a file deletes."""
        return self.files.deleted(add)

    def changed_commits(self) -> list[str]:
        """Return the names of commits whose contents have changed since the last call."""
        for version, kept in list(self._commits.items()):
            path = os.path.join(self.log, kept.name)  # noqa: PTH118 - as `commit`
            stamp = _stamp(path)
            if stamp is not None and stamp != self._stamps.get(kept.name):
                self._read_commit(version, kept.name, path)
        changed, self._changed = sorted(self._changed), set()
        return changed

    def changed_checksums(self) -> list[str]:
        """Return the names of version checksums whose contents have changed since the last call."""
        for version, (stamp, _) in list(self._checksums.items()):
            now = _stamp(str(self.log / checksum_name(version)))
            if now is not None and now != stamp:
                try:
                    self.checksum(version)
                except CorruptLog:
                    self._changed_checksums.add(checksum_name(version))
                    del self._checksums[version]
        changed, self._changed_checksums = sorted(self._changed_checksums), set()
        return changed

    # Loading

    def _read_commit(self, version: int, name: str, path: str) -> Commit:
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise MissingVersion(f"there is no commit file {name}") from error
        try:
            status = os.fstat(descriptor)
            data = _read_all(descriptor, status.st_size)
        finally:
            os.close(descriptor)
        self._stamps[name] = (status.st_ino, status.st_size, status.st_mtime_ns)
        kept = self._commits.get(version)
        parse = parse_commit if self.stored is None else self.stored.commit
        commit = self._commits[version] = parse(version, name, data)
        if kept is not None and kept != commit:
            self._changed.add(name)
            self._forget_states()
        return commit

    def _starts(self, listing: Listing, target: int) -> list[CheckpointName | None]:
        """The checkpoints from which `target` can be reached, newest first; then None if version 0 can be used."""
        first = target
        while first in listing.commits:
            first -= 1
        starts: list[CheckpointName | None] = [
            checkpoint
            for checkpoint in listing.checkpoints
            if checkpoint.complete and first <= checkpoint.version <= target
        ]
        starts.reverse()
        if first < 0:
            starts.append(None)
        if not starts:
            raise _unreachable(listing, target, first)
        return starts

    def _kept_base(
        self, listing: Listing, starts: list[CheckpointName | None], target: int
    ) -> Snapshot | None:
        oldest = starts[-1]
        floor = 0 if oldest is None else oldest.version
        for version in sorted(self._snapshots, reverse=True):
            if floor <= version <= target and version in listing.commits:
                name = commit_name(version)
                if self._stamps.get(name) == _stamp(str(self.log / name)):
                    return self._snapshots[version]
                self._forget_states()
                return None
        return None

    def _advance(self, base: Snapshot, target: int) -> Snapshot:
        state = base
        if target - base.version > 8:
            return replay(base, (self.commit(newer) for newer in range(base.version + 1, target + 1))) or base
        for version in range(base.version + 1, target + 1):
            state = apply(state, self.commit(version))
            if version != target:
                self._keep(state)
        return state

    def _load(self, starts: list[CheckpointName | None], target: int) -> Snapshot:
        failure: LogError | None = None
        for start in starts:
            try:
                return self.replay_from(target, start)
            except CorruptLog as error:
                failure = failure or error
        raise failure or MissingVersion(f"there is no version {target}")

    def _keep(self, snapshot: Snapshot) -> None:
        name = commit_name(snapshot.version)
        if name not in self._stamps:
            stamp = _stamp(str(self.log / name))
            if stamp is None:
                return
            self._stamps[name] = stamp
        self._snapshots[snapshot.version] = snapshot
        while len(self._snapshots) > _KEPT_SNAPSHOTS:
            del self._snapshots[next(iter(self._snapshots))]


def check_readable(snapshot: Snapshot) -> None:
    """Raise UnsupportedFeature unless this reader supports everything that the table's protocol asks of readers."""
    protocol = snapshot.protocol
    if protocol.min_reader > NEWEST_READER:
        raise UnsupportedFeature(f"the table needs reader version {protocol.min_reader}")
    unknown = sorted(set(protocol.reader_features or ()) - READER_FEATURES)
    if protocol.min_reader == NEWEST_READER and unknown:
        raise UnsupportedFeature(f"the table needs the reader features {', '.join(unknown)}")


def live_adds(snapshot: Snapshot) -> Iterable[Add]:
    """Return the live files of a state."""
    return snapshot.live.values()


def _unreachable(listing: Listing, target: int, gap: int) -> LogError:
    if target in listing.commits and any(version < gap for version in listing.commits):
        return CorruptLog(
            f"the log has no commit {gap}, and no checkpoint behind it leads to version {target}"
        )
    if any(checkpoint.version <= target for checkpoint in listing.checkpoints if checkpoint.complete):
        return CorruptLog(
            f"the log has no commit {gap}, and no checkpoint behind it leads to version {target}"
        )
    if not any(checkpoint.complete for checkpoint in listing.checkpoints):
        return CorruptLog(f"the log has neither commit {gap} nor a checkpoint to begin with")
    return MissingVersion(f"version {target} can no longer be reconstructed: commit {gap} is gone")


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - thousands of these
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _read_all(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)
