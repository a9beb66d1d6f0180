"""Draws mutants of the engine by a seed, and makes each one: a copy of the package with one place changed."""

from __future__ import annotations

import ast
import hashlib
import random
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tools.mutation.edits import Mutant, apply
from tools.mutation.operators import Place, is_python, places_of

PACKAGE = "pyspark_delta"
# What the mutants are of: reads, writes, commands and the log.
GROUPS: dict[str, tuple[str, ...]] = {
    "reads": (
        "builders.py", "datasource.py", "deleted_rows.py", "deletion_vectors.py", "expressions.py", "file_index.py",
        "missing_files.py", "partition_values.py", "physical_layout.py", "predicates.py", "skipping/",
    ),
    "writes": (
        "arrow_rewrite.py", "char_varchar.py", "conflicts.py", "constraints.py", "dataframe_api.py", "features.py",
        "properties.py", "schema.py", "schema_enforcement.py", "statistics.py", "transaction.py", "write.py",
    ),
    "commands": ("commands/", "table.py"),
    "log": ("log/", "storage.py"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DrawnMutant:
    """A mutant that an operator makes: the file within the package, its group, and the place that is changed."""

    file: str
    group: str
    place: Place

    @property
    def name(self) -> str:
        """A name that stays as long as the source stays: the file, the line, and a digest of the change."""
        told = "\0".join((self.file, str(self.place.start), self.place.before, self.place.after))
        return f"{self.file}:{self.place.line}:{hashlib.sha256(told.encode()).hexdigest()[:6]}"

    def to_json(self) -> dict[str, Any]:
        """The mutant as the results have it."""
        return {"mutant": self.name, "file": self.file, "group": self.group, **asdict(self.place)}


def group_of(file: str) -> str | None:
    """The group of a file of the package, None if it has none."""
    for group, files in GROUPS.items():
        if any(file == one or (one.endswith("/") and file.startswith(one)) for one in files):
            return group
    return None


def all_mutants(package: Path) -> Iterator[DrawnMutant]:
    """Yield every mutant of the package, file by file."""
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        group = group_of(file)
        if group is not None:
            for place in places_of(path.read_text("utf-8")):
                yield DrawnMutant(file, group, place)


def draw(package: Path, seed: int, count: int) -> list[DrawnMutant]:
    """Draw so many mutants: every group has the same share, and no line has two."""
    chooser = random.Random(seed)
    by_group: dict[str, list[DrawnMutant]] = {group: [] for group in GROUPS}
    for mutant in all_mutants(package):
        by_group[mutant.group].append(mutant)
    drawn: list[DrawnMutant] = []
    lines: set[tuple[str, int]] = set()
    for mutants in by_group.values():
        chooser.shuffle(mutants)
    while len(drawn) < count and any(by_group.values()):
        for mutants in by_group.values():
            while mutants and len(drawn) < count:
                mutant = mutants.pop()
                source = (package / mutant.file).read_text("utf-8")
                if (mutant.file, mutant.place.line) not in lines and is_python(mutant.place.apply(source)):
                    lines.add((mutant.file, mutant.place.line))
                    drawn.append(mutant)
                    break
    return drawn


def make(mutant: DrawnMutant | Mutant, package: Path, folder: Path) -> Path:
    """Make the mutant in a folder, and return the folder: it holds a copy of the package with the change."""
    shutil.rmtree(folder, ignore_errors=True)
    copy = folder / PACKAGE
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    if isinstance(mutant, Mutant):
        apply(folder, mutant)
    else:
        path = copy / mutant.file
        path.write_text(mutant.place.apply(path.read_text("utf-8")), "utf-8")
    return folder


def changed_lines(mutant: DrawnMutant | Mutant, package: Path) -> dict[str, set[int]]:
    """Return the lines of the unchanged package that a mutant changes, by file.

    A trace counts some parts of a long statement for its first line, so that one is among them.
    """
    if isinstance(mutant, DrawnMutant):
        line = mutant.place.line
        tree = ast.parse((package / mutant.file).read_text("utf-8"))
        around = [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
        ]
        return {mutant.file: {line, max(around, default=line)}}
    changed: dict[str, set[int]] = {}
    for edit in mutant.edits:
        file = edit.file.removeprefix(f"{PACKAGE}/")
        text = (package / file).read_text("utf-8")
        first = text[: text.index(edit.find)].count("\n") + 1
        changed.setdefault(file, set()).update(range(first, first + edit.find.count("\n") + 1))
    return changed


def lines_of_functions(source: str) -> set[int]:
    """Return the lines of the statements inside functions. All others run at import."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines |= {part.lineno for outer in body for part in ast.walk(outer) if isinstance(part, ast.stmt)}
    return lines


def runs_at_import(changed: Mapping[str, set[int]], package: Path) -> bool:
    """Whether none of these lines is inside a function."""
    return not any(
        lines & lines_of_functions((package / file).read_text("utf-8")) for file, lines in changed.items()
    )
