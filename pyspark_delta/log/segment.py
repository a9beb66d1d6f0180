"""Choose the log files that make up a version: the newest complete checkpoint, and later commits or compactions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pyspark_delta.exceptions import EmptyLog, LogGap, VersionNotFound
from pyspark_delta.log.names import CheckpointFile, checkpoint_file, commit_version, compaction_range

__all__ = ["Checkpoint", "CommitRange", "Listing", "Segment"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """All files of one complete checkpoint."""

    version: int
    files: tuple[CheckpointFile, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its files, in order."""
        return tuple(file.name for file in self.files)


@dataclass(frozen=True, slots=True)
class CommitRange:
    """A commit, or a compaction of several commits."""

    first: int
    last: int
    name: str


@dataclass(frozen=True, slots=True)
class Segment:
    """The files to read for a version."""

    version: int
    checkpoint: Checkpoint | None
    ranges: tuple[CommitRange, ...]


class Listing:
    """A listing of `_delta_log`, sorted by kind; unknown names are ignored."""

    def __init__(self, names: Iterable[str]) -> None:
        self.commits: dict[int, str] = {}
        self.compactions: dict[int, CommitRange] = {}
        parts: dict[tuple[int, str], list[CheckpointFile]] = {}
        for name in names:
            version = commit_version(name)
            if version is not None:
                self.commits[version] = name
            elif (file := checkpoint_file(name)) is not None:
                parts.setdefault((file.version, _copy(file)), []).append(file)
            elif (span := compaction_range(name)) is not None:
                known = self.compactions.get(span[0])
                if known is None or known.last < span[1]:
                    self.compactions[span[0]] = CommitRange(span[0], span[1], name)
        self.checkpoints = sorted(
            (
                Checkpoint(version, tuple(sorted(files, key=lambda file: file.part)))
                for (version, _), files in parts.items()
                if len(files) == files[0].parts
            ),
            key=lambda checkpoint: checkpoint.version,
        )

    @property
    def is_empty(self) -> bool:
        """Whether there are no files to make a version of."""
        return not self.commits and not self.checkpoints

    @property
    def latest(self) -> int:
        """The newest version."""
        newest = max(self.commits, default=-1)
        return max(newest, self.checkpoints[-1].version) if self.checkpoints else newest

    @property
    def earliest(self) -> int:
        """The oldest version that these files can make; `latest` if there is none below it."""
        first = min(self.commits, default=None)
        if first == 0:
            return 0
        return self.checkpoints[0].version if self.checkpoints else (first or 0)

    def segment(
        self, version: int | None = None, *, without: Collection[Checkpoint] = (), compacted: bool = True
    ) -> Segment:
        """The files for a version, by default the newest; `without` has the checkpoints that are damaged."""
        if self.is_empty:
            raise EmptyLog("the log has no commit and no checkpoint")
        target = self.latest if version is None else version
        if target > self.latest or target < 0:
            raise VersionNotFound(f"there is no version {target}: the table is at version {self.latest}")
        usable = [
            candidate
            for candidate in self.checkpoints
            if candidate.version <= target and candidate not in without
        ]
        checkpoint = usable[-1] if usable else None
        start = checkpoint.version + 1 if checkpoint else 0
        if checkpoint is None and start not in self.commits:
            self._refuse(target, without)
        return Segment(target, checkpoint, tuple(self._ranges(start, target, compacted)))

    def _ranges(self, start: int, target: int, compacted: bool) -> Sequence[CommitRange]:
        ranges = []
        version = start
        while version <= target:
            compaction = self.compactions.get(version) if compacted else None
            if compaction is not None and compaction.last <= target:
                ranges.append(compaction)
                version = compaction.last + 1
                continue
            name = self.commits.get(version)
            if name is None:
                raise LogGap(
                    f"the commit of version {version} is missing, needed for version {target} of the table "
                    f"(there are {_spans(self.commits)})"
                )
            ranges.append(CommitRange(version, version, name))
            version += 1
        return ranges

    def _refuse(self, target: int, without: Collection[Checkpoint]) -> None:
        first = min((version for version in self.commits if version <= target), default=None)
        later = [checkpoint.version for checkpoint in self.checkpoints if checkpoint not in without]
        if later and not without and self.latest >= later[0] > target:
            raise VersionNotFound(
                f"version {target} of the table is no longer there: its commits were cleaned up, the oldest "
                f"version is {later[0]}"
            )
        have = f"the first of its commits is {first}" if first is not None else "none of its commits is there"
        raise LogGap(f"version {target} of the table needs the commits from 0 on or a checkpoint, but {have}")


def _copy(file: CheckpointFile) -> str:
    """What identifies one of several checkpoints of the same version."""
    return f"{file.form}{file.parts}" if file.form != "uuid" else file.name


def _spans(versions: Collection[int]) -> str:
    spans: list[list[int]] = []
    for version in sorted(versions):
        if spans and spans[-1][1] == version - 1:
            spans[-1][1] = version
        else:
            spans.append([version, version])
    texts = [f"{first}-{last}" if first < last else str(first) for first, last in spans[:6]]
    return "commits " + ", ".join(texts) + (" ..." if len(spans) > 6 else "") if texts else "no commits"
