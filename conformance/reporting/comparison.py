"""Compare the summaries of two runs by causes and minimal histories: what regressed, and what was fixed.

Two runs know an engine by its name and a finding by its cause, or by the fingerprint of its minimal history. So seeds,
machines and versions may differ. But then a finding may be absent because nothing drew it. If nothing changed between
the runs, its occurrences fall into the histories of both alike. `chance_of_absence` says how probable it is that all
of them fell into one run, and above `LIKELY` the comparison claims nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from conformance.reporting.comparable_runs import common_engines, tested_engines
from conformance.reporting.summary_reader import (
    ClaimEntry,
    EngineEntry,
    FindingEntry,
    RunSummary,
    Setting,
)
from conformance.reporting.text import plural

Change = Literal[
    "regressed", "inconclusive", "still failing", "fixed", "not seen again", "newly tested"
]  # fmt: skip

CHANGES: dict[Change, str] = {
    "regressed": "NEW fails where OLD was tested enough and did not",
    "inconclusive": "NEW fails, and OLD was tested too little to say whether it did",
    "still failing": "both fail",
    "fixed": "OLD failed, and NEW was tested enough and does not",
    "not seen again": "OLD failed; NEW does not, but was tested too little to call it fixed",
    "newly tested": "only NEW was tested, or only NEW was tested enough",
}
NOTHING_REGRESSED, REGRESSED, INCONCLUSIVE = 0, 1, 3
LIKELY = 0.05
DECIDED = ("holds", "violated", "differs", "known-deviation")
STRENGTHS = ("must", "should", "reference")


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding in two runs. `before` is None if OLD did not have it, `after` if NEW does not.

    `open` says that it may be a regression, and that the two runs do not decide it.
    """

    change: Change
    before: FindingEntry | None
    after: FindingEntry | None
    why: str = ""
    open: bool = False

    @property
    def finding(self) -> FindingEntry:
        """The finding as the newer run that has it lists it."""
        finding = self.after or self.before
        assert finding is not None  # noqa: S101 - one of the runs has it
        return finding


@dataclass(frozen=True, slots=True)
class EvidenceChange:
    """A requirement for which only one of the runs has enough evidence: NEW if it was `gained`, else OLD."""

    requirement: str
    gained: bool
    core: bool
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class EngineComparison:
    """One engine in both runs, by its labels there."""

    name: str
    before: str
    after: str
    findings: tuple[FindingChange, ...]
    evidence: tuple[EvidenceChange, ...]

    def of(self, change: Change) -> tuple[FindingChange, ...]:
        """The findings that changed in one way."""
        return tuple(finding for finding in self.findings if finding.change == change)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two runs say about the engines that both tested. `gaps` are reasons why that can't be all."""

    old: RunSummary
    new: RunSummary
    engines: tuple[EngineComparison, ...]
    gaps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit(self) -> int:
        """0 nothing regressed, 1 regressed, 3 inconclusive."""
        findings = [finding for engine in self.engines for finding in engine.findings]
        if any(finding.change == "regressed" for finding in findings):
            return REGRESSED
        open_findings = any(finding.open for finding in findings)
        return INCONCLUSIVE if open_findings or self.gaps else NOTHING_REGRESSED


def identity_of(finding: FindingEntry) -> tuple[str, str]:
    """What tells a finding from others in any run: the engine's name, and its cause or else its fingerprint."""
    return finding.engine_name, finding.cause or finding.fingerprint


def compare(old: RunSummary, new: RunSummary) -> Comparison:
    """Compare two runs. Raises UnlikeRuns."""
    pairs = common_engines(old, new)
    engines = tuple(_EnginePair(old, new, *pair).compare() for pair in pairs)
    return Comparison(old, new, engines, tuple(_gaps(new, pairs, engines)), tuple(_notes(old, new, pairs)))


def chance_of_absence(occurrences: int, there: int, elsewhere: int) -> float:
    """How probable it is that occurrences, spread by chance over the histories of two runs, all fall into one.

    Args:
        occurrences: the histories that show the finding, all of them in one run.
        there: the histories of that run that could show it.
        elsewhere: those of the other run.
    """
    occurrences = min(occurrences, there)
    return math.comb(there, occurrences) / math.comb(there + elsewhere, occurrences)


