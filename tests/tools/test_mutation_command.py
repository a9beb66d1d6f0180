"""`python -m tools.mutation`: what needs no JVM, and what it says if it is asked for what is not there."""

from __future__ import annotations

import json

import pytest

from tools.mutation.__main__ import main
from tools.mutation.rows import append

SETS = """
[few]
title = "A few"
seed = 3
count = 4
"""


@pytest.fixture
def own(tmp_path):
    """The options for a set, results and a folder of one's own."""
    (tmp_path / "sets.toml").write_text(SETS, "utf-8")
    return [
        "--sets", str(tmp_path / "sets.toml"), "--set", "few", "--results", str(tmp_path / "reports" / "mutation"),
        "--work", str(tmp_path / "work"),
    ]  # fmt: skip


def drawn(own, capsys):
    assert main(["draw", *own]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_set_is_listed_and_each_mutant_can_be_asked_for(own, capsys):
    mutants = drawn(own, capsys)
    assert [mutant["group"] for mutant in mutants] == ["reads", "writes", "commands", "log"]
    assert main(["draw", *own, "--only", mutants[2]["mutant"]]) == 0
    assert json.loads(capsys.readouterr().out) == mutants[2]


def test_the_report_is_written_from_the_rows_of_the_sets(own, tmp_path, capsys):
    mutants = drawn(own, capsys)
    killed = mutants[1] | {
        "state": "killed", "requirement": "contents.rows", "detail": "", "chunk": "lockstep-1", "played": [],
        "seconds": 3.0, "gate": "abcd", "at": "2026-11-20T06:00:00+00:00", "load": 8.0, "unrecorded": 0, "diff": "",
        "reached": 1,
    }  # fmt: skip
    append(tmp_path / "reports" / "mutation" / "few.jsonl", killed)
    assert main(["report", *own]) == 0
    assert "A few: 4 mutants, 4 that count: 1 killed (25%); 3 not-played." in capsys.readouterr().out
    text = (tmp_path / "reports" / "mutation.md").read_text("utf-8")
    assert all(mutant["mutant"] in text for mutant in mutants)


def test_a_judgement_on_a_mutant_of_no_set_is_refused(own, tmp_path, capsys):
    path = tmp_path / "reports" / "mutation" / "judgements.toml"
    path.parent.mkdir(parents=True)
    path.write_text(
        '[[judgement]]\nmutant = "x"\nby = "me"\nverdict = "equivalent"\nreason = "Why."\n', "utf-8"
    )
    assert main(["report", *own]) == 2
    assert "no set has the mutant x of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    (
        (["play", "--set", "frsh"], "there is no set of mutants 'frsh'; there are few"),
        (["play", "--only", "nobody"], "the set has no mutant nobody"),
        (
            ["record", "--part", "cor"],
            "the gate has no part cor; it has core, sql, features, crashes, races, shared",
        ),
        (["check"], "of the set few was never played; `play` does it first"),
        (["gate"], "the whole gate is run on one mutant at a time; name it with --only"),
    ),
)
def test_what_is_not_there_is_refused_before_anything_starts(own, capsys, words, said):
    assert main([*words[:1], *own, *words[1:]]) == 2
    assert said in capsys.readouterr().err
