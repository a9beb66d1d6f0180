"""`tools/corpora_report.py`: it counts answers, and every failure has a ruling."""

from __future__ import annotations

import json
import tomllib

import pytest

from tools import corpora_report


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


def test_a_failure_stands_under_its_ruling():
    text, without_ruling = corpora_report.document([answer("one", "failed", "rows")], [RULING])
    assert "### delta-rs@1.6.6: a title (1)\n\nFault: engine. because" in text
    assert without_ruling == []


@pytest.mark.parametrize("other", ({"cases": ["another"]}, {"engine": "delta-spark"}))
def test_a_failure_without_a_ruling_stands_apart(other):
    text, without_ruling = corpora_report.document([answer("one", "failed", "rows")], [RULING | other])
    assert "Not looked at: delta-rs@1.6.6 acceptance `a_case` one" in text
    assert [failure["spec"] for failure in without_ruling] == ["one"]


def test_a_ruling_on_a_case_that_does_not_fail_is_needless():
    assert corpora_report.needless_rulings([answer("one", "failed")], [RULING]) == []
    assert corpora_report.needless_rulings([answer("one", "passed")], [RULING]) == [("delta-rs", "a_case")]
    assert corpora_report.needless_rulings([answer("one", "passed")], [RULING | {"engine": "pyspark"}]) == []


def test_reasons_out_of_scope_are_counted_without_what_is_peculiar_to_a_case():
    answers = [
        answer("one", "out of scope", "the oracle finds no rows either: no data file /a"),
        answer("two", "out of scope", "the oracle finds no rows either: no data file /b"),
    ]
    assert (
        "| delta-rs@1.6.6 | the oracle finds no rows either | 2 |" in corpora_report.document(answers, [])[0]
    )


def test_a_later_run_replaces_what_an_earlier_one_answered(tmp_path):
    runs = run(tmp_path / "a", answer("one", "failed")), run(tmp_path / "b", answer("one", "passed"))
    assert [reply["result"] for reply in corpora_report.answers(runs)] == ["passed"]


def test_every_ruling_names_who_is_at_fault_and_why():
    rulings = tomllib.loads((corpora_report.REPORTS / "corpora.toml").read_text(encoding="utf-8"))["ruling"]
    assert {ruling["fault"] for ruling in rulings} <= {"engine", "corpus", "harness", "nobody"}
    assert all(ruling["title"] and ruling["why"].strip() and ruling["cases"] for ruling in rulings)
    named = [(ruling["engine"], case) for ruling in rulings for case in ruling["cases"]]
    assert len(named) == len(set(named)), "a case stands in two rulings of one engine"
