"""Finds the files of a table that no commit names: those that a crash has left there."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

from conformance.fault_injection import file_roles
from delta_models.log.deletion_vectors import DeletionVector

NAMED = frozenset({file_roles.DATA, file_roles.CHANGE, file_roles.VECTOR})
SWEPT = frozenset({file_roles.DATA, file_roles.CHANGE})
STAGED = "-staging"


class CommitTexts:
    """The texts of all commits that a log has had: what the log's clean-up took away was named all the same."""

    def __init__(self, texts: Mapping[tuple[str, int], str] | None = None) -> None:
        self._texts = dict(texts or {})

    def copy(self) -> CommitTexts:
        """The same texts, for a copy of the table."""
        return CommitTexts(self._texts)

    def remember(self, table: Path) -> str:
        """Read the commits that are new; returns the text of all, without escapes, with the names of their vectors."""
        for path in sorted((table / "_delta_log").glob("*.json")):
            key = path.name, path.stat().st_size
            if key not in self._texts:
                self._texts[key] = _without_escapes(path.read_text("utf-8"))
        return "".join(self._texts.values())


def find_orphans(table: Path, commits: CommitTexts | None = None) -> dict[str, str]:
    """The orphaned files, as paths below the table with their roles. `commits` are those that the log once had.

    They are temporary files of any kind; data files, change files and files of deletion vectors that no commit names;
    and Hadoop's block checksums of those and of files that are not there.
    """
    named = (commits or CommitTexts()).remember(table)
    files = {path: file_roles.role_of(path) for path in files_of(table)}
    left = {
        path: role
        for path, role in files.items()
        if role == file_roles.STAGING
        or role.endswith(STAGED)
        or (role in NAMED and path.split("/")[-1] not in named)
    }
    return left | {
        path: role
        for path, role in files.items()
        if role == file_roles.SIDE and ((owner := _owner(path)) not in files or owner in left)
    }


def vacuumable(left: Mapping[str, str]) -> set[str]:
    """Those of them that a full vacuum removes for sure.

    Files of deletion vectors are not among them, nor is what lies in hidden folders: no vacuum of delta-spark looks
    into those.
    """
    return {path for path, role in left.items() if role in SWEPT and not _hidden(path)}


def by_role(left: Mapping[str, str]) -> dict[str, int]:
    """How many there are of each kind."""
    return dict(sorted(Counter(left.values()).items()))


def files_of(table: Path) -> Iterator[str]:
    """The paths of all files below a table."""
    for folder, _, names in os.walk(table):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), table)  # noqa: PTH118 - `walk` speaks in texts


def _owner(path: str) -> str:
    """The file whose block checksum this is."""
    folder, _, name = path.rpartition("/")
    owner = name.removeprefix(".").removesuffix(".crc")
    return f"{folder}/{owner}" if folder else owner


def _hidden(path: str) -> bool:
    folders = path.split("/")[:-1]
    return any(
        folder.startswith(("_", ".")) and "=" not in folder and folder != "_change_data" for folder in folders
    )


def _without_escapes(text: str) -> str:
    vectors = _vectors(text) if "deletionVector" in text else ()
    return unquote("".join((text, *vectors)))


def _vectors(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for action in json.loads(line).values() if line.strip() else ():
            form = action.get("deletionVector") if isinstance(action, dict) else None
            if form:
                vector = DeletionVector(form["storageType"], form["pathOrInlineDv"], 0, 0)
                if (file := vector.file(Path())) is not None:
                    yield file.name
