"""What a run says of one requirement for one engine: it holds, it fails the run, or neither, with the reason.

A requirement has a claim in each setting. Here they become one verdict, by the claims and the exit status of the run
alone. So a test of it fails exactly where the run does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from conformance.reporting.claims import VERDICTS, Claim, Verdict
from conformance.reporting.finding_groups import in_order, says
from conformance.reporting.results import FindingResult, Results
from conformance.reporting.text import one_line

Outcome = Literal["holds", "fails", "undecided"]


@dataclass(frozen=True, slots=True)
class RequirementVerdict:
    """The verdict about one requirement for one engine. `verdict` is the claim's that decided it.

    `findings` are those that make it fail, the most severe first.
    """

    outcome: Outcome
    verdict: Verdict
    reason: str = ""
    findings: tuple[FindingResult, ...] = ()


def requirement_verdict(results: Results, requirement: str, engine: str) -> RequirementVerdict:
    """The verdict about a requirement for the engine of a label."""
    claims = [
        claim
        for claim in results.claims
        if (claim.setting.requirement, claim.setting.engine) == (requirement, engine)
    ]
    own = _findings(results, claims, requirement, engine)
    if (requirement, engine) in results.outcome.failing:
        verdict: Verdict = next(
            (claim.verdict for claim in claims if claim.verdict in {"violated", "differs"}), "violated"
        )
        return RequirementVerdict("fails", verdict, VERDICTS[verdict], own)
    if not claims:
        return RequirementVerdict(
            "undecided", "not-enough-evidence", "not-enough-evidence: the run never checked it"
        )
    if found := [claim for claim in claims if claim.findings]:
        claim = min(found, key=lambda claim: _WEIGHTIEST.index(claim.verdict))
        return RequirementVerdict("undecided", claim.verdict, _why_found(claim, results), own)
    lacking = [claim for claim in claims if claim.verdict != "holds"]
    if any(claim.core for claim in claims):
        lacking = [claim for claim in lacking if claim.core]
    elif len(lacking) < len(claims):
        lacking = []
    if lacking:
        claim = max(lacking, key=lambda claim: (claim.counted.histories, claim.counted.checks))
        return RequirementVerdict(
            "undecided", claim.verdict, f"{claim.verdict}: {claim.why or claim.shortfall}"
        )
    return RequirementVerdict("holds", "holds")


def fails_run(finding: FindingResult, results: Results) -> bool:
    """Whether a finding is one that the run fails by."""
    requirements = {finding.event.requirement, *finding.requirements}
    return finding.event.fresh and any(
        (requirement, finding.event.engine) in results.outcome.failing for requirement in requirements
    )


_WEIGHTIEST = (
    "violated", "differs", "known-deviation", "not-guaranteed", "unsupported", "not-enough-evidence", "holds",
)  # fmt: skip


def _findings(
    results: Results, claims: Sequence[Claim], requirement: str, engine: str
) -> tuple[FindingResult, ...]:
    """The fresh findings of the claims, and those whose minimal history alone breaks the requirement."""
    named = {fingerprint for claim in claims for fingerprint in claim.findings}
    return in_order(
        finding
        for finding in results.findings
        if finding.event.engine == engine
        and finding.event.fresh
        and (finding.event.fingerprint in named or finding.event.requirement == requirement)
    )


def _why_found(claim: Claim, results: Results) -> str:
    """Why what was found does not fail the run."""
    if claim.verdict != "known-deviation":
        return f"{claim.verdict}: {claim.why or VERDICTS[claim.verdict]}"
    known = [
        finding
        for finding in results.findings
        if finding.event.fingerprint in claim.findings and finding.event.engine == claim.setting.engine
    ]
    causes = (
        f"{finding.event.cause or f'in the baseline ({finding.event.fingerprint})'}: {one_line(says(finding))}"
        for finding in known
    )
    return f"known: {'; '.join(dict.fromkeys(causes))}"
