"""The model and the in-house engine share no code: their agreement is evidence only if neither copies the other.

The tests compare lines of code, without imports, comments, docstrings and lines of brackets. Tables of constants do not
count, because both must have the constants of the protocol.
"""

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HOUSE = Path(__file__).parent.parent
MODEL = HOUSE / "models" / "delta_models"
ENGINE = HOUSE / "pyspark_delta"
ALIKE = 6


class Line(NamedTuple):
    """A line of code and its place."""

    text: str
    place: str


def test_model_and_engine_share_no_six_lines() -> None:
    assert list(_alike(MODEL, ENGINE)) == []


def test_six_copied_lines_are_found(tmp_path: Path) -> None:
    copied = [
        "def signed(number: int) -> int:",
        "    # without its sign",
        "    if number < 0:",
        "        return -number",
        "    doubled = number * 2",
        "    print(doubled)",
        "    return doubled",
    ]
    for name, before in (("one", "import os"), ("other", "import re")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.py").write_text("\n".join([before, *copied, ""]))
    assert list(_alike(tmp_path / "one", tmp_path / "other")) == ["other/code.py:2 is like one/code.py:2"]


def test_a_table_of_constants_may_be_alike(tmp_path: Path) -> None:
    table = ["FEATURES = {", *(f'    "feature{number}": {number},' for number in range(10)), "}", ""]
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.py").write_text("\n".join(table))
    assert list(_alike(tmp_path / "one", tmp_path / "other")) == []


def _alike(one: Path, other: Path) -> Iterator[str]:
    places = dict(_runs(one))
    for texts, place in _runs(other):
        if texts in places:
            yield f"{place} is like {places[texts]}"


def _runs(folder: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    for path in sorted(folder.rglob("*.py")):
        lines = list(_code(path.read_text(), path.relative_to(folder.parent).as_posix()))
        for start in range(len(lines) - ALIKE + 1):
            run = lines[start : start + ALIKE]
            yield tuple(line.text for line in run), run[0].place


def _code(source: str, name: str) -> Iterator[Line]:
    silent = _silent_lines(source)
    cuts = {
        token.start[0]: token.start[1]
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    for number, text in enumerate(source.splitlines(), 1):
        code = text[: cuts.get(number, len(text))].strip()
        if number not in silent and any(sign.isalnum() for sign in code):
            yield Line("".join(code.split()), f"{name}:{number}")


def _silent_lines(source: str) -> set[int]:
    silent: set[int] = set()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) or _is_text(node):
            assert isinstance(node, ast.stmt)
            silent.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            silent.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return silent


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
