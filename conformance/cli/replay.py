"""`conformance replay`: play the history of a finding again and say whether it still fails."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.cli.errors import UsageError
from conformance.reporting.text import harmless

HELP = """\
Usage: conformance replay FINDING...

Plays the history of each finding again, on the engine that it was found on.

  FINDING    the folder of a finding, as the last lines of a run and the report name it, or
             its history.json

Exit: 0 fixed, 1 still fails, 3 could not run.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `replay`."""
    parser.add_argument("findings", nargs="+", metavar="FINDING", type=Path)


def execute(arguments: argparse.Namespace) -> int:
    """Replay the findings and return the worst exit code."""
    from conformance.findings import NotAFinding  # noqa: PLC0415 - loads Hypothesis; --help shall not wait for it
    from conformance.triage.replay import COULD_NOT_RUN, FAILS, FIXED, replay  # noqa: PLC0415 - the same

    worst = FIXED
    for finding in arguments.findings:
        try:
            result = replay(finding)
        except NotAFinding as error:
            raise UsageError(
                str(error), "The last lines of a run, and its report, name the folders."
            ) from error
        sys.stdout.write(f"{harmless(result.text)}\n")
        sys.stdout.flush()
        worst = max(worst, result.exit, key=(FIXED, COULD_NOT_RUN, FAILS).index)
    return worst
