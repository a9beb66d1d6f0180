"""Cases are found in every layout, under any folder above them."""

from __future__ import annotations

import pytest

from conformance.corpus.cases import NoCases, find
from tests.corpus.conftest import AcceptanceCase, write_rows


def names(*paths):
    return [(each.corpus, each.case, each.spec, each.kind) for each in find(paths)]


def test_a_dat_case_is_one_question_for_each_expected_state(tmp_path, make_table):
    case = tmp_path / "x" / "y" / "basic"
    make_table(case / "delta").create()
    (case / "test_case_info.json").write_text("{}")
    for state in ("latest", "v0"):
        (case / "expected" / state).mkdir(parents=True)
        (case / "expected" / state / "table_version_metadata.json").write_text("{}")
    assert names(tmp_path) == [("dat", "basic", "latest", "version"), ("dat", "basic", "v0", "version")]
    assert names(case) == names(tmp_path)


def test_an_acceptance_case_is_one_question_for_each_spec_even_without_a_table(tmp_path):
    case = AcceptanceCase(tmp_path / "empty")
    case.spec("b", {"type": "snapshot"})
    case.spec("a", {"type": "read"})
    (case.folder / "specs" / "c.json").write_text("{")
    found = find([tmp_path])
    assert [(each.spec, each.kind) for each in found] == [("a", "read"), ("b", "snapshot"), ("c", "unknown")]
    assert "cannot be read" in found[-1].problem


def test_a_golden_folder_with_several_tables_is_as_many_questions(tmp_path, make_table):
    make_table(tmp_path / "kernel" / "plain" / "delta").create()
    write_rows(tmp_path / "kernel" / "plain" / "expected" / "part.parquet", [])
    make_table(tmp_path / "kernel" / "hive" / "delta" / "one").create()
    make_table(tmp_path / "kernel" / "hive" / "delta" / "two").create()
    (tmp_path / "kernel" / "no-log" / "delta").mkdir(parents=True)
    assert [name[1] for name in names(tmp_path)] == ["hive/one", "hive/two", "plain"]


def test_bare_tables_have_the_same_names_from_wherever_one_looks(tmp_path, make_table):
    for name in ("a", "zone/East", "hive/one"):
        make_table(tmp_path / "above" / "golden" / name).create()
    (tmp_path / "above" / "golden" / "log-store-read").mkdir()
    expected = [("connectors-golden", name, name, "table") for name in ("a", "hive/one", "zone/East")]
    assert names(tmp_path) == expected == names(tmp_path / "above" / "golden")


def test_a_table_found_on_two_ways_is_asked_once(tmp_path, make_table):
    make_table(tmp_path / "a" / "t").create()
    assert len(find([tmp_path, tmp_path / "a"])) == 1


@pytest.mark.parametrize(
    "make",
    (lambda _: None, lambda path: path.mkdir(), lambda path: path.write_text("")),
    ids=("nothing", "empty", "file"),
)
def test_a_path_without_tables_is_refused_with_a_cure(tmp_path, make):
    make(tmp_path / "nothing")
    with pytest.raises(NoCases) as refusal:
        find([tmp_path / "nothing"])
    assert str(tmp_path / "nothing") in str(refusal.value)
    assert refusal.value.cure
