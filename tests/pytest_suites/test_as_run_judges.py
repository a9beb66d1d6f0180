"""The same campaign, by `conformance run` and by pytest: verdict, claims, findings and failed tests are the same."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from tests.command_runs import engine
from tests.pytest_suites.sessions import PATIENT, Session, campaign

PLAYS = {
    "honest": ("Honest", ("--suite=lockstep", "--suite=examples", "--examples=6", "--steps=12")),
    "lies": ("Lies", ("--suite=lockstep", "--examples=3", "--steps=8")),
    "claims-little": ("NeverUpdates", ("--suite=lockstep", "--examples=3", "--steps=8")),
}


@pytest.fixture(scope="module", params=PLAYS)
def both(request, tmp_path_factory):
    """The exit code and the folder of a run, and the session of pytest with the same options."""
    name, words = PLAYS[request.param]
    words = (*words, f"--engine={engine(name)}", "--profile=dev", "--seed=5", "--jobs=1")
    folder = tmp_path_factory.mktemp(request.param)
    command = [sys.executable, "-m", "conformance", "run", *words, "--out=by-run", "--format=plain"]
    run = subprocess.run(
        command, cwd=folder, env={**os.environ, **PATIENT}, capture_output=True, text=True, check=False
    )
    return run.returncode, folder, campaign(folder, *(word.replace("--", "--conformance-") for word in words))


def of_run(folder) -> Session:
    """What `conformance run` left, as a session has it."""
    (folder / "conformance-results").rename(folder / "by-pytest")
    (folder / "conformance-results").symlink_to("by-run")
    return Session(0, "", folder)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_pytest_judges_as_run_does(both):
    code, folder, session = both
    assert session.exit == code, session.output
    by_pytest = session.summary
    by_run = of_run(folder).summary
    for same in ("verdict", "exit", "reasons", "seed", "profile", "claims"):
        assert by_pytest[same] == by_run[same]
    kept = ("fingerprint", "requirement", "engine", "state", "cause", "times")
    assert [[finding[key] for key in kept] for finding in by_pytest["findings"]] == [
        [finding[key] for key in kept] for finding in by_run["findings"]
    ]
    cases = list(ET.parse(folder / "by-run" / "latest" / "junit.xml").iter("testcase"))
    failed = {case.get("name", "").partition(" [")[0] for case in cases if case.find("failure") is not None}
    tests = {name.rpartition("::")[2] for name in session.tests("failed")} - {"verdict"}
    assert tests == failed
    assert session.outcomes["verdict"] == ("passed" if code == 0 else "failed")
    assert by_pytest["command"][:2] == ["conformance", "run"], "a person can type it"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_an_honest_engine_holds_with_a_whole_profile(tmp_path):
    session = campaign(tmp_path, f"--conformance-engine={engine('Honest')}", "-n2", limit=1700)
    assert session.exit == 0, session.output[-4000:]
    assert session.tests("failed") == set()
    assert session.outcomes["verdict"] == "passed"
    assert "honest::contents.append" in session.tests("passed")
