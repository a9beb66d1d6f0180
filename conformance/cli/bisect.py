"""`conformance bisect`: between which released versions a finding's failure began and ended."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.errors import UsageError
from conformance.reporting.text import harmless, one_line

if TYPE_CHECKING:
    from conformance.triage.on_build import Verdict

FOUND, COULD_NOT_RUN = 0, 3

HELP = """\
Usage: conformance bisect FINDING --engine NAME [--from V] [--to V] [--deviations DIR]

Says between which released versions of an engine the failure of a finding began, and between
which it ended. Each version that is tried gets an environment of its own, which is kept.

  FINDING           the folder of a finding, as the last lines of a run and the report name it
  --engine NAME     the engine whose versions are tried, the one that the finding is about
  --from V          the oldest version that may be tried; by default the first released
  --to V            the newest one; by default the last released
  --deviations DIR  causes of your own beside the known ones, as the run had them. What another
                    cause predicts does not count as a failure

A version that can't be installed or that lacks an operation of the history is skipped and
named. The minimal history is played, if the finding has one: `conformance shrink` makes it.

Exit: 0 answered, 3 it fails in no version that was tried, or none could be played.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `bisect`."""
    parser.add_argument("finding", metavar="FINDING", type=Path)
    parser.add_argument("--engine", required=True, metavar="NAME")
    parser.add_argument("--from", dest="first", metavar="V")
    parser.add_argument("--to", dest="last", metavar="V")
    parser.add_argument("--deviations", type=Path)


def execute(arguments: argparse.Namespace) -> int:
    """Bisect the finding and print what was tried, and the answer."""
    from conformance.findings import FindingError, NotAFinding, load_finding  # noqa: PLC0415 - loads Hypothesis
    from conformance.findings.catalogue import catalogue  # noqa: PLC0415 - the same
    from conformance.triage.bisect_command import BadRange, bisect_finding  # noqa: PLC0415 - the same
    from delta_adapters.deviations import BadCause  # noqa: PLC0415 - the same
    from delta_adapters.environments import EnvironmentProblem  # noqa: PLC0415 - --help needs no engine

    try:
        causes = catalogue(arguments.deviations)
        finding = load_finding(arguments.finding)
        found = bisect_finding(
            finding, arguments.engine, arguments.first, arguments.last, causes=causes, show=_show
        )
    except NotAFinding as error:
        raise UsageError(str(error), "The last lines of a run, and its report, name the folders.") from error
    except BadCause as error:
        raise UsageError(f"--deviations: {error}") from error
    except BadRange as error:
        raise UsageError(str(error), "See: conformance bisect --help") from error
    except (FindingError, EnvironmentProblem) as error:
        sys.stdout.write(f"could not run: {harmless(str(error))}\n")
        return COULD_NOT_RUN
    sys.stdout.write(f"{finding.fingerprint}: {arguments.engine} and {finding.key.requirement}\n\n")
    sys.stdout.writelines(f"  {line}\n" for line in _table(found.tried))
    sys.stdout.write(f"\n{found.sentence}\n")
    return FOUND if found.fails_somewhere else COULD_NOT_RUN


def _show(version: str, verdict: Verdict) -> None:
    sys.stderr.write(f"{version}: {verdict.outcome}\n")
    sys.stderr.flush()


def _table(tried: dict[str, Verdict]) -> list[str]:
    wide = max((len(version) for version in tried), default=0)
    return [
        f"{version:<{wide}}  {verdict.outcome:<15}  {one_line(verdict.why, 160)}".rstrip()
        for version, verdict in tried.items()
    ]
