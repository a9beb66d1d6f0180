"""`conformance report`: write the reports of recorded runs again, several runs merged into one."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from conformance.cli.argument_types import one_of
from conformance.cli.errors import UsageError
from conformance.reporting.atomic_write import CannotWrite
from conformance.reporting.event_log import NAME, NoRecording, Recording, RecordingError, read
from conformance.reporting.results import Results
from conformance.reporting.terminal.final_summary import closing_lines
from conformance.reporting.text import here

HELP = """\
Usage: conformance report DIR... [--html F] [--markdown F] [--junit F] [--summary F]
                          [--format NAME]

Writes the reports of recorded runs again, from their events.jsonl. Several DIRs, shards of
one run or runs with different seeds, become one report; what two of them share counts once.

  DIR            the folder of a run, for instance conformance-results/latest
  --html F       the report for people, one file that needs no network
  --markdown F   the report for a comment on a pull request
  --junit F      the claims as test cases for a CI server
  --summary F    the results for other programs
  --format NAME  plain (default), or github: with annotations and a summary of the job

Without any of these the reports of one DIR are written into it.
Exit: 0 when written, whatever the verdict.
"""

FORMS = ("html", "markdown", "junit", "summary")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `report`."""
    parser.add_argument("folders", nargs="+", metavar="DIR", type=Path)
    for name in FORMS:
        parser.add_argument(f"--{name}", type=Path, metavar="F")
    parser.add_argument("--format", default="plain", type=one_of("format", ("plain", "github")))


def execute(arguments: argparse.Namespace) -> int:
    """Read the recordings, merge them and write the reports."""
    from conformance.reporting.formats import FORMATS  # noqa: PLC0415 - loads the model; --help shall not wait for it
    from conformance.reporting.github.job import conclude  # noqa: PLC0415 - the same

    results = _results([_recording(path) for path in arguments.folders])
    wanted = {name: path for name in FORMS if (path := getattr(arguments, name)) is not None}
    if not wanted and len(arguments.folders) > 1:
        raise UsageError("several runs, and nowhere to write their report", "Give --html F, for instance.")
    folder = arguments.folders[0] if arguments.folders[0].is_dir() else arguments.folders[0].parent
    targets = wanted or {name: folder / form.file for name, form in FORMATS.items()}
    try:
        for name, path in targets.items():
            FORMATS[name].write(results, path)
        if arguments.format == "github":
            conclude(results, None, sys.stdout, os.environ, targets.get("html"))
        else:
            sys.stdout.write("\n".join(closing_lines(results, None)) + "\n\n")
    except CannotWrite as error:
        raise UsageError(str(error)) from error
    sys.stdout.writelines(f"Written: {here(path)}\n" for path in targets.values())
    return 0


def _recording(folder: Path) -> Recording:
    try:
        return read(folder)
    except NoRecording as error:
        inside = sorted((path for path in folder.glob(f"*/{NAME}")), key=lambda path: path.parent.name)
        cure = f"There are runs inside: {here(inside[-1].parent)}" if inside else ""
        raise UsageError(str(error), cure) from error
    except RecordingError as error:
        raise UsageError(str(error)) from error


def _results(recordings: list[Recording]) -> Results:
    from conformance.reporting.comparable_runs import UnlikeRuns  # noqa: PLC0415 - the same
    from conformance.reporting.merge import merge  # noqa: PLC0415 - loads the catalogue

    try:
        return merge(recordings)
    except UnlikeRuns as error:
        raise UsageError(str(error), "Report them one by one.") from error
