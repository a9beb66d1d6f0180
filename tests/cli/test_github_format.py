"""`--format github` tells the job of GitHub how the command ended, whatever the end is."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cli import main
from tests.cli.conversation import run_command
from tests.reporting.samples import FINDING, record, small_run

SHORT = (
    "run",
    "--engine",
    "reference",
    "--suite",
    "lockstep",
    "--examples",
    "2",
    "--steps",
    "3",
    "--seed",
    "7",
)


@pytest.fixture(name="job")
def a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the files that a runner of GitHub gives to a step."""
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_writes_its_summary_and_its_outputs(job):
    answer = run_command([*SHORT, "--format", "github"], job)
    assert answer.returncode == 3, answer.stderr
    assert answer.stdout.startswith("::group::conformance run\n::stop-commands::")
    assert "\n::error title=inconclusive%2C for " in answer.stdout
    outputs = dict(line.split("=", 1) for line in (job / "GITHUB_OUTPUT").read_text().splitlines())
    assert (outputs["verdict"], outputs["exit"], outputs["new"]) == ("inconclusive", "3", "0")
    assert Path(job, outputs["report"]).is_file()
    assert (job / "GITHUB_STEP_SUMMARY").read_text().startswith("## ❔ INCONCLUSIVE")


@pytest.mark.parametrize(
    ("words", "says"),
    (
        (("run", "--engine", "nothing-such", "--format", "github"), "no engine is called 'nothing-such'"),
        (("run", "--profile", "gaet", "--format=github"), "unknown profile 'gaet'"),
        (("run", "--profile", "gate:cora", "--engine", "reference", "--format", "github"), "cora"),
        (("report", "nowhere", "--format", "github"), "nowhere"),
    ),
)
def test_a_command_that_can_do_nothing_says_so_in_the_job(job, capsys, words, says):
    assert main(list(words)) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.out.startswith("::error title=nothing was tested::")
    assert says in captured.out
    assert "verdict=harness-fault\nexit=2\n" in (job / "GITHUB_OUTPUT").read_text()
    assert (job / "GITHUB_STEP_SUMMARY").read_text().startswith("## 🛠️ Nothing was tested")


def test_without_that_format_nothing_is_told(job, capsys):
    assert main(["run", "--profile", "gaet"]) == 2
    assert "::error" not in capsys.readouterr().out
    assert not (job / "GITHUB_OUTPUT").exists()


def test_parts_of_a_run_are_told_as_one(job, capsys):
    record(job / "a", *small_run())
    record(job / "b", *small_run(FINDING, seed=2))
    assert main(["report", "a", "b", "--html", "all.html", "--format", "github"]) == 0
    assert "::error title=delta-rs@1.6.6 violates log.remove-names-live-file::" in capsys.readouterr().out
    assert "verdict=violated\nexit=1\nnew=1\nreport=all.html\n" in (job / "GITHUB_OUTPUT").read_text()
    assert (job / "GITHUB_STEP_SUMMARY").read_text().startswith("## ❌ VIOLATED")
