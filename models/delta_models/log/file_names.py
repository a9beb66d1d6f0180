"""Sort the file names in `_delta_log` by their meaning. Unknown names are listed and otherwise ignored."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

DIGITS = 20
_COMMIT_LENGTH = DIGITS + len(".json")
_CHECKSUM_LENGTH = DIGITS + len(".crc")
_CLASSIC = re.compile(r"(\d{20})\.checkpoint\.parquet")
_PART = re.compile(r"(\d{20})\.checkpoint\.(\d{10})\.(\d{10})\.parquet")
_NAMED = re.compile(r"(\d{20})\.checkpoint\.([0-9A-Za-z-]+)\.(json|parquet)")
_COMPACTION = re.compile(r"(\d{20})\.(\d{20})\.compacted\.json")

LAST_CHECKPOINT = "_last_checkpoint"
SIDECARS = "_sidecars"


@dataclass(frozen=True, slots=True)
class CheckpointName:
    """One checkpoint and its files. `kind` is classic, parts or named (V2 with a unique name)."""

    version: int
    kind: str
    files: tuple[str, ...]
    parts: int = 1

    @property
    def complete(self) -> bool:
        """Whether all its parts exist."""
        return len(self.files) == self.parts


@dataclass(frozen=True, slots=True)
class Compaction:
    """A log compaction of the commits `first` to `last`, both included."""

    first: int
    last: int
    name: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a log, sorted by meaning. `others` are the names without a meaning for readers."""

    commits: dict[int, str] = field(default_factory=dict)
    checkpoints: tuple[CheckpointName, ...] = ()
    compactions: tuple[Compaction, ...] = ()
    checksums: dict[int, str] = field(default_factory=dict)
    has_hint: bool = False
    others: tuple[str, ...] = ()

    @property
    def latest(self) -> int | None:
        """The newest version of a commit or a complete checkpoint; None without any."""
        newest = max(self.commits, default=-1)
        for checkpoint in self.checkpoints:
            if checkpoint.complete and checkpoint.version > newest:
                newest = checkpoint.version
        return None if newest < 0 else newest


def commit_name(version: int) -> str:
    """Return the name of a commit file."""
    return f"{version:020d}.json"


def checkpoint_name(version: int) -> str:
    """Return the name of a classic checkpoint."""
    return f"{version:020d}.checkpoint.parquet"


def checksum_name(version: int) -> str:
    """Return the name of a version checksum file."""
    return f"{version:020d}.crc"


def sort_names(names: Iterable[str]) -> Listing:
    """Return the names in a log's folder, sorted by meaning."""
    commits: dict[int, str] = {}
    checksums: dict[int, str] = {}
    rest: list[str] = []
    for name in names:
        if len(name) == _COMMIT_LENGTH and name.endswith(".json") and name[:DIGITS].isdecimal():
            commits[int(name[:DIGITS])] = name
        elif len(name) == _CHECKSUM_LENGTH and name.endswith(".crc") and name[:DIGITS].isdecimal():
            checksums[int(name[:DIGITS])] = name
        else:
            rest.append(name)
    checkpoints, compactions, others = _sort_rest(sorted(rest))
    hint = LAST_CHECKPOINT in others
    unknown = tuple(name for name in others if name != LAST_CHECKPOINT)
    return Listing(dict(sorted(commits.items())), checkpoints, compactions, checksums, hint, unknown)


def _sort_rest(names: list[str]) -> tuple[tuple[CheckpointName, ...], tuple[Compaction, ...], list[str]]:
    checkpoints: list[CheckpointName] = []
    parts: dict[tuple[int, int], dict[int, str]] = {}
    compactions: list[Compaction] = []
    others: list[str] = []
    for name in names:
        if match := _CLASSIC.fullmatch(name):
            checkpoints.append(CheckpointName(int(match[1]), "classic", (name,)))
        elif match := _PART.fullmatch(name):
            parts.setdefault((int(match[1]), int(match[3])), {})[int(match[2])] = name
        elif match := _NAMED.fullmatch(name):
            checkpoints.append(CheckpointName(int(match[1]), "named", (name,)))
        elif (match := _COMPACTION.fullmatch(name)) and int(match[1]) < int(match[2]):
            compactions.append(Compaction(int(match[1]), int(match[2]), name))
        else:
            others.append(name)
    for (version, count), files in parts.items():
        wanted = tuple(files[part] for part in range(1, count + 1) if part in files)
        checkpoints.append(CheckpointName(version, "parts", wanted, count))
    return (
        tuple(sorted(checkpoints, key=lambda checkpoint: (checkpoint.version, checkpoint.kind))),
        tuple(compactions),
        others,
    )
