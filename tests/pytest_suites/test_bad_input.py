"""What goes wrong before, in and after a campaign inside pytest: one readable message, and the right exit code."""

from __future__ import annotations

import json
import signal

import pytest

from conformance.cli.errors import UsageError
from conformance.pytest_suites.planned import plan_campaign
from tests.command_runs import engine
from tests.pytest_suites.sessions import SMALL, campaign, pytest_in

OWN_TEST = "def test_it(conformance_table):\n    raise AssertionError('the test ran')\n"


def test_a_session_without_an_engine_is_refused_before_anything_is_collected(tmp_path):
    session = campaign(tmp_path)
    assert session.exit == pytest.ExitCode.USAGE_ERROR, session.output
    assert "conformance: no engine is named, so there is nothing to test" in session.output
    assert "Give --conformance-engine NAME" in session.output
    assert "Traceback" not in session.output
    assert not (tmp_path / "conformance-results").exists()


def test_a_session_without_an_engine_is_refused_under_xdist_before_a_worker_starts(tmp_path):
    session = campaign(tmp_path, "-n2")
    assert session.exit == pytest.ExitCode.USAGE_ERROR, session.output
    assert "no engine is named" in session.output
    assert "workers" not in session.output


def test_an_own_history_without_an_engine_is_refused(tmp_path):
    (tmp_path / "test_own.py").write_text(OWN_TEST)
    session = pytest_in(tmp_path)
    assert session.exit == pytest.ExitCode.USAGE_ERROR, session.output
    assert "no engine is named" in session.output
    assert "the test ran" not in session.output


def test_an_own_history_without_an_engine_fails_on_a_worker_of_xdist(tmp_path):
    (tmp_path / "test_own.py").write_text(OWN_TEST)
    session = pytest_in(tmp_path, "-n1")
    assert session.exit == pytest.ExitCode.TESTS_FAILED, session.output
    assert "no engine is named" in session.output
    assert "the test ran" not in session.output


@pytest.mark.parametrize(
    ("given", "said"),
    (
        ({"engine": ["delta-spork"]}, "no engine is called 'delta-spork'"),
        ({"profile": "cii"}, "--conformance-profile: unknown profile 'cii'"),
        ({"profile": "mine.toml"}, "mine.toml"),
        ({"baseline": "nowhere.json"}, "can't read the baseline nowhere.json"),
        ({"baseline": "torn.json"}, "the baseline torn.json is no JSON"),
        ({"budget": "soon"}, "--conformance-budget: 'soon' is no length of time: write 90s, 4m or 1h30m"),
        ({"budget": "4m", "examples": "2"}, "--conformance-budget and --conformance-examples are two ways"),
        ({"table": ["nothing"]}, "no histories 'nothing'"),
        ({"suite": ["locksteps"]}, "--conformance-suite: unknown suite 'locksteps'"),
        ({"regressions": "nowhere"}, "nowhere: no such folder. A folder of kept findings was expected."),
        ({"deviations": "nowhere"}, "--conformance-deviations: "),
    ),
)  # fmt: skip
def test_a_wrong_option_is_named_as_pytest_has_it(tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "torn.json").write_text('{"format": 1,')
    with pytest.raises(UsageError) as refused:
        plan_campaign({"engine": ["reference"], **given}, tmp_path)
    assert said in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["torn.json"]


@pytest.mark.parametrize(
    ("word", "said"),
    (
        ("--conformance-engine=delta-spork", "no engine is called 'delta-spork'"),
        ("--conformance-profile=cii", "unknown profile 'cii'"),
        ("--conformance-baseline=nowhere.json", "can't read the baseline nowhere.json"),
    ),
)
def test_a_wrong_option_ends_the_session_before_anything_is_collected(tmp_path, word, said):
    session = campaign(tmp_path, "--conformance-engine=reference", word)
    assert session.exit == pytest.ExitCode.USAGE_ERROR, session.output
    assert said in session.output
    assert "Traceback" not in session.output
    assert "collected" not in session.output
    assert not (tmp_path / "conformance-results").exists()


def test_a_module_that_is_no_more_names_the_option_in_its_place(tmp_path):
    session = pytest_in(
        tmp_path, "--pyargs", "conformance.suites.test_races", "--conformance-engine=reference"
    )
    assert session.exit == pytest.ExitCode.USAGE_ERROR
    assert "--conformance-suite races plays one suite" in session.output


def test_what_the_project_says_counts_and_its_faults_are_told(tmp_path):
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.conformance]\nengines = ["reference"]\nsuites = ["lockstep"]\n')
    session = campaign(tmp_path)
    assert session.exit == pytest.ExitCode.USAGE_ERROR
    assert "unknown suites" in session.output
    settings.write_text('[tool.conformance]\nengines = ["reference"]\n')
    assert "reference::contents.append" in campaign(tmp_path, "--collect-only", "-q").output


