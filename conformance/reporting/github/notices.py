"""What a person has to know of a run, the most severe first: annotations and the job's summary show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from conformance.reporting.exit_status import HOLDS, VIOLATED, is_strict
from conformance.reporting.finding_groups import KNOWN, MUST, clusters, finding_groups, length, says
from conformance.reporting.results import FindingResult, Results
from conformance.reporting.text import one_line, plural, replay_command

Level = Literal["error", "warning", "notice"]

ERROR: Level = "error"
WARNING: Level = "warning"
NOTICE: Level = "notice"
LEVELS: tuple[Level, ...] = (ERROR, WARNING, NOTICE)
LONGEST = 500  # characters of a message of an engine
REASONS = 12  # of a verdict, in one notice


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to know: a title, and lines of text. It is an error exactly if it fails the run."""

    level: Level
    title: str
    lines: tuple[str, ...]


def notices(results: Results) -> tuple[Notice, ...]:
    """Everything to know of a run, the most severe first."""
    found = [*_faults(results), *_findings(results), *_other_reasons(results), *_known(results)]
    return tuple(sorted(found, key=lambda notice: LEVELS.index(notice.level)))


def at_most(number: int, found: Sequence[Notice], rest: str) -> tuple[Notice, ...]:
    """The first notices; if there are more than `number`, the last one says how many, and `rest` where they are."""
    if len(found) <= number:
        return tuple(found)
    left = found[number - 1 :]
    return (*found[: number - 1], Notice(left[0].level, f"and {len(left)} more", (rest,)))


def _faults(results: Results) -> Iterator[Notice]:
    for message in dict.fromkeys(fault.message for fault in results.faults):
        yield Notice(ERROR, "the harness is at fault", (one_line(message, LONGEST),))


def _findings(results: Results) -> Iterator[Notice]:
    strict = {engine.label for engine in results.engines if is_strict(engine.compatible_with)}
    for group in finding_groups(results.findings):
        if group.kind.serious:
            for finding, others in clusters(group):
                fails = finding.event.strength == MUST or finding.event.engine in strict
                yield _finding(finding, others, ERROR if fails else WARNING)


def _finding(finding: FindingResult, others: int, level: Level) -> Notice:
    event = finding.event
    verb = "violates" if event.strength == MUST else "differs in"
    doubt = f" ({event.state})" if event.state in {"unexplained", "unstable"} else ""
    lines = [
        one_line(says(finding), LONGEST),
        one_line(event.detail, LONGEST),
        f"{length(finding)}, finding {event.fingerprint}. {replay_command(finding.folder)}",
    ]
    lines += [f"and {others} more that break it"] if others else []
    return Notice(level, f"{event.engine} {verb} {event.requirement}{doubt}", tuple(dict.fromkeys(lines)))


def _other_reasons(results: Results) -> Iterator[Notice]:
    """The reasons of the verdict that no finding shows, for instance that too little was tested, in one notice."""
    outcome = results.outcome
    shown = {*outcome.violations, *(fault.message for fault in results.faults)}
    reasons = [one_line(reason, LONGEST) for reason in outcome.reasons if reason not in shown]
    if not reasons:
        return
    level = WARNING if outcome.exit in {HOLDS, VIOLATED} else ERROR
    title = outcome.verdict if level == ERROR else "not tested"
    if len(reasons) > 1:
        title = f"{title}, for {len(reasons)} reasons"
    more = [f"and {len(reasons) - REASONS} more"] if len(reasons) > REASONS else []
    yield Notice(level, title, (*reasons[:REASONS], *more))


def _known(results: Results) -> Iterator[Notice]:
    for group in finding_groups(results.findings):
        if group.kind is KNOWN:
            names = sorted({finding.event.cause or finding.event.fingerprint for finding in group.findings})
            title = f"{plural(len(names), group.kind.one, group.kind.many)} seen"
            yield Notice(NOTICE, title, (one_line(", ".join(names), LONGEST),))
