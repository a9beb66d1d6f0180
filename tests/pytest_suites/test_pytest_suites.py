"""The suites as a user's pytest runs them: the same chunks, and a verdict at the end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from conformance.histories import History, Step
from conformance.pytest_suites.session import fails_a_run
from delta_models.operations import Append, Create
from delta_models.schema import LONG, struct
from delta_models.values import Rows
from tests.command_runs import engine
from tests.reporting.samples import SIGHTING, triaged

SMALL = (
    "--conformance-profile=dev", "--conformance-examples=2", "--conformance-steps=6", "--conformance-seed=1",
    "-p", "no:cacheprovider", "-q",
)  # fmt: skip


SCHEMA = struct(("id", LONG))
CREATE = Create(SCHEMA)
SUITES = {"crashes", "examples", "lockstep", "races", "shared"}


def collected(tmp_path, *words: str) -> set[str]:
    """The suites that pytest collects tests of."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        *SMALL,
        "--conformance-engine=reference",
        *words,
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(re.findall(r"::test_\w+\[(\w+)-\d+\]", done.stdout))


@pytest.mark.parametrize("package", ("conformance.suites", "conformance.pytest_suites"))
def test_the_suites_are_collected_under_the_name_of_either_package(tmp_path, package):
    words = ("--pyargs", package, "--conformance-profile=ci")
    assert collected(tmp_path, *words) == SUITES


@pytest.mark.parametrize(
    "name",
    (
        "conformance.suites.test_lockstep",
        "conformance.suites.test_lockstep::test_every_step_is_what_the_model_says",
        "conformance.pytest_suites.test_lockstep",
    ),
)
def test_one_suite_is_collected_by_the_name_of_its_module(tmp_path, name):
    assert collected(tmp_path, "--pyargs", name) == {"lockstep"}


def test_an_expression_of_other_options_stays_as_it_is(tmp_path):
    assert collected(
        tmp_path, "--pyargs", "-k", "not conformance.suites", "conformance.suites.test_shared"
    ) == {"shared"}


KEPT = History("lockstep", "ci", 3, 77, (Step(CREATE), Step(Append(Rows(SCHEMA, ((1,), (2,)))))))


def keep(folder, *names: str) -> None:
    folder.mkdir()
    for name in names:
        (folder / f"{name}.json").write_text(json.dumps(KEPT.to_json()))


@pytest.mark.parametrize("folder", ("regressions", "kept"))
def test_kept_histories_are_tests_of_their_own_names_before_all_others(tmp_path, folder):
    keep(tmp_path / folder, "two-rows", "again")
    words = () if folder == "regressions" else (f"--conformance-regressions={folder}",)
    done = run_pytest(tmp_path, "--collect-only", "--conformance-engine=reference", *words)
    names = re.findall(r"::(test_\w+\[.*\])$", done.stdout, re.MULTILINE)
    assert names[:2] == ["test_a_kept_history_holds[again]", "test_a_kept_history_holds[two-rows]"]
    assert len(names) > 2
    assert not any("kept" in name for name in names[2:])


@pytest.mark.slow
def test_a_kept_history_fails_the_test_of_its_name_on_an_engine_that_breaks_it(tmp_path):
    keep(tmp_path / "regressions", "two-rows")
    words = ("-k", "two-rows", "-rf", "--conformance-engine")
    done = run_pytest(tmp_path, *words, engine("Lies"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAILED" in done.stdout
    assert "test_a_kept_history_holds[two-rows]" in done.stdout
    assert "breaks outcome.commits (new must, 2 steps)" in done.stdout
    assert run_pytest(tmp_path, *words, "reference").returncode == 0


def test_a_folder_of_kept_histories_that_is_not_there_ends_the_session_at_once(tmp_path):
    done = run_pytest(tmp_path, "--conformance-regressions=nowhere")
    assert done.returncode == 4
    assert "nowhere: no such folder. A folder of kept findings was expected." in done.stderr


def run_pytest(tmp_path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "--pyargs", "conformance.suites", *SMALL, *words]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=250, check=False)


@pytest.mark.slow
def test_an_honest_engine_passes_and_the_verdict_says_that_little_was_tested(tmp_path):
    done = run_pytest(tmp_path, "--conformance-engine", engine("Honest"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "inconclusive" in done.stdout
    summary = json.loads((tmp_path / "conformance-results" / "latest" / "summary.json").read_text())
    assert {suite["name"] for suite in summary["suites"]} == {"examples", "lockstep", "shared"}


@pytest.mark.slow
def test_a_lie_fails_the_chunk_at_its_end_with_the_line_that_replays_it(tmp_path):
    done = run_pytest(tmp_path, "--conformance-engine", engine("Lies"), "-k", "lockstep")
    assert done.returncode == 1
    assert "breaks outcome.commits (new must, 2 steps)" in done.stdout
    assert "conformance replay" in done.stdout


def test_an_unknown_engine_is_told_before_anything_runs(tmp_path):
    done = run_pytest(tmp_path, "--conformance-engine", "delta-spork")
    assert done.returncode == 4
    assert "delta-spork" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("strength", "state", "engine", "strict", "fails"),
    (
        ("must", "new", "delta-rs@1.6.6", False, True),
        ("must", "unexplained", "delta-rs@1.6.6", False, True),
        ("must", "unstable", "delta-rs@1.6.6", False, True),
        ("must", "known", "delta-rs@1.6.6", False, False),
        ("should", "new", "delta-rs@1.6.6", False, False),
        ("reference", "new", "delta-rs@1.6.6", False, False),
        ("reference", "new", "pyspark@0.1.0", True, True),
        ("reference", "new", "delta-spark@4.4.0", False, True),
        ("reference", "unexplained", "delta-spark@4.4.0", False, False),
    ),
)
def test_a_finding_fails_a_test_if_it_fails_a_run(strength, state, engine, strict, fails):
    sighting = replace(SIGHTING, strength=strength, engine=engine)
    assert fails_a_run(sighting, triaged(state, sighting), strict=strict) is fails


def test_an_engine_that_fails_its_smoke_test_ends_the_session_with_2_before_anything_is_played(tmp_path):
    done = run_pytest(tmp_path, "--conformance-engine", engine("FailsSmoke"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert (
        "was asked for and can't be tested: failssmoke@1.0 fails its smoke test" in done.stdout + done.stderr
    )
    events = (tmp_path / "conformance-results" / "latest" / "events.jsonl").read_text()
    assert "ChunkStarted" not in events


def test_what_this_machine_lacks_ends_the_session_with_3(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    done = run_pytest(tmp_path, "--conformance-engine", "delta-spark")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "can't run on this machine: Java 17 or newer is needed" in done.stdout + done.stderr