class _EnginePair:
    """One engine in both runs."""

    def __init__(self, old: RunSummary, new: RunSummary, before: EngineEntry, after: EngineEntry) -> None:
        self._old, self._new = old, new
        self._before, self._after = before, after
        self._same_build = bool(before.build) and before.build == after.build
        self._claims = {
            True: [claim for claim in old.claims if claim.engine == before.label],
            False: [claim for claim in new.claims if claim.engine == after.label],
        }
        self._findings = {
            True: _by_identity(old.findings, before.label), False: _by_identity(new.findings, after.label),
        }  # fmt: skip

    def compare(self) -> EngineComparison:
        before, after = self._findings[True], self._findings[False]
        changes = [
            FindingChange("still failing", before[identity], finding)
            if identity in before
            else self._only_new(finding)
            for identity, finding in after.items()
        ]
        changes += [self._only_old(finding) for identity, finding in before.items() if identity not in after]
        order = list(CHANGES)
        changes.sort(key=lambda change: (order.index(change.change), _severity(change.finding)))
        return EngineComparison(
            self._after.name, self._before.label, self._after.label, tuple(changes), tuple(self._evidence())
        )

    def _only_new(self, finding: FindingEntry) -> FindingChange:
        shown, tested, asked = self._amounts(finding, in_old=False)
        if self._same_build:
            return FindingChange(
                "newly tested", None, finding, "both runs tested the same build, and OLD did not come upon it"
            )
        if finding.state == "unstable":
            why = "it did not happen again when NEW played its history once more"
        elif alike := self._alike(finding, in_old=True):
            why = f"no cause or minimal history tells it from {_names(alike)} of OLD"
        elif not asked:
            return FindingChange(
                "newly tested", None, finding, f"OLD did not test {finding.requirement} on it", open=True
            )
        elif not tested:
            why = f"OLD tested {finding.requirement}, but not in this setting"
        elif self._same_draws(finding.suite):
            return FindingChange("regressed", None, finding, "OLD played the same histories without it")
        else:
            amount = _amount(finding, shown, "NEW", tested, "OLD")
            if chance_of_absence(finding.histories, shown, tested) <= LIKELY:
                return FindingChange("regressed", None, finding, amount)
            why = f"{amount}: too few to say that OLD did not have it"
        return FindingChange("inconclusive", None, finding, why, open=True)

    def _only_old(self, finding: FindingEntry) -> FindingChange:
        shown, tested, asked = self._amounts(finding, in_old=True)
        if self._same_build:
            why = "both runs tested the same build, and NEW did not come upon it"
        elif finding.state == "unstable":
            why = "it did not happen again in OLD either"
        elif alike := self._alike(finding, in_old=False):
            why = f"no cause or minimal history tells it from {_names(alike)} of NEW"
        elif not tested:
            setting = ", but not in this setting" if asked else ""
            verb = "tested" if asked else "did not test"
            why = f"NEW {verb} {finding.requirement}{setting}"
        elif self._same_draws(finding.suite):
            return FindingChange("fixed", finding, None, "NEW played the same histories without it")
        else:
            why = _amount(finding, shown, "OLD", tested, "NEW")
            if chance_of_absence(finding.histories, shown, tested) <= LIKELY:
                return FindingChange("fixed", finding, None, why)
        return FindingChange("not seen again", finding, None, why)

    def _amounts(self, finding: FindingEntry, *, in_old: bool) -> tuple[int, int, bool]:
        """In how many histories the finding could show in its run and in the other, and whether the other asked at all.

        It can show where its requirement is judged in a setting in which it did show.
        """
        own, others = self._claims[in_old], self._claims[not in_old]
        listed = [
            claim
            for claim in own
            if finding.fingerprint in claim.findings and claim.setting.requirement in finding.requirements
        ]
        first = next(
            (name for name in finding.requirements if name in _requirements(listed)), finding.requirement
        )
        settings = {claim.setting for claim in listed or own if claim.setting.requirement == first}
        asked = any(claim.checks and claim.setting.requirement == first for claim in others)
        return _histories(own, settings), _histories(others, settings), asked

    def _alike(self, finding: FindingEntry, *, in_old: bool) -> list[FindingEntry]:
        """Findings of the other run that may be this one, because one of them is not identified."""
        return [
            other
            for other in self._findings[in_old].values()
            if set(finding.requirements) & set(other.requirements)
            and not (finding.identified and other.identified)
        ]

    def _same_draws(self, suite: str) -> bool:
        """Whether both runs played the same histories of a suite, step by step."""
        old, new = self._old, self._new
        if (old.harness, old.profile, old.seed, old.runs) != (new.harness, new.profile, new.seed, new.runs):
            return False
        played = [[entry for entry in run.suites if entry.name == suite] for run in (old, new)]
        return old.runs == 1 and played[0] == played[1] != [] and all(entry.complete for entry in played[0])

    def _evidence(self) -> Iterator[EvidenceChange]:
        before, after = (_by_requirement(self._claims[in_old]) for in_old in (True, False))
        for requirement in sorted({*before, *after}):
            was, now = before.get(requirement, ()), after.get(requirement, ())
            decided = [any(claim.verdict in DECIDED for claim in claims) for claims in (was, now)]
            if decided[0] != decided[1]:
                core = any(claim.core for claim in (was if decided[0] else now))
                yield EvidenceChange(requirement, decided[1], core, _weight(was), _weight(now))


