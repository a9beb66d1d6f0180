"""A naive reader of the log, which takes its JSON lines as they are and confirms what the oracle reports.

It shares nothing with the oracle's reader and knows just enough to confirm an answer: which versions are
there, what the first commits hold, which files are left when removes are taken from adds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq

from conformance.corpus.cases import LOG

_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint\..*")
_NEWEST_READER = 3
_FEATURES = {
    "catalogManaged", "columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "typeWidening-preview",
    "v2Checkpoint", "vacuumProtocolCheck", "variantShredding", "variantShredding-preview", "variantType",
    "variantType-preview", "timeType-preview",
}  # fmt: skip
File = tuple[str, str | None]


@dataclass(slots=True)
class RawLog:
    """The lines of all commits, by version."""

    table: Path
    versions: list[int] = field(default_factory=list)
    checkpoints: list[int] = field(default_factory=list)
    lines: dict[int, list[Any]] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, table: Path) -> RawLog:
        """The log of a table."""
        raw = cls(table)
        folder = table / LOG
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            if match := _COMMIT.fullmatch(path.name):
                raw._read(int(match[1]), path)
            elif match := _CHECKPOINT.fullmatch(path.name):
                raw.checkpoints.append(int(match[1]))
        return raw

    def _read(self, version: int, path: Path) -> None:
        self.versions.append(version)
        kept = self.lines.setdefault(version, [])
        for line in path.read_bytes().splitlines():
            if not line.strip():
                continue
            try:
                kept.append(json.loads(line))
            except ValueError:
                self.broken.append(version)

    def actions(self, kind: str) -> Iterator[dict[str, Any]]:
        """The actions of a kind, in order."""
        for version in self.versions:
            for line in self.lines[version]:
                if isinstance(line, dict) and isinstance(line.get(kind), dict):
                    yield line[kind]

    @property
    def gap(self) -> bool:
        """Whether a version is missing that no checkpoint stands in for."""
        start = max(
            (checkpoint for checkpoint in self.checkpoints if checkpoint in self.versions), default=-1
        )
        later = [version for version in self.versions if version > start]
        return bool(later) and later != list(range(start + 1, start + 1 + len(later)))

    @property
    def whole(self) -> bool:
        """Whether the commits from version 0 on are all there and can be read."""
        return self.versions == list(range(len(self.versions))) and bool(self.versions) and not self.broken

    @property
    def needs(self) -> str:
        """What a reader of its protocols would have to know and does not: `protocol-version`, `protocol-features`."""
        for protocol in self.actions("protocol"):
            if int(protocol.get("minReaderVersion", 0)) > _NEWEST_READER:
                return "protocol-version"
            if set(protocol.get("readerFeatures") or ()) - _FEATURES:
                return "protocol-features"
        return ""

    def live(self) -> set[File]:
        """The files that are left, if the log is whole: path without scheme, and the id of the deletion vector."""
        files: set[File] = set()
        for version in self.versions:
            lines = [line for line in self.lines[version] if isinstance(line, dict)]
            files -= {_file(line["remove"]) for line in lines if line.get("remove")}
            files |= {_file(line["add"]) for line in lines if line.get("add")}
        return files

    def missing(self, path: str) -> bool:
        """Whether the data file of a path is not there."""
        plain = unquote(re.sub(r"^file:/*", "/", path))
        return not (self.table / plain).exists()

    def confirms(self, reason: str) -> bool:
        """Whether these lines show a reason for which the table was refused."""
        match reason:
            case "NoTable":
                return not self.versions and not self.checkpoints
            case "protocol-version" | "protocol-features":
                return self.needs == reason
            case "log.versions-contiguous" | "log.oldest-version-has-checkpoint":
                return self.gap
            case "log.first-commit-has-protocol":
                return not self.checkpoints and not any(self.actions("protocol"))
            case "log.first-commit-has-metadata":
                return not self.checkpoints and not any(self.actions("metaData"))
            case "log.commit-is-json-lines":
                return bool(self.broken)
            case "checkpoint.one-protocol":
                return self._checkpoint_lacks("protocol")
            case "checkpoint.one-metadata":
                return self._checkpoint_lacks("metaData")
        return False

    def _checkpoint_lacks(self, kind: str) -> bool:
        """Whether there is a checkpoint in one Parquet file that has no action of a kind."""
        for path in (self.table / LOG).glob("*.checkpoint.parquet"):
            column = pq.read_table(path, columns=[kind]).column(0)
            if column.null_count == len(column):
                return True
        return False


def _file(action: dict[str, Any]) -> File:
    path = re.sub(r"^file:/*", "/", str(action.get("path")))
    vector = action.get("deletionVector")
    if not vector:
        return path, None
    offset = f"@{vector['offset']}" if vector.get("offset") is not None else ""
    return path, f"{vector['storageType']}{vector['pathOrInlineDv']}{offset}"
