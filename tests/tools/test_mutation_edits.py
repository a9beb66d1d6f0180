"""`tools/mutation/edits.py`: every mutant fits the engine's source as it is now, and a bad one says what is wrong."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from tools.mutation.edits import HARMLESS, SEMANTIC, BadMutant, Edit, Mutant, apply, load, load_all

ROOT = Path(__file__).parents[2]
ALL = [*load_all(SEMANTIC), *load_all(HARMLESS)]

GOOD = """\
sentence = "Rows are lost."
protocol = "Delta Log Entries"
[[edit]]
file = "engine/log.py"
find = '''read()'''
replace = '''skip()'''
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A package in miniature."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "log.py").write_text("read()\nwrite()\nwrite()\n")
    return tmp_path


def mutant(*edits: Edit) -> Mutant:
    return Mutant("made_up", "Rows are lost.", "none", edits)


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_each_mutant_fits_the_source_compiles_and_changes_what_the_program_does(each, tmp_path):
    for file in each.files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    changed = apply(tmp_path, each)
    assert [path.relative_to(tmp_path).as_posix() for path in changed] == list(each.files)
    for path, file in zip(changed, each.files, strict=True):
        tree = ast.parse(path.read_text(), file)
        compile(tree, file, "exec")
        assert ast.dump(tree) != ast.dump(ast.parse((ROOT / file).read_text())), f"{file} means the same"


def test_there_are_twenty_semantic_and_five_harmless_mutants_each_with_a_name_and_change_of_its_own():
    assert (len(load_all(SEMANTIC)), len(load_all(HARMLESS))) == (20, 5)
    assert len({each.name for each in ALL}) == len({each.edits for each in ALL}) == 25
    assert all(file.startswith("pyspark_delta/") for each in ALL for file in each.files)


@pytest.mark.parametrize("each", load_all(SEMANTIC), ids=lambda each: each.name)
def test_each_semantic_mutant_says_in_one_sentence_what_goes_wrong_and_links_what_it_breaks(each):
    assert each.sentence.endswith(".")
    assert each.sentence.count(". ") == 0
    assert "https://" in each.protocol


def test_an_edit_replaces_its_text(copy):
    apply(copy, mutant(Edit("engine/log.py", "read()", "skip()")))
    assert (copy / "engine" / "log.py").read_text() == "skip()\nwrite()\nwrite()\n"


@pytest.mark.parametrize(("find", "said"), (("absent()", "is not there"), ("write()", "is there 2 times")))
def test_a_text_that_is_not_there_exactly_once_is_refused_and_nothing_is_changed(copy, find, said):
    with pytest.raises(BadMutant, match=f"edit 2 of the mutant made_up finds a text that {said} in .*log.py"):
        apply(copy, mutant(Edit("engine/log.py", "read()", "skip()"), Edit("engine/log.py", find, "x")))
    assert (copy / "engine" / "log.py").read_text() == "read()\nwrite()\nwrite()\n"


def test_an_edit_of_a_file_that_the_copy_lacks_is_refused(copy):
    with pytest.raises(BadMutant, match=r"changes engine/gone\.py, which can't be read in"):
        apply(copy, mutant(Edit("engine/gone.py", "read()", "skip()")))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    (
        ("sentence =", "sentence", "can't be read"),
        ("sentence =", "story =", "lacks sentence; it must have sentence, protocol, edit"),
        ('protocol = "', 'author = "me"\nprotocol = "', "has the unknown author"),
        ('"Rows are lost."', '" "', "has the sentence ' '"),
        ("[[edit]]", "edit = []\n[other]", "has the unknown other"),
        ("[[edit]]", "[edit]", "has no edit"),
        ("replace =", "insert =", "edit 1 of .* lacks replace"),
        ("skip()", "read()", "must replace its text by another text"),
        ("engine/log.py", "../log.py", "must be relative to the repository"),
        ("'''read()'''", "''", "has the find ''"),
    ),
)
def test_a_file_that_is_no_mutant_says_what_is_wrong(tmp_path, old, new, said):
    path = tmp_path / "bad.toml"
    path.write_text(GOOD)
    assert load(path).name == "bad"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(BadMutant, match=said):
        load(path)


def test_a_folder_without_mutants_is_refused(tmp_path):
    with pytest.raises(BadMutant, match="there is no mutant in"):
        load_all(tmp_path)
