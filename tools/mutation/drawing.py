"""Draws mutants of the engine by a seed, and makes each one: a copy of the package with one place changed."""

from __future__ import annotations

import ast
import difflib
import hashlib
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
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
    """A mutant that an operator makes: the file within the package, its group, and the place that is changed.

    `function` is the function that the place is in, and `occurrence` counts the same changes of it before this one.
    """

    file: str
    group: str
    place: Place
    function: str = ""
    occurrence: int = 0

    @property
    def name(self) -> str:
        """A name that stays while the function stays, wherever in the file that is."""
        told = (self.file, self.function, self.place.operator, self.place.before, self.place.after)
        digest = hashlib.sha256("\0".join((*told, str(self.occurrence))).encode()).hexdigest()
        return f"{self.file}:{self.function or 'module'}:{digest[:6]}"

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
        if group is None:
            continue
        source = path.read_text("utf-8")
        functions = functions_by_line(source)
        seen: Counter[tuple[str, ...]] = Counter()
        for place in places_of(source):
            function = functions.get(place.line, "")
            change = (function, place.operator, place.before, place.after)
            yield DrawnMutant(file, group, place, function, seen[change])
            seen[change] += 1


def draw(package: Path, seed: int, count: int, without: Collection[str] = ()) -> list[DrawnMutant]:
    """Draw so many mutants: every group has the same share, no line has two, and none is on a line of `without`.

    The order of the mutants follows from the seed and their names, so a change of the engine takes only those mutants
    out of a draw whose functions it changes. `without` are names that were drawn before.
    """
    by_group: dict[str, list[DrawnMutant]] = {group: [] for group in GROUPS}
    lines: set[tuple[str, int]] = set()
    for mutant in all_mutants(package):
        by_group[mutant.group].append(mutant)
        if mutant.name in without:
            lines.add((mutant.file, mutant.place.line))
    for mutants in by_group.values():
        mutants.sort(
            key=lambda mutant: hashlib.sha256(f"{seed}/{mutant.name}".encode()).digest(), reverse=True
        )
    drawn: list[DrawnMutant] = []
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


def told(mutant: DrawnMutant | Mutant) -> dict[str, Any]:
    """A mutant as its row has it."""
    if isinstance(mutant, DrawnMutant):
        return mutant.to_json()
    return {
        "mutant": mutant.name, "group": "written", "file": ", ".join(mutant.files), "operator": "edit",
        "before": mutant.sentence, "after": "", "line": 0,
    }  # fmt: skip


def diff_of(mutant: DrawnMutant | Mutant, package: Path) -> str:
    """The lines that a mutant takes away and puts in their place."""
    diff: list[str] = []
    for file, new in _changed_texts(mutant, package).items():
        old = (package / file).read_text("utf-8").splitlines()
        lines = list(difflib.unified_diff(old, new.splitlines(), file, file, lineterm="", n=0))
        diff += [lines[0], *(line for line in lines[2:] if not line.startswith("@@"))]
    return "\n".join(diff)


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


def functions_by_line(source: str) -> dict[int, str]:
    """The innermost function of each line that is inside one, by its qualified name."""
    functions: dict[int, str] = {}

    def visit(node: ast.AST, names: tuple[str, ...], *, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                own = (*names, child.name)
                is_function = inside or not isinstance(child, ast.ClassDef)
                if is_function:
                    lines = range(child.lineno, (child.end_lineno or child.lineno) + 1)
                    functions.update(dict.fromkeys(lines, ".".join(own)))
                visit(child, own, inside=is_function)
            else:
                visit(child, names, inside=inside)

    visit(ast.parse(source), (), inside=False)
    return functions


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


def _changed_texts(mutant: DrawnMutant | Mutant, package: Path) -> dict[str, str]:
    if isinstance(mutant, DrawnMutant):
        return {mutant.file: mutant.place.apply((package / mutant.file).read_text("utf-8"))}
    texts: dict[str, str] = {}
    for edit in mutant.edits:
        file = edit.file.removeprefix(f"{PACKAGE}/")
        text = texts.get(file) or (package / file).read_text("utf-8")
        texts[file] = text.replace(edit.find, edit.replace)
    return texts
