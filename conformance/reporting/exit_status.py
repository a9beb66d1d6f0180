"""The verdict of a run and its exit code.

0 all of the core holds; 1 a requirement is violated; 2 the harness or its configuration is at fault; 3 inconclusive;
130 stopped by Ctrl-C. In doubt 2 before 1 before 3 before 0. A cell outside the core changes the exit by a violation
only, and nothing that was not tested counts as passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.events.types import EngineReady, EngineUnavailable, FindingFound
from conformance.reporting.claims import Claim

HOLDS, VIOLATED, FAULT, INCONCLUSIVE, INTERRUPTED = 0, 1, 2, 3, 130

NAMES = {
    HOLDS: "holds",
    VIOLATED: "violated",
    FAULT: "harness-fault",
    INCONCLUSIVE: "inconclusive",
    INTERRUPTED: "interrupted",
}

# A rule of class *reference* is what this one does: if it breaks the rule, then the rule is wrong.
REFERENCE = "delta-spark"
REFERENCE_ENGINE = "delta-spark@4.4.0"


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """The exit code with the reasons for it, the first the weightiest."""

    exit: int
    reasons: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The exit code in a word."""
        return NAMES[self.exit]


def judge(
    claims: Sequence[Claim],
    findings: Sequence[FindingFound],
    *,
    ready: Sequence[EngineReady] = (),
    unavailable: Sequence[EngineUnavailable] = (),
    faults: Sequence[str] = (),
    problems: Sequence[str] = (),
    budget_spent: bool = False,
    interrupted: bool = False,
) -> ExitStatus:
    """The outcome of a run, or of several together.

    Args:
        claims: all cells.
        findings: each fingerprint once; they say which rules of class *reference* failed for whom.
        ready: the engines that ran, for what they declare to be compatible with.
        unavailable: the engines that should have run.
        faults: what the harness did wrong.
        problems: what is missing of the recordings.
        budget_spent: whether the plan was cut by the budget.
        interrupted: whether someone stopped it.
    """
    by_exit = {
        FAULT: [*faults, *_wrong_rules(findings)],
        VIOLATED: list(_violations(claims, ready)),
        INCONCLUSIVE: [*problems, *_gaps(claims, unavailable, budget_spent=budget_spent)],
    }
    reasons = tuple(reason for code in by_exit for reason in by_exit[code])
    if interrupted:
        return ExitStatus(INTERRUPTED, ("stopped by hand before its end", *reasons))
    return ExitStatus(next((code for code, found in by_exit.items() if found), HOLDS), reasons)


def is_strict(compatible_with: Sequence[str]) -> bool:
    """Whether a difference fails the run: for engines that promise to be like delta-spark."""
    return REFERENCE in compatible_with


def _wrong_rules(findings: Sequence[FindingFound]) -> Iterator[str]:
    for finding in findings:
        if finding.engine == REFERENCE_ENGINE and finding.strength == "reference" and finding.fresh:
            yield (
                f"{finding.requirement} is a rule about what {REFERENCE_ENGINE} does, and it does "
                "not: the rule is wrong"
            )


def _violations(claims: Sequence[Claim], ready: Sequence[EngineReady]) -> Iterator[str]:
    strict = {each.engine for each in ready if is_strict(each.compatible_with)}
    for claim in claims:
        if claim.verdict == "violated":
            yield f"{claim.cell.engine} violates {claim.cell.requirement}"
        elif claim.verdict == "differs" and claim.cell.engine in strict:
            yield f"{claim.cell.engine} promises to be compatible with {REFERENCE}; {claim.cell.requirement} differs"


def _gaps(
    claims: Sequence[Claim], unavailable: Sequence[EngineUnavailable], *, budget_spent: bool
) -> Iterator[str]:
    for engine in unavailable:
        yield f"{engine.engine} can't run here: {engine.why}"
    if budget_spent:
        yield "the budget was spent before the plan was done"
    core = [claim for claim in claims if claim.core]
    if not core:
        yield "nothing of the profile's core was asked of the engines and suites of this run"
    for each in core:
        if each.verdict in {"not-enough-evidence", "unsupported", "not-guaranteed"}:
            said = each.verdict.replace("-", " ")
            yield f"{each.cell.requirement} for {each.cell.engine}: {said} ({each.shortfall})"
