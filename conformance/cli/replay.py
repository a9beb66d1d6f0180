"""`conformance replay`: plays the history of a finding again and says whether it still fails."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.cli.errors import UsageError

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
    """Replay each; the worst counts."""
    from conformance.findings.replay import FIXED, replay  # noqa: PLC0415 - loads the engines

    for each in arguments.findings:
        if not each.exists():
            raise UsageError(
                f"{each}: no finding there",
                "Give the folder of a finding: conformance-results/latest/findings/...",
            )
    worst = FIXED
    for each in arguments.findings:
        result = replay(each)
        sys.stdout.write(f"{result.text}\n")
        worst = max(worst, result.exit, key=(0, 3, 1).index)
    return worst
