"""`conformance replay`: play the history of a finding again and say whether it still fails."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.cli.errors import UsageError
from conformance.reporting.text import harmless

HELP = """\
Usage: conformance replay FINDING... [--engine NAME[@VERSION|@PATH]] [--deviations DIR]

Plays the history of each finding again, on the engine that it was found on, or on another
version or build of it: is it fixed there?

  FINDING           the folder of a finding, as the last lines of a run and the report name
                    it, or its history.json
  --engine ENGINE   the version or build: delta-rs@1.6.6, or a path after the @, to a wheel, a
                    checkout or a JAR. The minimal history is played, if there is one
  --deviations DIR  causes of your own beside the known ones, as the run had them. What another
                    cause predicts does not count

Exit: 0 fixed, 1 still fails, 3 could not run.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `replay`."""
    parser.add_argument("findings", nargs="+", metavar="FINDING", type=Path)
    parser.add_argument("--engine", metavar="ENGINE")
    parser.add_argument("--deviations", type=Path)


def execute(arguments: argparse.Namespace) -> int:
    """Replay the findings and return the worst exit code."""
    from conformance.findings import NotAFinding  # noqa: PLC0415 - loads Hypothesis; --help shall not wait for it
    from conformance.findings.catalogue import catalogue  # noqa: PLC0415 - the same
    from conformance.triage.replay import COULD_NOT_RUN, FAILS, FIXED, replay  # noqa: PLC0415 - the same
    from delta_adapters.deviations import BadCause  # noqa: PLC0415 - the same

    if arguments.engine is not None:
        _refuse_unknown(arguments.engine)
    try:
        causes = catalogue(arguments.deviations)
    except BadCause as error:
        raise UsageError(f"--deviations: {error}") from error
    worst = FIXED
    for finding in arguments.findings:
        try:
            result = replay(finding, engine=arguments.engine, causes=causes)
        except NotAFinding as error:
            raise UsageError(
                str(error), "The last lines of a run, and its report, name the folders."
            ) from error
        sys.stdout.write(f"{harmless(result.text)}\n")
        sys.stdout.flush()
        worst = max(worst, result.exit, key=(FIXED, COULD_NOT_RUN, FAILS).index)
    return worst


def _refuse_unknown(text: str) -> None:
    from delta_adapters.registry import UnknownEngine, parse_engine  # noqa: PLC0415 - --help needs no engine

    try:
        parse_engine(text)
    except UnknownEngine as error:
        raise UsageError(str(error), "See: conformance engines") from error