def test_an_engine_that_fails_its_smoke_test_ends_with_2_and_tests_nothing(tmp_path):
    session = campaign(tmp_path, *SMALL, f"--conformance-engine={engine('FailsSmoke')}")
    assert session.exit == 2, session.output
    assert "was asked for and can't be tested: failssmoke@1.0 fails its smoke test" in session.output
    assert session.tests("failed") == {"verdict"}
    assert session.tests("passed") == set()
    events = (tmp_path / "conformance-results" / "latest" / "events.jsonl").read_text()
    assert "ChunkStarted" not in events


def test_an_engine_that_dies_at_its_start_ends_with_2_and_says_its_last_words(tmp_path):
    session = campaign(tmp_path, *SMALL, "-n2", f"--conformance-engine={engine('DiesAtStart')}")
    assert session.exit == 2, session.output
    assert "no licence found" in session.output
    assert session.tests("failed") == {"verdict"}
    assert session.tests("passed") == set()


def test_what_this_machine_lacks_ends_with_3(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    session = campaign(tmp_path, *SMALL, "--conformance-engine=delta-spark")
    assert session.exit == 3, session.output
    assert "can't run on this machine: Java 17 or newer is needed" in session.output


@pytest.mark.slow
def test_a_spent_budget_ends_with_3_and_passes_nothing_that_was_not_tested(tmp_path):
    session = campaign(tmp_path, "--conformance-engine=reference", "--conformance-budget=3s")
    assert session.exit == 3, session.output
    assert "the budget was spent before the plan was done" in session.output
    held = {
        f"reference::{claim['requirement']}"
        for claim in session.summary["claims"]
        if claim["verdict"] == "holds"
    }
    assert session.tests("passed") <= held


KILLS_ITS_CAMPAIGN = """
import os, signal
from pathlib import Path
from tests.bad_engines import Lies

class Kills(Lies):
    def open(self, location):
        super().open(location)
        if "triage" in Path(location).parts and os.environ.get("STARTS"):
            kill(int(os.environ["SIGNAL"]))

def kill(number):
    pid = os.getpid()
    while pid > 1:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\\0")
        if os.environ["STARTS"].encode() in words:
            os.kill(pid, number)
            return
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
"""


@pytest.mark.slow
def test_a_campaign_that_is_killed_ends_without_a_verdict_and_keeps_what_it_found(tmp_path, monkeypatch):
    monkeypatch.setenv("STARTS", "conformance.pytest_suites.child")
    monkeypatch.setenv("SIGNAL", str(int(signal.SIGKILL)))
    (tmp_path / "kills.py").write_text(KILLS_ITS_CAMPAIGN)
    session = campaign(tmp_path, *SMALL, "--conformance-engine=kills.py:Kills")
    assert "the campaign was cut short: its process was ended by SIGKILL" in session.output
    assert session.exit == 1, session.output  # a violation had been seen
    assert "kills::outcome.commits" in session.tests("failed")
    assert "verdict" in session.tests("failed")
    assert "its footer is missing" in session.output


@pytest.mark.slow
def test_a_session_that_is_interrupted_has_the_campaign_write_its_reports(tmp_path, monkeypatch):
    monkeypatch.setenv("STARTS", "--pyargs")  # the process of pytest
    monkeypatch.setenv("SIGNAL", str(int(signal.SIGINT)))
    (tmp_path / "kills.py").write_text(KILLS_ITS_CAMPAIGN)
    session = campaign(tmp_path, *SMALL, "--conformance-engine=kills.py:Kills")
    assert session.exit == pytest.ExitCode.INTERRUPTED, session.output
    assert session.summary["exit"] == 130
    assert "outcome.commits" in {finding["requirement"] for finding in session.summary["findings"]}
    assert "STOPPED before its end" in session.output


@pytest.mark.slow
def test_a_baseline_that_can_not_be_read_fails_the_own_histories(tmp_path):
    (tmp_path / "test_own.py").write_text(OWN_TEST)
    words = ("--conformance-engine=reference", "--conformance-baseline=nowhere.json")
    session = pytest_in(tmp_path, *words)
    assert session.exit == pytest.ExitCode.TESTS_FAILED, session.output
    assert "conformance: can't read the baseline nowhere.json" in session.output
    assert "the test ran" not in session.output


@pytest.mark.slow
def test_the_results_folder_that_can_not_be_made_ends_with_2(tmp_path):
    (tmp_path / "taken").write_text("a file")
    session = campaign(tmp_path, *SMALL, "--conformance-engine=reference", "--conformance-out=taken")
    assert session.exit == 2, session.output
    assert "can't make a folder for the run in taken: it is a file" in session.output
    assert session.tests("passed") == set()


def test_a_failed_test_of_another_kind_makes_it_1(tmp_path):
    (tmp_path / "test_mine.py").write_text("def test_mine():\n    raise AssertionError('mine')\n")
    words = ("test_mine.py", f"--conformance-engine={engine('FailsSmoke')}")
    session = campaign(tmp_path, *SMALL, *words)
    assert session.exit == pytest.ExitCode.TESTS_FAILED, session.output
    assert json.loads((tmp_path / "conformance-results/latest/summary.json").read_text())["exit"] == 2
