"""The verdict of a run and its exit code.

0 all of the core holds; 1 a requirement is violated; 2 the harness or its configuration is at fault; 3 inconclusive;
130 stopped by Ctrl-C. If several apply, 2 comes before 1, 1 before 3, and 3 before 0. A claim outside the core changes
the exit code only by a violation. What was not tested never counts as passed.
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

# What a reason adds if nothing better is known of any of its findings.
UNDECIDED = {
    "unexplained": " (unexplained: the run did not get to its cause)",
    "unstable": " (unstable: it did not show again)",
}

# This engine defines the rules of class *reference*: if it breaks one, the rule is wrong.
REFERENCE = "delta-spark"
REFERENCE_ENGINE = "delta-spark@4.4.0"


Pair = tuple[str, str]  # a requirement and an engine


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """The exit code with its reasons, the weightiest first.

    `violations` are the reasons that findings show. `failing` are the pairs of requirement and engine that the run
    fails by, whatever else it lacks.
    """

    exit: int
    reasons: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()
    failing: frozenset[Pair] = frozenset()

    @property
    def verdict(self) -> str:
        """The name of the exit code."""
        return NAMES[self.exit]


def decide_exit(
    claims: Sequence[Claim],
    findings: Sequence[FindingFound],
    *,
    ready: Sequence[EngineReady] = (),
    unavailable: Sequence[EngineUnavailable] = (),
    faults: Sequence[str] = (),
    problems: Sequence[str] = (),
    not_played: Sequence[str] = (),
    budget_spent: bool = False,
    interrupted: bool = False,
) -> ExitStatus:
    """Decide the exit code of a run, or of several together.

    Args:
        claims: all claims.
        findings: the findings, without duplicates. They say why a claim is violated, and which rules of class
            *reference* are wrong.
        ready: the engines that ran, with what they declare to be compatible with.
        unavailable: the engines that should have run.
        faults: the faults of the harness.
        problems: what the recordings lack.
        not_played: what the user asked for and the run did not play. It is said first, whatever the exit code is.
        budget_spent: whether the budget cut the plan short.
        interrupted: whether a person stopped the run.
    """
    unusable = [event for event in unavailable if event.asked]
    if unusable and not interrupted:
        code = FAULT if any(event.broken for event in unusable) else INCONCLUSIVE
        return ExitStatus(code, tuple(_unusable(event) for event in unusable))
    wrong_rules = list(_wrong_rules(findings))
    broken = [
        *_violations(claims, findings, ready),
        *(
            ((found.requirement, found.engine), f"{found.engine} violates {found.requirement}")
            for found in uncounted(claims, findings)
        ),
    ]
    failing = frozenset(pair for pair, _ in (*wrong_rules, *broken))
    by_exit = {
        FAULT: [*faults, *(reason for _, reason in wrong_rules)],
        VIOLATED: list(dict.fromkeys(reason for _, reason in broken)),
        INCONCLUSIVE: [*problems, *_gaps(claims, unavailable, ready, budget_spent=budget_spent)],
    }
    reasons = (*not_played, *(reason for code in by_exit for reason in by_exit[code]))
    violations = tuple(by_exit[VIOLATED])
    if interrupted:
        return ExitStatus(INTERRUPTED, ("stopped by hand before its end", *reasons), violations, failing)
    by_exit[INCONCLUSIVE] += not_played
    code = next((code for code, reasons_of_code in by_exit.items() if reasons_of_code), HOLDS)
    return ExitStatus(code, reasons, violations, failing)


def _unusable(event: EngineUnavailable) -> str:
    """Why an engine that the user named was not tested, and what to do; the run ended because of it."""
    what = (
        "was asked for and can't be tested" if event.broken else "was asked for and can't run on this machine"
    )
    return f"{event.engine} {what}: {event.why}{f' To mend it: {event.cure}' if event.cure else ''}"


def is_strict(compatible_with: Sequence[str]) -> bool:
    """Whether a difference fails the run: it does if the engine promises to behave like delta-spark."""
    return REFERENCE in compatible_with


def _wrong_rules(findings: Sequence[FindingFound]) -> Iterator[tuple[Pair, str]]:
    for finding in findings:
        undecided = finding.state == "unexplained" and finding.candidates  # a known cause may explain it
        if (
            finding.engine == REFERENCE_ENGINE
            and finding.strength == "reference"
            and finding.fresh
            and not undecided
        ):
            told = f"{finding.requirement} is a rule about what {REFERENCE_ENGINE} does, and it does not"
            yield (finding.requirement, finding.engine), f"{told}: the rule is wrong"


def _violations(
    claims: Sequence[Claim], findings: Sequence[FindingFound], ready: Sequence[EngineReady]
) -> Iterator[tuple[Pair, str]]:
    strict = {engine.engine for engine in ready if is_strict(engine.compatible_with)}
    states = {(finding.fingerprint, finding.engine): finding.state for finding in findings if finding.fresh}
    for claim in claims:
        pair = (claim.setting.requirement, claim.setting.engine)
        if claim.verdict == "violated":
            own = {states.get((finding, claim.setting.engine)) for finding in claim.findings} - {None}
            known = min((UNDECIDED[state] for state in own if state in UNDECIDED), default="")
            doubt = known if own <= UNDECIDED.keys() else ""
            yield pair, f"{claim.setting.engine} violates {claim.setting.requirement}{doubt}"
        elif claim.verdict == "differs" and claim.setting.engine in strict:
            setting = claim.setting
            yield (
                pair,
                f"{setting.engine} promises to be compatible with {REFERENCE}; {setting.requirement} differs",
            )


def uncounted(claims: Sequence[Claim], findings: Sequence[FindingFound]) -> Iterator[FindingFound]:
    """Violations of what only the minimal history of a finding breaks, so that no claim knows of them."""
    for finding in findings:
        own = [
            claim
            for claim in claims
            if (claim.setting.requirement, claim.setting.engine) == (finding.requirement, finding.engine)
        ]
        counted = any(
            finding.fingerprint in claim.findings or claim.verdict == "not-guaranteed" for claim in own
        )
        if finding.fresh and finding.strength == "must" and not counted:
            yield finding


def _gaps(
    claims: Sequence[Claim],
    unavailable: Sequence[EngineUnavailable],
    ready: Sequence[EngineReady],
    *,
    budget_spent: bool,
) -> Iterator[str]:
    began = {event.engine for event in ready}
    for engine in unavailable:
        what = "was given up" if engine.engine in began else "can't run here"
        yield f"{engine.engine} {what}: {engine.why}"
    if budget_spent:
        yield "the budget was spent before the plan was done"
    core = [claim for claim in claims if claim.core]
    if not core:
        yield "nothing of the profile's core was asked of the engines and suites of this run"
    for claim in core:
        if claim.verdict in {"not-enough-evidence", "unsupported", "not-guaranteed"}:
            verdict = claim.verdict.replace("-", " ")
            yield f"{claim.setting.requirement} for {claim.setting.engine}: {verdict} ({claim.shortfall})"
