"""Tell a job of GitHub Actions how a run ended: annotations, the job's summary, and the outputs of the step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from conformance.reporting.exit_status import FAULT, NAMES
from conformance.reporting.finding_groups import finding_groups
from conformance.reporting.github.commands import annotate, deaf
from conformance.reporting.github.notices import ERROR, Notice, at_most, notices
from conformance.reporting.github.outputs import add_summary, set_outputs
from conformance.reporting.github.summary import failure_summary, job_summary
from conformance.reporting.results import Results
from conformance.reporting.terminal.final_summary import closing_lines
from conformance.reporting.text import harmless

MOST = 10  # annotations of one level that GitHub shows for a step; it drops the rest without a word
REST = "The summary of the job and report.html list them."


def conclude(
    results: Results,
    folder: Path | None,
    out: TextIO,
    environment: Mapping[str, str],
    report: Path | None = None,
) -> None:
    """Write the last lines of a run, its annotations, its summary and its outputs. Raises CannotWrite.

    `folder` is the run's folder, and `report` the page that people open.
    """
    with deaf(out):
        out.write("\n".join(closing_lines(results, report)) + "\n")
    annotate(at_most(MOST, notices(results), REST), out)
    add_summary(job_summary(results), environment)
    outputs = {
        "verdict": results.outcome.verdict,
        "exit": str(results.outcome.exit),
        "new": str(
            sum(len(group.findings) for group in finding_groups(results.findings) if group.kind.serious)
        ),
    }
    outputs |= {"folder": str(folder)} if folder else {}
    outputs |= {"report": str(report)} if report else {}
    set_outputs(outputs, environment)


def conclude_failure(message: str, out: TextIO, environment: Mapping[str, str]) -> None:
    """Tell the job that a command could not do what it was asked for. Raises CannotWrite."""
    first, *rest = harmless(message).splitlines() or ["nothing is known of the cause"]
    annotate([Notice(ERROR, "nothing was tested", (first, *(line.strip() for line in rest)))], out)
    add_summary(failure_summary(message), environment)
    set_outputs({"verdict": NAMES[FAULT], "exit": str(FAULT)}, environment)
