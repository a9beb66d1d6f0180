"""`conformance run` as a process, with a real engine: its files, its exit codes, and interruptions."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.events.serialization import name_of
from conformance.reporting.event_log import read
from tests.cli.conversation import run_command

pytestmark = pytest.mark.slow

SHORT = (
    "run",
    "--engine",
    "delta-rs",
    "--suite",
    "lockstep",
    "--examples",
    "2",
    "--steps",
    "4",
    "--seed",
    "7",
    "--jobs",
    "1",
)
LONG = (
    "run",
    "--engine",
    "delta-rs",
    "--profile",
    "nightly",
    "--seed",
    "7",
    "--jobs",
    "2",
    "--format",
    "json",
)
FILES = {"events.jsonl", "summary.json", "report.html", "report.md", "junit.xml"}


def summary_of(folder: Path) -> dict[str, Any]:
    """Return the summary of the newest run in a folder of results."""
    document: dict[str, Any] = json.loads((folder / "latest" / "summary.json").read_text())
    return document


def start(words: Sequence[str], cwd: Path) -> subprocess.Popen[str]:
    """Start a run that continues beside the test."""
    return subprocess.Popen(
        [sys.executable, "-m", "conformance", *words],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "CONFORMANCE_TEST_MARK": str(cwd)},
    )  # fmt: skip


def remaining_processes(mark: Path) -> list[str]:
    """Return the command lines of processes that a run started and did not end."""
    commands = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"CONFORMANCE_TEST_MARK={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                commands.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return commands


def test_a_run_leaves_a_whole_folder_and_the_link_to_it(tmp_path):
    answer = run_command([*SHORT, "--out", "out"], tmp_path)
    assert answer.returncode in {0, 1, 3}, answer.stderr
    assert answer.stderr == ""
    folder = (tmp_path / "out" / "latest").resolve()
    assert {path.name for path in folder.iterdir()} - {"findings", "sightings"} == FILES
    recording = read(folder)
    assert recording.complete
    assert recording.header.seed == 7
    assert recording.header.command[:2] == ("conformance", "run")
    document = summary_of(tmp_path / "out")
    assert document["exit"] == answer.returncode
    assert document["engines"][0]["version"] == "1.6.6"
    assert f"Report: out/{folder.name}/report.html" in answer.stdout
    again = run_command(["report", "out/latest", "--summary", "again.json"], tmp_path)
    assert again.returncode == 0
    assert json.loads((tmp_path / "again.json").read_text()) == document, (
        "the recording says all that the run knew"
    )


def test_repeated_signals_tear_nothing_and_printed_events_are_recorded(tmp_path):
    process = start([*LONG, "--out", "out"], tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    printed = []
    for line in process.stdout:
        printed.append(json.loads(line)["event"])
        if printed[-1] == "HistoryEnded":
            for signal_number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
                process.send_signal(signal_number)
    assert process.stderr.read() == ""
    assert process.wait(60) == 130
    recording = read(tmp_path / "out" / "latest")
    assert recording.complete
    assert [name for name in printed if name not in {"Progress", "Triaging"}] == [
        name_of(event) for event in recording.events
    ]
    assert summary_of(tmp_path / "out")["verdict"] == "interrupted"
    assert remaining_processes(tmp_path) == []
    process.stdout.close()
    process.stderr.close()


def test_a_full_disk_is_reported_in_one_message_and_findings_can_be_reported(tmp_path):
    """A limit on the size of the run's files stands in for the disk: the kernel refuses the write in the same way."""
    process = start([*LONG, "--out", "out"], tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    for line in process.stdout:
        if '"HistoryEnded"' in line:
            size = (tmp_path / "out").glob("*/events.jsonl").__next__().stat().st_size
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size + 10, resource.RLIM_INFINITY))
            break
    for _ in process.stdout:
        pass
    message = process.stderr.read()
    assert process.wait(60) == 2
    process.stdout.close()
    process.stderr.close()
    assert message.startswith("conformance: can't write out/")
    assert "File too large. What was found until here is kept in that folder." in message
    assert message.count("\n") == 1
    assert remaining_processes(tmp_path) == []
    (folder,) = (path for path in (tmp_path / "out").iterdir() if not path.is_symlink())
    reported = run_command(["report", folder], tmp_path)
    assert reported.returncode == 0, reported.stderr
    assert "INCONCLUSIVE" in reported.stdout or "VIOLATED" in reported.stdout


FORGETFUL = """
from dataclasses import replace
from delta_adapters.contract import Answer
from delta_adapters.delta_rs import DeltaRs

class Forgetful(DeltaRs):
    @property
    def identity(self):
        return replace(super().identity, name="forgetful")

    def read(self, read):
        answer = super().read(read)
        if not isinstance(answer, Answer) or answer.table.num_rows < 4:  # a smoke test has fewer
            return answer
        return Answer(answer.table.slice(1), answer.version)
"""


def test_a_forgotten_row_is_found_replayed_and_known_in_a_baseline(tmp_path):
    (tmp_path / "mutant.py").write_text(FORGETFUL)
    words = [
        *(argument.replace("delta-rs", "mutant.py:Forgetful") for argument in SHORT),
        "--examples",
        "4",
        "--steps",
        "8",
    ]
    first = run_command([*words, "--out", "before"], tmp_path)
    assert first.returncode == 1
    before = summary_of(tmp_path / "before")
    assert "VIOLATED" in first.stdout
    command = next(line.split() for line in first.stdout.splitlines() if "conformance replay " in line)
    assert run_command(command[1:], tmp_path).returncode == 1
    run_command([*words, "--out", "after", "--baseline", "before/latest/summary.json"], tmp_path)
    after = summary_of(tmp_path / "after")
    assert {finding["fingerprint"] for finding in after["findings"]} == {
        finding["fingerprint"] for finding in before["findings"]
    }
    assert all(finding["known"] for finding in after["findings"])
    assert after["exit"] == 3


def test_on_a_terminal_a_panel_is_drawn_and_taken_away(tmp_path):
    """`script` gives the command a terminal, as a person has one."""
    command = f"{sys.executable} -m conformance {' '.join(SHORT)} --out out"
    answer = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    )  # fmt: skip
    assert answer.returncode in {0, 1, 3}
    assert "\x1b[" in answer.stdout
    assert "steps" in answer.stdout
    assert "Report: out/" in answer.stdout
    assert answer.stdout.count("\x1b[?25h") == answer.stdout.count("\x1b[?25l") > 0, (
        "the cursor is given back"
    )