def _gaps(
    new: RunSummary,
    pairs: Sequence[tuple[EngineEntry, EngineEntry]],
    engines: Sequence[EngineComparison],
) -> Iterator[str]:
    """Why nothing may have been noticed: what OLD tested and NEW was to test, and did not."""
    compared = {before.name for before, _ in pairs}
    for engine in new.engines:
        if engine.status != "tested" and engine.name not in compared:
            yield f"{engine.label} could not run in NEW: {engine.why}"
    for comparison in engines:
        lost = [change for change in comparison.evidence if change.core and not change.gained]
        if lost:
            yield (
                f"{comparison.after}: NEW has too little evidence for "
                f"{plural(len(lost), 'requirement')} of OLD's core, such as {lost[0].requirement} ({lost[0].after})"
            )


def _notes(
    old: RunSummary, new: RunSummary, pairs: Sequence[tuple[EngineEntry, EngineEntry]]
) -> Iterator[str]:
    compared = {engine.label for pair in pairs for engine in pair}
    for name, run in (("OLD", old), ("NEW", new)):
        alone = [engine.label for engine in tested_engines(run) if engine.label not in compared]
        if alone:
            yield f"only {name} tested {', '.join(alone)}"
        cut = [suite.name for suite in run.suites if not suite.complete]
        if cut:
            yield f"{name} did not play all that was planned of {', '.join(cut)}"
        unpromised = sum(not finding.promised for finding in run.findings)
        if unpromised:
            yield f"{plural(unpromised, 'finding')} of {name} left out: their engine does not guarantee the requirement"
    if old.harness != new.harness:
        yield f"the harness is {old.harness} in OLD and {new.harness} in NEW, so their checks may differ"
    if old.profile != new.profile:
        yield f"the profile is {old.profile} in OLD and {new.profile} in NEW"


def _by_identity(findings: Iterable[FindingEntry], engine: str) -> dict[tuple[str, str], FindingEntry]:
    """The promised findings of an engine. Those with one identity are one; it occurs at least as often as each."""
    found: dict[tuple[str, str], FindingEntry] = {}
    for finding in findings:
        if finding.engine != engine or not finding.promised:
            continue
        identity = identity_of(finding)
        other = found.get(identity)
        if other is not None:
            finding = replace(  # noqa: PLW2901 - the two of them are one from here on
                min(finding, other, key=_length),
                histories=max(finding.histories, other.histories),
                times=finding.times + other.times,
                requirements=tuple(dict.fromkeys((*other.requirements, *finding.requirements))),
            )
        found[identity] = finding
    return found


def _severity(finding: FindingEntry) -> tuple[int, bool, int, str]:
    """The sort key by which the most severe finding comes first."""
    strength = STRENGTHS.index(finding.strength) if finding.strength in STRENGTHS else len(STRENGTHS)
    return strength, finding.known, _length(finding), finding.fingerprint


def _length(finding: FindingEntry) -> int:
    return finding.steps if finding.minimal_steps is None else finding.minimal_steps


def _histories(claims: Iterable[ClaimEntry], settings: set[Setting]) -> int:
    return sum(claim.histories for claim in claims if claim.setting in settings)


def _requirements(claims: Iterable[ClaimEntry]) -> set[str]:
    return {claim.setting.requirement for claim in claims}


def _by_requirement(claims: Iterable[ClaimEntry]) -> Mapping[str, Sequence[ClaimEntry]]:
    grouped: dict[str, list[ClaimEntry]] = {}
    for claim in claims:
        grouped.setdefault(claim.setting.requirement, []).append(claim)
    return grouped


def _weight(claims: Sequence[ClaimEntry]) -> str:
    """The evidence for a requirement in words."""
    if not claims:
        return "not tested"
    undecided = sorted({claim.verdict for claim in claims if claim.verdict not in DECIDED})
    verdict = next(
        (claim.verdict for claim in claims if claim.verdict in DECIDED), undecided[0] if undecided else ""
    )
    histories = sum(claim.histories for claim in claims)
    checks = plural(sum(claim.checks for claim in claims), "check")
    return f"{verdict.replace('-', ' ')}, {checks} in {plural(histories, 'history', 'histories')}"


def _amount(finding: FindingEntry, shown: int, own: str, tested: int, other: str) -> str:
    seen = min(finding.histories, shown)
    return (
        f"seen in {seen} of {plural(shown, 'history', 'histories')} of {own}, in none of {tested} of {other}"
    )


def _names(findings: Sequence[FindingEntry]) -> str:
    return ", ".join(finding.fingerprint for finding in findings[:3]) + (" ..." if len(findings) > 3 else "")
