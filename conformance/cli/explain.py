"""`conformance explain`: print what a requirement demands, or what a finding means."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.errors import UsageError, unknown
from conformance.cli.run import DEFAULT_OUT
from conformance.reporting.text import harmless, plural, replay_command, shrink_command
from delta_adapters.deviations import TRIGGERS, Cause, all_causes, cause_named
from delta_models.requirements import BY_ID, CATALOGUE
from delta_models.requirements.base import Requirement

if TYPE_CHECKING:
    from conformance.findings import Finding

HELP = """\
Usage: conformance explain REQUIREMENT | CAUSE | FINGERPRINT

Says what a requirement demands, where that is written, and what a breach of it means; what an
engine does wrong; or what was found, step by step.

  REQUIREMENT    an id such as log.remove-names-live-file, or an area such as log: all of it
  CAUSE          the id of a cause such as delta-rs-empty-partition-text
  FINGERPRINT    eight digits such as 9f3c21aa, looked up in conformance-results and among the
                 known causes; or the folder of a finding
"""

CLASSES = {
    "must": "Every engine has to keep it. A breach is a violation and fails a run.",
    "should": "The protocol recommends it. A breach is a difference; it fails a run only for engines that promise "
    "to be compatible with delta-spark.",
    "reference": "The protocol is silent; delta-spark 4.4.0 does it so. A breach is a difference; it fails a run "
    "only for engines that promise to be compatible with delta-spark.",
    "lenient": "Free: engines differ here, and may.",
}
WIDTH = 92


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The argument of `explain`."""
    parser.add_argument("what", metavar="REQUIREMENT | CAUSE | FINGERPRINT")


def execute(arguments: argparse.Namespace) -> int:
    """Print the explanation."""
    what = str(arguments.what)
    sys.stdout.write("\n".join(_explain(what)) + "\n")
    return 0


def _explain(what: str) -> Iterator[str]:
    if what in BY_ID:
        return requirement_lines(BY_ID[what])
    area = [requirement for requirement in CATALOGUE if requirement.id.startswith(f"{what.rstrip('.')}.")]
    if area:
        return (
            f"{requirement.id:<44} {requirement.strength:<10} {requirement.sentence}" for requirement in area
        )
    cause = cause_named(what)
    if cause is not None:
        return cause_lines(cause)
    if Path(what).is_dir():
        return finding_lines(Path(what))
    if re.fullmatch(r"[0-9a-f]{8}", what):
        return _fingerprint_lines(what)
    if "/" in what:
        raise UsageError(f"{what}: no such folder", "Give the folder of a finding, or its fingerprint.")
    raise _unknown_requirement(what)


def requirement_lines(requirement: Requirement, *, causes: bool = True) -> Iterator[str]:
    """A requirement, with its source, its class and, unless `causes` is false, the causes that break it."""
    from conformance.planning.needs import needs_of  # noqa: PLC0415 - it loads jsonschema; --help shall not wait for it

    yield requirement.id
    yield from _paragraph(requirement.sentence)
    yield ""
    yield f"  source      {requirement.section}"
    yield from textwrap.wrap(
        f"{requirement.strength}. {CLASSES[requirement.strength]}", WIDTH,
        initial_indent="  class       ", subsequent_indent=" " * 14,
    )  # fmt: skip
    yield f"  charged to  the {requirement.role}"
    if requirement.unobservable:
        yield f"  observable  no, because {requirement.unobservable}"
    elif requirement.checks:
        yield f"  checked by  {', '.join(requirement.checks)}"
        yield textwrap.fill(
            ", ".join(need.replace("|", " or ") for need in needs_of(requirement.id)) or "nothing",
            WIDTH, initial_indent="  needs       ", subsequent_indent=" " * 14, break_on_hyphens=False,
        )  # fmt: skip
    for cause in all_causes() if causes else ():
        if requirement.id in cause.requirements:
            yield ""
            yield from brief_cause_lines(cause)


def cause_lines(cause: Cause) -> Iterator[str]:
    """A cause: what happens, what sets it off, what it predicts, and its minimal history."""
    from conformance.findings.text import history_lines  # noqa: PLC0415 - only for histories
    from conformance.histories import History  # noqa: PLC0415 - the same

    yield from brief_cause_lines(cause)
    yield "  minimal history:"
    for line in history_lines(History.from_json(cause.history)):
        yield f"    {harmless(line)}"


