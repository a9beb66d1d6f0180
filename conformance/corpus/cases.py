"""Find the cases below a folder, in the four layouts of reference tables.

    DAT         CASE/{test_case_info.json, delta/, expected/{latest,vN}/}          a question for each expected state
    acceptance  CASE/{test_info.json, delta/, specs/*.json, expected/SPEC/}         a question for each spec
    kernel      CASE/{delta/, expected/*.parquet}                                   a question for each table
    connectors  any/folders/{_delta_log/, ...}                                      a question for each table

A folder `delta` of a kernel case may hold several tables instead of being one. Folders without a log are no cases,
except in the acceptance layout, where that may be the point.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOG = "_delta_log"
_MARKS_OF_ACCEPTANCE = ("specs", "test_info.json", "table_info.json")
DAT, ACCEPTANCE, KERNEL, CONNECTORS = "dat", "acceptance", "kernel-golden", "connectors-golden"


class NoCases(ValueError):
    """There is nothing at a path, or nothing that looks like a reference table. `cure` says what to do instead."""

    def __init__(self, message: str, cure: str) -> None:
        super().__init__(message)
        self.cure = cure


@dataclass(frozen=True, slots=True)
class Question:
    """One line of the result: a spec, a version or a table.

    `kind` is the spec's type, `version` or `table`; `form` what a spec says; `rows` the folder of the expected rows.
    """

    corpus: str
    case: str
    spec: str
    kind: str
    table: Path
    form: dict[str, Any] = field(default_factory=dict)
    rows: Path | None = None
    problem: str = ""


def find(paths: Iterable[Path]) -> list[Question]:
    """All questions below some folders, in a stable order, without duplicates. Raises NoCases."""
    questions: dict[tuple[Path, str], Question] = {}
    for path in paths:
        if not path.is_dir():
            what = "it is a file" if path.exists() else "there is nothing"
            raise NoCases(
                f"no corpus at {path}: {what}", "Give a folder above the tables; unpack an archive first."
            )
        before = len(questions)
        for question in _questions(path):
            questions.setdefault((question.table.resolve(), f"{question.corpus}/{question.spec}"), question)
        if len(questions) == before and not any(_questions(path)):
            raise NoCases(
                f"no reference tables under {path}",
                f"Looked for folders with specs/, test_case_info.json, delta/{LOG} or {LOG}.",
            )
    return list(questions.values())


def _questions(root: Path) -> Iterator[Question]:
    plain: list[Path] = []
    for folder in _folders(root, plain):
        if any((folder / name).exists() for name in _MARKS_OF_ACCEPTANCE):
            yield from _acceptance(folder)
        elif (folder / "test_case_info.json").is_file():
            yield from _dat(folder)
        else:
            yield from _kernel(folder)
    above = Path(os.path.commonpath([table.parent for table in plain])) if plain else root
    for table in plain:
        name = table.relative_to(above).as_posix()
        yield Question(CONNECTORS, name, name, "table", table)


def _folders(folder: Path, plain: list[Path]) -> Iterator[Path]:
    """The folders of cases with a layout of their own; bare tables are put into `plain`."""
    if (folder / LOG).is_dir():
        plain.append(folder)
        return
    if (
        any((folder / name).exists() for name in ("specs", "test_case_info.json"))
        or (folder / "delta").is_dir()
    ):
        yield folder
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from _folders(path, plain)


def _dat(folder: Path) -> Iterator[Question]:
    for expected in sorted((folder / "expected").glob("*/table_version_metadata.json")):
        form, problem = _load(expected)
        place = expected.parent
        yield Question(
            DAT, folder.name, place.name, "version", folder / "delta", form, place / "table_content", problem
        )


def _acceptance(folder: Path) -> Iterator[Question]:
    for path in sorted((folder / "specs").glob("*.json")):
        form, problem = _load(path)
        rows = folder / "expected" / path.stem / "expected_data"
        kind = form.get("type")
        yield Question(
            ACCEPTANCE, folder.name, path.stem, str(kind or "unknown"), folder / "delta", form, rows, problem
        )


def _kernel(folder: Path) -> Iterator[Question]:
    delta, expected = folder / "delta", folder / "expected"
    if (delta / LOG).is_dir():
        yield Question(
            KERNEL, folder.name, folder.name, "table", delta, rows=expected if expected.is_dir() else None
        )
        return
    plain: list[Path] = []
    for _ in _folders(delta, plain):
        pass
    for table in plain:
        name = f"{folder.name}/{table.relative_to(delta).as_posix()}"
        yield Question(KERNEL, name, name, "table", table)


def _load(path: Path) -> tuple[dict[str, Any], str]:
    try:
        form = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        return {}, f"{path.name} cannot be read: {error}"
    return (form, "") if isinstance(form, dict) else ({}, f"{path.name} is no object")
