"""Mutants of the engine that a person wrote, as files: what goes wrong, and the edits that make it go wrong.

`semantic/` has plausible mistakes that break a promise of the Delta protocol. `harmless/` has changes that break none.
A file's name is the mutant's name. Each edit replaces a text that must occur exactly once in its file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

__all__ = ["HARMLESS", "SEMANTIC", "BadMutant", "Edit", "Mutant", "apply", "load", "load_all"]

HERE = Path(__file__).resolve().parent
SEMANTIC = HERE / "semantic"
HARMLESS = HERE / "harmless"


class BadMutant(Exception):
    """A mutant can't be read, or does not fit the source that it should change."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces a text that occurs exactly once in a file, whose path is relative to the repository."""

    file: str
    find: str
    replace: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of the engine: what goes wrong for whom, what it breaks of the protocol, and the edits."""

    name: str
    sentence: str
    protocol: str
    edits: tuple[Edit, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it changes, each once."""
        return tuple(dict.fromkeys(edit.file for edit in self.edits))


def load(path: Path) -> Mutant:
    """Read one mutant; BadMutant says what is wrong with the file."""
    try:
        body = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise BadMutant(f"the mutant {path} can't be read: {problem}") from problem
    _refuse_other_keys(body, ("sentence", "protocol", "edit"), f"the mutant {path}")
    edits = body["edit"]
    if not isinstance(edits, list) or not edits:
        raise BadMutant(f"the mutant {path} has no edit; write at least one table [[edit]]")
    return Mutant(
        path.stem,
        _text(body, "sentence", f"the mutant {path}"),
        _text(body, "protocol", f"the mutant {path}"),
        tuple(_edit(edit, f"edit {number} of the mutant {path}") for number, edit in enumerate(edits, 1)),
    )


def load_all(folder: Path) -> list[Mutant]:
    """Read all mutants of a folder, by name."""
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise BadMutant(f"there is no mutant in {folder}; mutants are files *.toml")
    return [load(path) for path in paths]


def apply(root: Path, mutant: Mutant) -> tuple[Path, ...]:
    """Change the copy of the package below `root`, and return the changed files; if one edit fails, change nothing.

    `root` is the folder that has the copy of `pyspark_delta`, as PYTHONPATH would name it.
    """
    texts: dict[Path, str] = {}
    for number, edit in enumerate(mutant.edits, 1):
        where = f"edit {number} of the mutant {mutant.name}"
        path = root / edit.file
        if path not in texts:
            try:
                texts[path] = path.read_text(encoding="utf-8")
            except OSError as problem:
                raise BadMutant(
                    f"{where} changes {edit.file}, which can't be read in {root}: {problem}"
                ) from problem
        count = texts[path].count(edit.find)
        if count != 1:
            found = "is not there" if not count else f"is there {count} times"
            raise BadMutant(
                f"{where} finds a text that {found} in {path}; it must be there exactly once. "
                f"Fit `find` to the source as it is now. The text begins: {edit.find.strip()[:80]!r}"
            )
        texts[path] = texts[path].replace(edit.find, edit.replace)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return tuple(texts)


def _edit(body: Any, where: str) -> Edit:
    if not isinstance(body, dict):
        raise BadMutant(f"{where} is {body!r}, not a table; write it as [[edit]]")
    _refuse_other_keys(body, ("file", "find", "replace"), where)
    file, find, replace = _text(body, "file", where), _text(body, "find", where), body["replace"]
    place = PurePosixPath(file)
    if place.is_absolute() or ".." in place.parts:
        raise BadMutant(
            f"{where} changes {file!r}; a path must be relative to the repository and stay inside"
        )
    if not isinstance(replace, str) or replace == find:
        raise BadMutant(f"{where} must replace its text by another text")
    return Edit(file, find, replace)


def _refuse_other_keys(body: Mapping[str, Any], wanted: Sequence[str], where: str) -> None:
    missing = [name for name in wanted if name not in body]
    unknown = [name for name in body if name not in wanted]
    if missing or unknown:
        lacks = f"lacks {', '.join(missing)}" if missing else f"has the unknown {', '.join(unknown)}"
        raise BadMutant(f"{where} {lacks}; it must have {', '.join(wanted)}, and nothing else")


def _text(body: Mapping[str, Any], name: str, where: str) -> str:
    value = body[name]
    if not isinstance(value, str) or not value.strip():
        raise BadMutant(f"{where} has the {name} {value!r}; it must be a text that is not empty")
    return value