def brief_cause_lines(cause: Cause) -> Iterator[str]:
    """A cause without its history."""
    yield f"Known cause {cause.id}: {cause.summary}"
    yield from _paragraph(cause.cause)
    yield f"  engine      {cause.engine}"
    if cause.trigger is not None:
        yield f"  only after  {cause.trigger}: {TRIGGERS[cause.trigger].because}"
    for number, prediction in enumerate(cause.predictions):
        how = f" ({prediction.difference})" if prediction.difference else ""
        yield from textwrap.wrap(
            ", ".join(prediction.requirements) + how, WIDTH, break_on_hyphens=False,
            initial_indent="  predicts    " if number == 0 else " " * 14, subsequent_indent=" " * 14,
        )  # fmt: skip
    yield f"  issue       {cause.issue}"


def finding_lines(folder: Path) -> Iterator[str]:
    """A finding in its folder: its one cause, or its requirement, and the smallest history that there is."""
    from conformance.findings import FindingError, load_finding  # noqa: PLC0415 - only for findings
    from conformance.findings.text import history_lines  # noqa: PLC0415 - the same

    try:
        finding = load_finding(folder)
    except FindingError as error:
        raise UsageError(str(error)) from error
    yield f"Finding {finding.fingerprint} on {finding.engine}, in the suite {finding.suite}{_state(finding)}"
    yield ""
    cause = cause_named(finding.cause) if finding.cause is not None else None
    if cause is not None:
        yield from cause_lines(cause)
        yield ""
    elif finding.key.requirement in BY_ID:
        yield from requirement_lines(BY_ID[finding.key.requirement], causes=False)
        yield ""
    history, failing, detail = finding.history, finding.step, finding.detail
    if finding.minimal is not None and finding.cause is None and finding.minimal_step is not None:
        history, failing, detail = finding.minimal, finding.minimal_step, finding.minimal_detail
        yield f"Its minimal history; it was seen first in one of {plural(len(finding.history.steps), 'step')}."
    yield f"Step {failing} of {plural(len(history.steps), 'step')} went wrong:"
    yield from _paragraph(harmless(detail))
    yield ""
    for number, line in enumerate(history_lines(history)):
        marked = ">" if number == failing else " "
        yield f"{marked} {harmless(line)}"
    yield ""
    further = [requirement for requirement in finding.requirements if requirement != finding.key.requirement]
    if further:
        yield f"It breaks as well: {', '.join(further)}"
    yield f"To see it again: {replay_command(folder)}"
    if finding.state == "unexplained":
        yield f"To make it smaller: {shrink_command(folder)}"


def _state(finding: Finding) -> str:
    """What triage said of a finding, for the end of a line."""
    if not finding.state:
        return ""
    return f": {finding.state}" + (f" by {finding.cause}" if finding.cause is not None else "")


def _fingerprint_lines(fingerprint: str) -> Iterator[str]:
    from conformance.triage.canonical import cause_fingerprint  # noqa: PLC0415 - loads the suites

    kept = [
        folder
        for kind in ("sightings", "findings")
        for folder in sorted(DEFAULT_OUT.glob(f"*/{kind}/{fingerprint}"), key=lambda path: path.parts)
    ]
    kept = [folder for folder in kept if not folder.parent.parent.is_symlink()] or kept
    if kept:
        yield from finding_lines(kept[-1])
        return
    cause = next(
        (cause for cause in all_causes() if cause_fingerprint(cause.engine, cause.id) == fingerprint), None
    )
    if cause is None:
        raise UsageError(
            f"no finding {fingerprint} in {DEFAULT_OUT}, and no known cause of that fingerprint",
            "Give the folder of the finding: DIR/findings/" + fingerprint,
        )
    yield from cause_lines(cause)


def _unknown_requirement(what: str) -> UsageError:
    areas = sorted({requirement.id.partition(".")[0] for requirement in CATALOGUE})
    near = [requirement.id for requirement in CATALOGUE if what.lower() in requirement.id]
    if near:
        return UsageError(f"unknown requirement or cause {what!r}", f"Did you mean {' or '.join(near[:4])}?")
    error = unknown("requirement", what, (*BY_ID, *(cause.id for cause in all_causes())))
    meant = error.cure.partition("There are:")[0]
    return UsageError(f"unknown requirement or cause {what!r}", f"{meant}The areas are: {', '.join(areas)}.")


def _paragraph(text: str) -> Iterator[str]:
    for line in text.strip().splitlines():
        wrapped = textwrap.wrap(
            line, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        yield from wrapped or [""]
