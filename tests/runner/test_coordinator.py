"""However a run ends, it reports that, keeps its findings, and leaves no process."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from delta_adapters import registry
from delta_adapters.host_supervisor import descendants
from tests.command_runs import engine

HONEST = engine("Honest")


def start(out: Path, *words: str) -> subprocess.Popen[str]:
    """Start a run in a process of its own. It prints its events."""
    command = [sys.executable, "-m", "conformance", "run", "--format", "json", "--out", str(out), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], kind: str) -> None:
    """Read events until one of this kind comes."""
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == kind:
            return
    pytest.fail(f"it ended before {kind}")


def events(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "latest" / "events.jsonl").read_text().splitlines()]


def assert_ended(watched: list[int], seconds: float) -> None:
    """Assert that these processes, given by descriptors, end. The system may still be removing one."""
    for descriptor in watched:
        assert select.select([descriptor], [], [], seconds)[0], "a process outlived the run"
        os.close(descriptor)


@pytest.mark.parametrize("number", (signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)))
def test_ctrl_c_ends_with_130_and_a_footer_and_no_process_is_left(tmp_path, number):
    process = start(
        tmp_path, "--engine", HONEST, "--profile", "nightly", "--suite", "lockstep", "--jobs", "2"
    )
    wait_for(process, "HistoryEnded")
    while (
        len(family := descendants(process.pid)) < 4
    ):  # two workers with a host each, of which one may be slow
        wait_for(process, "HistoryEnded")
    watched = [os.pidfd_open(pid) for pid in family]
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert_ended(watched, 5)
    recorded = [event["event"] for event in events(tmp_path)]
    assert recorded[-1] == "RunEnded"
    assert "Interrupted" in recorded
    assert "HistoryEnded" in recorded
    assert json.loads((tmp_path / "latest" / "summary.json").read_text())["exit"] == 130


@pytest.mark.slow
def test_ctrl_c_in_triage_leaves_the_sighting_and_no_process(tmp_path):
    words = ("--profile", "dev", "--suite", "lockstep", "--examples", "2", "--steps", "6", "--jobs", "1")
    process = start(tmp_path, "--engine", engine("HangsInTriage"), *words)
    wait_for(process, "Triaging")
    watched = [os.pidfd_open(pid) for pid in descendants(process.pid)]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert_ended(watched, 5)
    summary = json.loads((tmp_path / "latest" / "summary.json").read_text())
    assert {finding["state"] for finding in summary["findings"]} == {"unexplained"}
    assert all((tmp_path / "latest" / finding["folder"]).is_dir() for finding in summary["findings"])


@pytest.mark.slow
def test_a_run_that_is_killed_outright_leaves_no_process_either(tmp_path):
    process = start(
        tmp_path, "--engine", HONEST, "--profile", "nightly", "--suite", "lockstep", "--jobs", "1"
    )
    wait_for(process, "HistoryEnded")
    watched = [os.pidfd_open(descendant) for descendant in descendants(process.pid)]
    process.kill()
    process.communicate()
    assert watched
    assert_ended(watched, 30)


@pytest.mark.slow
def test_two_runs_on_one_output_folder_keep_out_of_each_others_way(tmp_path):
    small = (
        "--engine",
        HONEST,
        "--profile",
        "dev",
        "--suite",
        "lockstep",
        "--examples",
        "1",
        "--steps",
        "3",
        "--jobs",
        "1",
    )
    first, second = start(tmp_path, *small, "--seed", "1"), start(tmp_path, *small, "--seed", "2")
    for process in (first, second):
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 3, errors
    folders = sorted(path for path in tmp_path.iterdir() if path.is_dir() and not path.is_symlink())
    assert len(folders) == 2
    assert {json.loads((folder / "summary.json").read_text())["seed"] for folder in folders} == {1, 2}
    assert (tmp_path / "latest").resolve() in folders


@pytest.mark.slow
def test_a_budget_that_is_spent_early_leaves_the_run_inconclusive(run):
    done = run("--engine", HONEST, "--profile", "nightly", "--suite", "lockstep", "--budget", "2s")
    assert done.exit == 3
    assert "budget" in done.output
    assert [suite for suite in done.summary["suites"] if not suite["complete"]]


@pytest.mark.slow
def test_a_run_ends_after_as_many_findings_as_asked_for(run):
    done = run(
        "--engine", engine("Lies"), "--profile", "nightly", "--suite", "lockstep", "--max-findings", "1"
    )
    assert done.exit == 1
    assert len(done.summary["findings"]) >= 1
    assert "--max-findings" in done.output


def test_without_java_the_other_default_engine_plays_and_the_run_is_inconclusive_and_says_why(
    run, monkeypatch
):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    registry.java_availability.cache_clear()
    try:
        done = run()
    finally:
        registry.java_availability.cache_clear()
    assert done.exit == 3
    assert {state["status"] for state in done.summary["engines"]} == {"tested", "unavailable"}
    assert "openjdk-17" in done.output
