"""Mutants are drawn by a seed from one small change each, and each is made in a copy of the package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.mutation.drawing import (
    GROUPS,
    PACKAGE,
    DrawnMutant,
    changed_lines,
    diff_of,
    draw,
    functions_by_line,
    group_of,
    make,
    runs_at_import,
)
from tools.mutation.edits import Edit, Mutant
from tools.mutation.operators import OPERATORS, is_python, places_of
from tools.mutation.sets import SETS, BadSets, chosen_set, mutants_of, only, read_sets

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
    _log.info("none", total)
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


def test_docstrings_annotations_imports_messages_and_the_log_of_a_program_are_left_as_they_are():
    changed = {place.line for place in places_of(SOURCE)}
    assert changed.isdisjoint({1, 3, 7, 17})
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


@pytest.fixture
def package(tmp_path):
    """A package with one small module of each group."""
    folder = tmp_path / "own" / PACKAGE
    for name in ("builders.py", "write.py", "commands/merge.py", "log/state.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SOURCE, "utf-8")
    return folder


def names(mutants):
    return [mutant.name for mutant in mutants]


def test_a_seed_draws_the_same_mutants_from_every_group(package):
    mutants = draw(package, 7, 12)
    assert names(mutants) == names(draw(package, 7, 12))
    assert names(mutants) != names(draw(package, 8, 12))
    assert {group: [mutant.group for mutant in mutants].count(group) for group in GROUPS} == dict.fromkeys(
        GROUPS, 3
    )
    assert len({(mutant.file, mutant.place.line) for mutant in mutants}) == 12


def test_a_change_elsewhere_in_the_engine_leaves_the_draw_as_it_was(package):
    before = names(draw(package, 7, 12))
    path = package / "write.py"
    path.write_text(f"def other():\n    pass\n\n\n{SOURCE}", "utf-8")
    assert names(draw(package, 7, 12)) == before


def test_two_changes_alike_in_one_function_have_names_of_their_own(package):
    (package / "write.py").write_text("def f(a):\n    g(a + 1)\n    g(a + 1)\n", "utf-8")
    drawn = [mutant for mutant in draw(package, 7, 40) if mutant.file == "write.py"]
    assert len(drawn) == 2
    assert len(set(names(drawn))) == 2
    assert all(mutant.function == "f" for mutant in drawn)


def test_a_line_has_the_innermost_function_and_a_class_is_none():
    source = (
        "class A:\n    X = 1\n\n    def f(self):\n        def g():\n            return 2\n        return g\n"
    )
    assert functions_by_line(source) == {4: "A.f", 5: "A.f.g", 6: "A.f.g", 7: "A.f"}


def test_a_second_set_has_no_line_of_the_first(package):
    first = draw(package, 7, 12)
    second = draw(package, 8, 12, set(names(first)))
    assert len(second) == 12
    assert {(m.file, m.place.line) for m in first}.isdisjoint((m.file, m.place.line) for m in second)


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


def test_the_diff_of_a_mutant_has_the_changed_lines_alone(package):
    edit = Edit(f"{PACKAGE}/write.py", "    total = len(kept) + 1\n", "    total = 0\n")
    diff = diff_of(Mutant("counts-nothing", "It counts nothing.", "none", (edit,)), package)
    assert diff.splitlines() == ["--- write.py", "-    total = len(kept) + 1", "+    total = 0"]


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


class TestSets:
    def read(self, tmp_path, text):
        (tmp_path / "sets.toml").write_text(text, "utf-8")
        return read_sets(tmp_path / "sets.toml")

    def test_the_sets_of_the_repository_are_drawn_from_the_engine_as_it_is(self):
        sets = read_sets(SETS)
        tuning = mutants_of(sets["tuning"], sets, ROOT / PACKAGE)
        assert len(tuning) == len(set(names(tuning))) == 80
        assert len(mutants_of(sets["semantic"], sets, ROOT / PACKAGE)) == 20
        assert len(mutants_of(sets["harmless"], sets, ROOT / PACKAGE)) == 5

    def test_a_fresh_set_has_nothing_of_the_set_that_it_is_without(self, tmp_path, package):
        text = (
            '[a]\ntitle = "A"\nseed = 7\ncount = 8\n[b]\ntitle = "B"\nseed = 7\ncount = 8\nwithout = ["a"]\n'
        )
        sets = self.read(tmp_path, text)
        a, b = (names(mutants_of(sets[name], sets, package)) for name in "ab")
        assert len(a) == len(b) == 8
        assert not set(a) & set(b)

    @pytest.mark.parametrize(
        ("text", "said"),
        (
            ('[a]\ntitle = "A"\n', "the set a needs either a count and a seed, or a folder"),
            ('[a]\ntitle = "A"\ncount = 3\nsed = 4\n', "the set a has sed; it may have count, folder"),
            ('[a]\ntitle = "A"\ncount = 3\nwithout = ["b"]\n', "is without b, which is no drawn set"),
            ('[a]\ntitle = "A"\ncount = 3\nonly = ["x"]\n', "names of mutants, and no folder"),
            ("[a", "can't be read"),
        ),
    )
    def test_a_wrong_file_of_sets_says_what_is_wrong(self, tmp_path, text, said):
        with pytest.raises(BadSets, match=said):
            self.read(tmp_path, text)

    def test_a_set_of_a_folder_may_have_some_of_its_mutants(self, tmp_path, package):
        text = '[a]\ntitle = "A"\nfolder = "semantic"\nonly = ["null_passes_a_check"]\n'
        sets = self.read(tmp_path, text)
        assert names(mutants_of(sets["a"], sets, package)) == ["null_passes_a_check"]
        with pytest.raises(BadSets, match="no mutant null_passes;"):
            mutants_of(self.read(tmp_path, text.replace("_a_check", ""))["a"], sets, package)

    def test_a_set_or_a_mutant_that_is_not_there_is_refused(self, package):
        with pytest.raises(BadSets, match="no set of mutants 'frsh'; there are tuning"):
            chosen_set(read_sets(SETS), "frsh")
        with pytest.raises(BadSets, match="no mutant nobody; `draw` lists"):
            only(draw(package, 7, 3), ["nobody"])
        assert names(only(draw(package, 7, 3), [draw(package, 7, 3)[1].name])) == [
            draw(package, 7, 3)[1].name
        ]
