"""Findings in the order in which a reader wants them: what is new first, one entry for each cause.

All reports show these groups. A finding is never a bare fingerprint: it has its cause, or the sentence of its
requirement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from conformance.reporting.results import FindingResult
from conformance.reporting.text import one_line, plural
from delta_adapters.deviations import cause_named
from delta_models.requirements import BY_ID

MUST = "must"
STRENGTHS = ("must", "should", "reference")


@dataclass(frozen=True, slots=True)
class GroupKind:
    """One kind of findings, with its title for one finding and for several, and what it means.

    `serious` says that such a finding is to be looked at: reports show all of it.
    """

    name: str
    one: str
    many: str
    meaning: str
    serious: bool = True


NEW = GroupKind(
    "new", "new violation", "new violations", "No known cause explains it; the history is minimal."
)
UNEXPLAINED = GroupKind(
    "unexplained", "unexplained violation", "unexplained violations",
    "It showed, and the run did not get to its cause or to its smallest history.",
)  # fmt: skip
UNSTABLE = GroupKind(
    "unstable",
    "unstable violation",
    "unstable violations",
    "It did not show again when its history was played again.",
)
DIFFERENCE = GroupKind(
    "difference", "difference", "differences",
    "A requirement of class should or reference: it fails a run only for engines that promise to keep it.",
)  # fmt: skip
KNOWN = GroupKind(
    "known", "known cause", "known causes", "Explained by a cause, or in the baseline.", serious=False
)
NOT_GUARANTEED = GroupKind(
    "not guaranteed", "difference in what an engine does not guarantee",
    "differences in what an engine does not guarantee", "The engine says itself that it does not promise this.",
    serious=False,
)  # fmt: skip
KINDS = (NEW, UNEXPLAINED, UNSTABLE, DIFFERENCE, KNOWN, NOT_GUARANTEED)


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """The findings of one kind."""

    kind: GroupKind
    findings: tuple[FindingResult, ...]

    @property
    def title(self) -> str:
        """How many of what: `2 new violations`."""
        return plural(len(self.findings), self.kind.one, self.kind.many)


def kind_of(finding: FindingResult) -> GroupKind:
    """The kind of a finding."""
    event = finding.event
    if event.known:
        return KNOWN
    if not event.promised:
        return NOT_GUARANTEED
    if event.strength != MUST:
        return DIFFERENCE
    return {"unexplained": UNEXPLAINED, "unstable": UNSTABLE}.get(event.state, NEW)


def finding_groups(findings: Iterable[FindingResult]) -> tuple[FindingGroup, ...]:
    """The findings by kind, the most severe kind first. Empty groups are left out."""
    by_kind: dict[str, list[FindingResult]] = {}
    for finding in findings:
        by_kind.setdefault(kind_of(finding).name, []).append(finding)
    return tuple(
        FindingGroup(kind, tuple(sorted(by_kind[kind.name], key=_order)))
        for kind in KINDS
        if kind.name in by_kind
    )


def clusters(group: FindingGroup) -> tuple[tuple[FindingResult, int], ...]:
    """The findings that a short report shows, each with the number of others like it.

    What is not identified yet may be one fault many times. So of those that break one requirement of one engine, the
    one with the shortest history stands for all.
    """
    alike: dict[tuple[str, ...], list[FindingResult]] = {}
    for finding in group.findings:
        event = finding.event
        undecided = event.state in {"unexplained", "unstable"}
        key = (event.state, event.engine, event.requirement, "" if undecided else event.fingerprint)
        alike.setdefault(key, []).append(finding)
    return tuple(
        (min(found, key=lambda finding: finding.minimal_steps or finding.event.steps), len(found) - 1)
        for found in alike.values()
    )


def in_order(findings: Iterable[FindingResult]) -> tuple[FindingResult, ...]:
    """The findings, the most severe first."""
    return tuple(finding for group in finding_groups(findings) for finding in group.findings)


def says(finding: FindingResult) -> str:
    """What the finding is, in a sentence: that of its cause, or of its requirement."""
    event = finding.event
    if finding.summary:
        return finding.summary
    cause = cause_named(event.cause) if event.cause else None
    if cause is not None:
        return str(cause.summary)
    requirement = BY_ID.get(event.requirement)
    return requirement.sentence if requirement is not None else one_line(event.detail)


def weight(finding: FindingResult) -> str:
    """How often it was seen and in what: `3 sightings of 2 requirements`."""
    requirements = plural(len(finding.requirements), "requirement")
    return f"{plural(finding.sightings, 'sighting')} of {requirements}"


def length(finding: FindingResult) -> str:
    """How long its histories are: `3 steps, from 18`."""
    steps = finding.event.steps
    if finding.minimal_steps is None or finding.event.cause:
        return plural(steps, "step")
    return f"{plural(finding.minimal_steps, 'step')}, from {steps}"


def _order(finding: FindingResult) -> tuple[object, ...]:
    event = finding.event
    strength = STRENGTHS.index(event.strength) if event.strength in STRENGTHS else len(STRENGTHS)
    return (strength, ("", "new", "unexplained", "unstable", "known").index(event.state) if event.state else 0,
            event.engine, event.cause or "", event.requirement, event.fingerprint)  # fmt: skip
