"""Mutants are drawn by a seed from one small change each, play the chunks that reach them, and are kept as they end."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from conformance.histories import Chunk
from tools.mutation import records
from tools.mutation.drawing import (
    GROUPS,
    PACKAGE,
    DrawnMutant,
    changed_lines,
    draw,
    group_of,
    make,
    runs_at_import,
)
from tools.mutation.edits import Edit, Mutant
from tools.mutation.operators import OPERATORS, is_python, places_of
from tools.mutation.play import Played
from tools.mutation.table import markdown

ROOT = Path(__file__).parents[2]
SOURCE = '''\
"""A docstring stays."""

import os


def pick(rows: list[int], limit: int = 3) -> list[int]:
    """So does this one."""
    kept = []
    for row in rows:
        if row < limit and not os.path.exists("x"):
            kept.append(sorted([row], reverse=True))
        else:
            continue
    total = len(kept) + 1
    if total is None:
        raise ValueError(f"no {total}")
    return [row for row in kept if row]
'''


def texts(operator: str) -> set[tuple[str, str]]:
    return {(place.before, place.after) for place in places_of(SOURCE) if place.operator == operator}


def test_each_operator_makes_its_change():
    assert ("row < limit", "(row <= limit)") in texts("comparison")
    assert ("total is None", "(total is not None)") in texts("comparison")
    assert ("len(kept) + 1", "(len(kept) - 1)") in texts("arithmetic")
    assert ("True", "False") in texts("constant")
    assert ("3", "4") in texts("constant")
    assert ("total is None", "(not (total is None))") in texts("condition")
    assert ("rows", "()") in texts("condition")
    assert ("continue", "break") in texts("removal")
    assert ('raise ValueError(f"no {total}")', "pass") in texts("removal")
    assert ("sorted([row], reverse=True)", "sorted([row])") in texts("keyword")
    assert ("len(kept)", "(kept)") in texts("call")
    assert ("[row for row in kept if row]", "[row for row in kept if not row]") in texts("negation")
    assert ("return [row for row in kept if row]", "return None") in texts("return")
    assert any(after.startswith("(row < limit or") for _, after in texts("connective"))


def test_docstrings_annotations_imports_and_messages_are_left_as_they_are():
    changed = {place.line for place in places_of(SOURCE)}
    assert changed.isdisjoint({1, 3, 7})
    assert {place.before for place in places_of(SOURCE) if place.line == 6} == {"3"}
    assert not any("no {" in place.before for place in places_of(SOURCE) if place.operator == "constant")


def test_every_mutant_changes_one_place_and_nearly_all_are_python():
    places = list(places_of(SOURCE))
    sources = [place.apply(SOURCE) for place in places]
    assert {place.operator for place in places} == {*OPERATORS, "condition"}
    assert all(source != SOURCE for source in sources)
    assert sum(map(is_python, sources)) > 0.9 * len(sources)
    assert all(
        ast.dump(ast.parse(source)) != ast.dump(ast.parse(SOURCE)) for source in sources if is_python(source)
    )


def test_a_place_of_another_source_is_refused():
    place = next(places_of(SOURCE))
    with pytest.raises(ValueError, match="drawn from another source"):
        place.apply(SOURCE.replace("kept", "chosen").replace("pick", "choose"))


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A package with one small module of each group."""
    folder = tmp_path_factory.mktemp("package") / PACKAGE
    for name in ("builders.py", "write.py", "commands/merge.py", "log/state.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SOURCE, "utf-8")
    return folder


def test_a_seed_draws_the_same_mutants_from_every_group(package):
    mutants = draw(package, 7, 12)
    assert [mutant.name for mutant in mutants] == [mutant.name for mutant in draw(package, 7, 12)]
    assert [mutant.name for mutant in mutants] != [mutant.name for mutant in draw(package, 8, 12)]
    assert {group: [mutant.group for mutant in mutants].count(group) for group in GROUPS} == dict.fromkeys(
        GROUPS, 3
    )
    assert len({(mutant.file, mutant.place.line) for mutant in mutants}) == 12


def test_a_made_mutant_is_a_copy_of_the_package_with_that_change(package, tmp_path):
    mutant = draw(package, 7, 1)[0]
    folder = make(mutant, package, tmp_path / "build")
    changed = [
        path for path in sorted((folder / PACKAGE).rglob("*.py"))
        if path.read_text("utf-8") != (package / path.relative_to(folder / PACKAGE)).read_text("utf-8")
    ]  # fmt: skip
    assert [path.relative_to(folder / PACKAGE).as_posix() for path in changed] == [mutant.file]
    lines = changed_lines(mutant, package)
    assert lines.keys() == {mutant.file}
    assert mutant.place.line in lines[mutant.file]


def test_a_part_of_a_long_statement_counts_for_its_first_line_too(tmp_path):
    (tmp_path / "write.py").write_text("def f(a):\n    return g(\n        a + 1,\n    )\n", "utf-8")
    place = next(
        place for place in places_of((tmp_path / "write.py").read_text()) if place.operator == "arithmetic"
    )
    assert changed_lines(DrawnMutant("write.py", "writes", place), tmp_path) == {"write.py": {2, 3}}


def test_a_constant_of_a_module_runs_at_import(tmp_path):
    (tmp_path / "write.py").write_text("LIMIT = 3\n\n\ndef f(a):\n    return a + 1\n", "utf-8")
    assert runs_at_import({"write.py": {1}}, tmp_path)
    assert not runs_at_import({"write.py": {5}}, tmp_path)


def test_a_written_mutant_changes_the_lines_of_its_edits(package, tmp_path):
    edit = Edit(f"{PACKAGE}/write.py", "    total = len(kept) + 1\n", "    total = 0\n")
    mutant = Mutant("counts-nothing", "It counts nothing.", "none", (edit,))
    assert min(changed_lines(mutant, package)["write.py"]) == 14
    assert "total = 0" in (make(mutant, package, tmp_path / "b") / PACKAGE / "write.py").read_text("utf-8")


def test_the_files_of_the_groups_exist():
    assert group_of("commands/merge.py") == "commands"
    assert group_of("catalog.py") is None
    for files in GROUPS.values():
        assert all((ROOT / PACKAGE / file).exists() for file in files)


class TestRecords:
    CHUNKS = tuple(Chunk("lockstep", "gate", number, 1) for number in range(3))

    def record(self, folder, chunk, *lines):
        (folder / f"{chunk}.1.json").write_text(json.dumps({"chunk": chunk, "lines": lines}), "utf-8")

    def test_a_mutant_plays_the_chunks_that_reach_its_line_most_often_first(self, tmp_path):
        self.record(tmp_path, "lockstep-0", ["write.py", 4, 1], ["write.py", 5, 9])
        self.record(tmp_path, "lockstep-1", ["write.py", 5, 2])
        self.record(tmp_path, "lockstep-2", ["write.py", 4, 6])
        lines = records.read_lines(tmp_path)
        asked = records.chunks_for({"write.py": {4}}, lines, self.CHUNKS)
        assert [chunk.name for chunk in asked] == ["lockstep-2", "lockstep-0"]

    def test_a_line_that_runs_at_import_is_reached_by_every_chunk(self, tmp_path):
        for chunk in self.CHUNKS:
            self.record(tmp_path, chunk.name, ["write.py", 4, 1])
        lines = records.read_lines(tmp_path)
        assert records.chunks_for({"write.py": {1}}, lines, self.CHUNKS, at_import=True) == list(self.CHUNKS)

    def test_a_line_that_no_chunk_reaches_is_played_by_none(self, tmp_path):
        self.record(tmp_path, "lockstep-0", ["write.py", 4, 1])
        assert records.chunks_for({"write.py": {9}}, records.read_lines(tmp_path), self.CHUNKS) == []

    def test_a_chunk_without_a_record_is_not_played_since_the_engine_may_fail_it_unchanged(self, tmp_path):
        self.record(tmp_path, "lockstep-0", ["write.py", 4, 1])
        asked = records.chunks_for({"write.py": {4}}, records.read_lines(tmp_path), self.CHUNKS)
        assert [chunk.name for chunk in asked] == ["lockstep-0"]

    def test_a_result_that_was_cut_is_passed_over(self, tmp_path):
        path = tmp_path / "results.jsonl"
        records.append(path, {"mutant": "a"})
        with path.open("a") as results:
            results.write('{"mutant": "b", "ver')
        assert records.read_results(path) == [{"mutant": "a"}]


def test_the_table_names_every_survivor_before_the_killed():
    common = {
        "group": "log", "operator": "call", "before": "a | b", "after": "a", "detail": "", "chunks": 2, "seconds": 3.0,
    }  # fmt: skip
    told = markdown("Tuning set", [
        common | {"mutant": "a:1", "verdict": "killed", "requirement": "read.latest"},
        common | {"mutant": "b:2", "verdict": "survived", "requirement": ""},
    ])  # fmt: skip
    assert "2 mutants: 1 killed, 1 survived, 0 unusable" in told
    assert told.index("b:2") < told.index("a:1")
    assert "a \\| b" in told


def test_a_build_that_nothing_blames_has_survived():
    assert Played().verdict == "survived"
