"""Make and parse the names of files in `_delta_log`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "LAST_CHECKPOINT",
    "LOG",
    "SIDECARS",
    "CheckpointFile",
    "checkpoint_file",
    "checkpoint_part_name",
    "checksum_name",
    "classic_checkpoint_name",
    "commit_name",
    "commit_version",
    "compaction_range",
    "prefix",
    "version_of",
]

LOG = "_delta_log"
SIDECARS = "_sidecars"
LAST_CHECKPOINT = "_last_checkpoint"

_CHECKPOINT = re.compile(
    r"(?P<version>\d{20})\.checkpoint"
    r"(?:\.(?P<part>\d{10})\.(?P<parts>\d{10})|\.(?P<uuid>[0-9a-fA-F-]{36}))?"
    r"\.(?P<format>parquet|json)",
    re.ASCII,
)
_COMPACTION = re.compile(r"(\d{20})\.(\d{20})\.compacted\.json", re.ASCII)


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """What the name of a checkpoint's file says."""

    name: str
    version: int
    part: int = 1
    parts: int = 1
    form: Literal["classic", "multipart", "uuid"] = "classic"
    json: bool = False


def prefix(version: int) -> str:
    """The common prefix of all names of a version; it sorts before them."""
    return f"{version:020d}"


def commit_name(version: int) -> str:
    """The name of a commit."""
    return f"{version:020d}.json"


def checksum_name(version: int) -> str:
    """The name of a version's checksum file."""
    return f"{version:020d}.crc"


def classic_checkpoint_name(version: int) -> str:
    """The name of a checkpoint that is one file."""
    return f"{version:020d}.checkpoint.parquet"


def checkpoint_part_name(version: int, part: int, parts: int) -> str:
    """The name of one part of a checkpoint."""
    return f"{version:020d}.checkpoint.{part:010d}.{parts:010d}.parquet"


def commit_version(name: str) -> int | None:
    """The version that the file commits; None if it is no commit."""
    return int(name[:20]) if len(name) == 25 and name.endswith(".json") and _digits(name[:20]) else None


def version_of(name: str) -> int | None:
    """The version at the beginning of the name, for any kind of file."""
    return int(name[:20]) if len(name) > 21 and name[20] == "." and _digits(name[:20]) else None


def checkpoint_file(name: str) -> CheckpointFile | None:
    """The parsed name of a checkpoint's file; None for all other names."""
    match = _CHECKPOINT.fullmatch(name) if ".checkpoint." in name else None
    if match is None:
        return None
    version, is_json = int(match["version"]), match["format"] == "json"
    if match["uuid"]:
        return CheckpointFile(name, version, form="uuid", json=is_json)
    if is_json:
        return None
    if match["parts"]:
        part, parts = int(match["part"]), int(match["parts"])
        return CheckpointFile(name, version, part, parts, "multipart") if 1 <= part <= parts else None
    return CheckpointFile(name, version)


def compaction_range(name: str) -> tuple[int, int] | None:
    """The first and last version of a log compaction; None for all other names."""
    match = _COMPACTION.fullmatch(name) if name.endswith(".compacted.json") else None
    if match is None:
        return None
    first, last = int(match[1]), int(match[2])
    return (first, last) if first < last else None


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()
