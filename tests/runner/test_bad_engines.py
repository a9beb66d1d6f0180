"""Whatever an engine does in the middle of a run, the run goes on to its end and reports it."""

from __future__ import annotations

import pytest

from tests.command_runs import engine


class TestLost:
    @pytest.mark.parametrize(
        ("name", "requirement", "words"),
        (
            ("Segfaults", "host.lives", "SIGSEGV"),
            pytest.param("Hangs", "host.answers", "did not answer within", marks=pytest.mark.slow),
            ("AnswersNonsense", "host.speaks", "an Outcome was expected"),
        ),
    )
    def test_an_engine_that_is_lost_is_a_finding_and_plays_the_next_history(
        self, run, monkeypatch, name, requirement, words
    ):
        if name == "Hangs":
            monkeypatch.setenv("CONFORMANCE_CALL_TIMEOUT", "8")  # waited out in both histories
        done = run("--engine", engine(name))
        assert done.exit == 1
        assert requirement in done.violated
        finding = next(event for event in done.events if event["event"] == "FindingFound")
        assert words in finding["detail"]
        assert "execute " in finding["where"]
        assert (done.folder / finding["folder"] / "history.json").exists()
        lost = next(event for event in done.events if event["event"] == "EngineLost")
        assert name != "Segfaults" or "about to follow a null pointer" in lost["stderr_tail"]
        assert {event["history"] for event in done.events if event["event"] == "HistoryEnded"} == {0, 1}

    def test_an_engine_that_does_not_start_leaves_the_run_inconclusive(self, run):
        done = run("--engine", engine("DiesAtStart"))
        assert done.exit == 3
        assert "no licence found" in done.summary["engines"][0]["why"]


class TestNoise:
    @pytest.mark.parametrize("name", ("PrintsGarbage", pytest.param("FloodsStderr", marks=pytest.mark.slow)))
    def test_what_an_engine_prints_does_no_harm(self, run, name):
        done = run("--engine", engine(name))
        assert done.summary["findings"] == []
        assert sum(suite["steps"] for suite in done.summary["suites"]) == 12


class TestWrong:
    def test_an_answer_of_other_types_is_a_finding_about_its_columns(self, run):
        done = run("--engine", engine("TextForNumbers"))
        assert done.exit == 1
        assert "read.columns" in done.violated

    def test_an_append_that_appends_nothing_is_found(self, run):
        done = run("--engine", engine("Lies"))
        assert done.exit == 1
        assert {"outcome.commits"} & done.violated

    def test_what_an_engine_does_not_claim_is_not_asked_of_it(self, run):
        done = run("--engine", engine("NeverUpdates"))
        assert done.summary["findings"] == []


class TestHarness:
    def test_a_worker_that_dies_is_a_fault_of_the_harness_and_what_was_found_is_kept(self, run):
        done = run("--engine", engine("KillsTheHarness"))
        assert done.exit == 2
        assert "worker 0 ended by signal SIGKILL in chunk lockstep-0" in done.output
        assert done.events[-1]["event"] == "RunEnded"
