"""Whatever an engine does in the middle of a run, the run goes on to its end and reports it."""

from __future__ import annotations

import time

import pytest

from delta_adapters.registry import java_availability
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
        done = run("--engine", engine(name), "--steps", "3")  # few, since shrinking plays each of them again
        assert done.exit == 1
        assert requirement in done.violated
        finding = next(event for event in done.events if event["event"] == "FindingFound")
        assert words in finding["detail"]
        assert "execute " in finding["where"]
        assert (done.folder / finding["folder"] / "history.json").exists()
        lost = next(event for event in done.events if event["event"] == "EngineLost")
        assert name != "Segfaults" or "about to follow a null pointer" in lost["stderr_tail"]
        assert {event["history"] for event in done.events if event["event"] == "HistoryEnded"} == {0, 1}


class TestUnusable:
    """An engine that the user named and that can't be tested ends the run at once, with one message."""

    @pytest.mark.parametrize(
        ("name", "cause"),
        (
            ("DiesAtStart", "its host died (exit code 3). Its stderr ends with: no licence found"),
            ("FailsSmoke", "failssmoke@1.0 fails its smoke test at: read back."),
            ("NoSuchClass", "its adapter raises AttributeError: "),
        ),
    )
    def test_an_engine_that_does_not_work_ends_the_run_with_2(self, run, name, cause):
        done = run("--engine", "reference", "--engine", engine(name))
        assert done.exit == 2
        assert done.output.count(cause) <= 2  # the reason, and the list of the engines
        assert f"was asked for and can't be tested: {cause}" in done.output.replace("asked to start, ", "")
        assert f"`python -m delta_adapters.smoke {engine(name)}`" in done.output
        assert not [event for event in done.events if event["event"] in {"ChunkStarted", "HistoryEnded"}]

    def test_it_ends_the_run_within_15_seconds(self, run):
        began = time.monotonic()
        assert run("--engine", engine("DiesAtStart"), "--engine", "delta-rs").exit == 2
        assert time.monotonic() - began < 15

    def test_what_this_machine_lacks_ends_the_run_with_3(self, run, monkeypatch, tmp_path):
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        java_availability.cache_clear()
        done = run("--engine", "delta-spark", "--engine", "reference")
        java_availability.cache_clear()
        assert done.exit == 3
        assert "delta-spark was asked for and can't run on this machine: Java 17 or newer" in done.output
        assert "apt install" in done.output
        assert not [event for event in done.events if event["event"] == "ChunkStarted"]

    @pytest.mark.slow  # the package index is asked
    @pytest.mark.engines
    def test_a_version_that_does_not_exist_ends_the_run_with_2(self, run, monkeypatch, tmp_path):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        done = run("--engine", "delta-rs@9.9.9")
        assert done.exit == 2
        assert "there is no deltalake 9.9.9 for this Python and machine" in done.output
        assert "`pip index versions deltalake` lists" in done.output
        assert not [event for event in done.events if event["event"] == "ChunkStarted"]


class TestDeaths:
    """A host that dies again and again is given up, and that is reported once."""

    def test_an_engine_that_performs_nothing_between_its_deaths_is_given_up_after_three(self, run):
        done = run("--engine", engine("DiesAtEveryTable"), "--examples", "12")
        given_up = [event for event in done.events if event["event"] == "EngineUnavailable"]
        assert [event["engine"] for event in given_up] == ["diesateverytable@1.0"]
        assert "the last 3 times before it performed anything; the last time it died" in given_up[0]["why"]
        losses = [event for event in done.events if event["event"] == "EngineLost"]
        assert sum(event.get("times", 1) for event in losses) == 3
        assert done.exit == 1  # that it died is a finding
        assert "diesateverytable@1.0 was given up: its host ended 3 times" in done.output

    @pytest.mark.slow
    def test_an_engine_that_dies_in_every_race_is_not_started_for_each_of_them(
        self, run, tmp_path, monkeypatch
    ):
        monkeypatch.setenv("STARTS", str(tmp_path / "starts"))
        done = run(
            "--engine", engine("DiesInRaces"), "--profile", "ci", "--suite", "races", "--examples", "3"
        )
        assert done.exit == 1
        assert len((tmp_path / "starts").read_text().splitlines()) < 30

    @pytest.mark.slow
    def test_losses_of_one_cause_are_summed_up(self, run):
        done = run("--engine", engine("DiesAtEveryAppend"), "--examples", "20", "--steps", "3")
        losses = [event for event in done.events if event["event"] == "EngineLost"]
        assert len(losses) <= 4
        assert max(event.get("times", 1) for event in losses) > 5


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
