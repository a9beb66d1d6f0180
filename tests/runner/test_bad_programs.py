"""Whatever a program that shall be an engine does, a run ends with words and the right exit code, and loses nothing."""

from __future__ import annotations

import pytest

from tests.programs import ROOT, command


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_a_program_that_is_right_has_no_findings(run):
    done = run("--engine", command("honest"))
    assert done.summary["findings"] == []
    assert {engine["name"] for engine in done.summary["engines"]} == {"small"}
    # What it claims is all that was drawn: each step is performed.
    assert sum(suite["steps"] for suite in done.summary["suites"]) == 12


def test_one_that_lies_about_its_claims_is_found(run):
    done = run("--engine", command("lies"), "--examples", "8")
    assert done.exit == 1
    assert "outcome.supported" in done.violated


def test_one_that_dies_at_every_third_call_is_found_and_started_again(run):
    done = run("--engine", command("dies"))
    assert done.exit == 1
    assert done.violated == {"host.lives"}
    assert {event["history"] for event in done.events if event["event"] == "HistoryEnded"} == {0, 1}


@pytest.mark.parametrize(
    ("kind", "words"),
    (
        ("hangs", "did not answer within"),
        ("answers-another", "an answer to request 3, request 4 was asked"),
    ),
)
def test_one_that_fails_the_smoke_test_ends_the_run_with_2(run, monkeypatch, kind, words):
    monkeypatch.setenv("CONFORMANCE_CALL_TIMEOUT", "6")
    done = run("--engine", command(kind))
    assert done.exit == 2
    assert "was asked for and can't be tested" in done.output
    assert words in done.output
    assert "python -m delta_adapters.smoke 'small=" in done.output
    assert not [event for event in done.events if event["event"] in {"ChunkStarted", "HistoryEnded"}]


def test_one_that_prints_garbage_ends_the_run_with_2(run):
    done = run("--engine", "mine=echo hello, this is no frame")
    assert done.exit == 2
    assert "this with b'hello, this is no frame" in done.output
    assert not [event for event in done.events if event["event"] == "ChunkStarted"]


def test_one_that_is_not_there_ends_the_run_with_2(run):
    done = run("--engine", "mine=./no-such-host")
    assert done.exit == 2
    assert (
        "mine=./no-such-host was asked for and can't be tested: there is no program ./no-such-host"
        in done.output
    )
