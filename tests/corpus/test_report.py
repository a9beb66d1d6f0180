"""The report on reference tables: what it counts, and that no failure goes without a word."""

from __future__ import annotations

import importlib.util
import json
import tomllib
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "corpora_report.py"


@pytest.fixture(scope="module")
def tool():
    found = importlib.util.spec_from_file_location("corpora_report", TOOL)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def answer(spec, result, why="", case="a_case"):
    return {
        "corpus": "acceptance", "case": case, "spec": spec, "kind": "read", "engine": "delta-rs@1.6.6",
        "result": result, "why": why,
    }  # fmt: skip


def run(folder, *answers):
    folder.mkdir()
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(reply)}\n" for reply in answers))
    return folder


RULING = {"engine": "delta-rs", "title": "a title", "fault": "engine", "why": "because", "cases": ["a_case"]}


def test_a_failure_is_told_under_its_ruling(tool):
    text, open_ones = tool.document([answer("one", "failed", "rows")], [RULING])
    assert "### delta-rs@1.6.6: a title (1)\n\nFault: engine. because" in text
    assert open_ones == []


@pytest.mark.parametrize("other", ({"cases": ["another"]}, {"engine": "delta-spark"}))
def test_a_failure_of_which_nothing_is_said_is_told_as_such(tool, other):
    text, open_ones = tool.document([answer("one", "failed", "rows")], [RULING | other])
    assert "Not looked at: delta-rs@1.6.6 acceptance `a_case` one" in text
    assert [each["spec"] for each in open_ones] == ["one"]


def test_a_ruling_on_what_does_not_fail_is_told(tool):
    assert tool.idle([answer("one", "failed")], [RULING]) == []
    assert tool.idle([answer("one", "passed")], [RULING]) == [("delta-rs", "a_case")]
    assert tool.idle([answer("one", "passed")], [RULING | {"engine": "pyspark"}]) == []


def test_reasons_out_of_scope_are_counted_without_what_is_peculiar_to_a_case(tool):
    found = [
        answer("one", "out of scope", "the oracle finds no rows either: no data file /a"),
        answer("two", "out of scope", "the oracle finds no rows either: no data file /b"),
    ]
    assert "| delta-rs@1.6.6 | the oracle finds no rows either | 2 |" in tool.document(found, [])[0]


def test_a_later_run_replaces_what_an_earlier_one_answered(tool, tmp_path):
    runs = run(tmp_path / "a", answer("one", "failed")), run(tmp_path / "b", answer("one", "passed"))
    assert [reply["result"] for reply in tool.answers(runs)] == ["passed"]


def test_every_ruling_says_whose_fault_it_is_and_why(tool):
    rulings = tomllib.loads((tool.REPORTS / "corpora.toml").read_text(encoding="utf-8"))["ruling"]
    assert {ruling["fault"] for ruling in rulings} <= {"engine", "corpus", "harness", "nobody"}
    assert all(ruling["title"] and ruling["why"].strip() and ruling["cases"] for ruling in rulings)
    named = [(ruling["engine"], case) for ruling in rulings for case in ruling["cases"]]
    assert len(named) == len(set(named)), "a case stands in two rulings of one engine"
