"""`conformance shrink`: make the history of a finding as small as it gets."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.argument_types import duration
from conformance.cli.errors import UsageError
from conformance.reporting.text import harmless

if TYPE_CHECKING:
    from conformance.triage.shrink import Progress

SHRUNK, COULD_NOT_RUN, STOPPED = 0, 3, 130
BUDGET = 300.0

HELP = """\
Usage: conformance shrink FINDING... [OPTIONS]

Makes the history of each finding smaller, on the engine that it was found on, for as long as
it still fails in the same way: fewer steps, rows, columns and options, and simpler values.
The smallest history is written to minimal.json beside the original, history.json. A shrink
that ran out of time, or that was stopped, goes on where it stopped.

  FINDING            the folder of a finding, as the last lines of a run and the report
                     name it

  --budget TIME      stop after 90s, 5m or 1h for all findings together; 5m by default
  --deviations DIR   causes of your own beside the known ones, as the run had them

Exit: 0 shrunk, or nothing smaller fails, 3 could not run, or it does not show again.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `shrink`."""
    parser.add_argument("findings", nargs="+", metavar="FINDING", type=Path)
    parser.add_argument("--budget", type=duration, default=BUDGET)
    parser.add_argument("--deviations", type=Path)


def execute(arguments: argparse.Namespace) -> int:
    """Shrink the findings one after another; those that need less time leave more to the others."""
    from conformance.findings import FindingError, NotAFinding  # noqa: PLC0415 - loads Hypothesis; --help shall not wait for it
    from conformance.findings.catalogue import catalogue  # noqa: PLC0415 - the same
    from conformance.triage.hosts import CannotRun  # noqa: PLC0415 - the same
    from conformance.triage.replayer import Replayer  # noqa: PLC0415 - the same
    from conformance.triage.shrink_command import shrink_finding  # noqa: PLC0415 - the same
    from delta_adapters.deviations import BadCause  # noqa: PLC0415 - the same

    try:
        causes = catalogue(arguments.deviations)
    except BadCause as error:
        raise UsageError(f"--deviations: {error}") from error
    worst, deadline = SHRUNK, time.monotonic() + arguments.budget
    with Replayer() as replayer:
        for number, folder in enumerate(arguments.findings):
            seconds = max(0.0, deadline - time.monotonic()) / (len(arguments.findings) - number)
            try:
                result = shrink_finding(folder, replayer, seconds, _show, causes)
            except NotAFinding as error:
                raise UsageError(
                    str(error), "The last lines of a run, and its report, name the folders."
                ) from error
            except (CannotRun, FindingError) as error:
                _say(f"{folder} could not be shrunk: {error}")
                worst = COULD_NOT_RUN
                continue
            _say(result.text)
            if result.stopped:
                return STOPPED
            if not result.shrunk.reproduced:
                worst = COULD_NOT_RUN
    return worst


def _show(progress: Progress) -> None:
    """Say how far it is, where a person looks on."""
    if sys.stderr.isatty():
        sys.stderr.write(
            f"\r\x1b[K{progress.steps} steps, {progress.tries} tries, {progress.left:.0f} s left"
        )
        sys.stderr.flush()


def _say(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
    sys.stdout.write(f"{harmless(text)}\n")
    sys.stdout.flush()
