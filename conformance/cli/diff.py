"""`conformance diff`: compare two runs by causes and minimal histories, and say what regressed."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from conformance.cli.argument_types import one_of
from conformance.cli.errors import UsageError

FORMATS = ("text", "markdown", "json")

HELP = """\
Usage: conformance diff OLD NEW [--format NAME]

Says what changed from one run to another, for each engine that both tested. Engines are
compared by name, findings by cause or by minimal history, so versions, seeds and machines may
differ.

  OLD, NEW         the folder of a run, for instance conformance-results/latest, or its
                   summary.json
  --format NAME    text (the default, about a screen), markdown or json: all findings with
                   their histories

  regressed        NEW fails, and OLD was tested enough and did not
  inconclusive     NEW fails, and OLD was tested too little to say whether it did
  still failing    both fail
  fixed            OLD failed, and NEW was tested enough and does not
  not seen again   OLD failed, and NEW was tested too little to say that it is fixed
  newly tested     OLD was not tested for it, or did not come upon it in the same build

Exit: 0 nothing regressed, 1 regressed, 2 the runs can't be compared, 3 inconclusive.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `diff`."""
    parser.add_argument("old", metavar="OLD", type=Path)
    parser.add_argument("new", metavar="NEW", type=Path)
    parser.add_argument("--format", default="text", type=one_of("format", FORMATS))


def execute(arguments: argparse.Namespace) -> int:
    """Print the comparison and return its exit code."""
    from conformance.reporting.comparable_runs import UnlikeRuns  # noqa: PLC0415 - --help shall not wait for it
    from conformance.reporting.comparison import compare  # noqa: PLC0415 - the same
    from conformance.reporting.comparison_text import markdown_lines, terminal_lines  # noqa: PLC0415 - the same
    from conformance.reporting.comparison_view import as_json  # noqa: PLC0415 - the same
    from conformance.reporting.summary_reader import SummaryError, read_summary  # noqa: PLC0415 - the same

    try:
        comparison = compare(read_summary(arguments.old), read_summary(arguments.new))
    except SummaryError as error:
        raise UsageError(str(error)) from error
    except UnlikeRuns as error:
        raise UsageError(f"can't compare these runs: {error}") from error
    if arguments.format == "json":
        sys.stdout.write(json.dumps(as_json(comparison), indent=1) + "\n")
    else:
        lines = markdown_lines if arguments.format == "markdown" else terminal_lines
        sys.stdout.writelines(f"{line}\n" for line in lines(comparison))
    return comparison.exit
