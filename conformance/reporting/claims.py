"""Claims: the verdict about a requirement for an engine in one setting, and the evidence for it.

The setting of a claim names the requirement, the engine with its version, the role, the other writers, the features,
the storage, and whether one or several processes write. The verdict is one of `VERDICTS`. Below its evidence threshold
a claim never holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from conformance.events.types import DeclaredClaim, EvidenceThreshold, FindingFound

Verdict = Literal[
    "holds", "violated", "differs", "known-deviation", "not-guaranteed", "unsupported", "not-enough-evidence"
]

VERDICTS: dict[Verdict, str] = {
    "holds": "checked often enough, and it held every time",
    "violated": "a rule of the protocol was broken",
    "differs": "not what the protocol recommends, or not what delta-spark does where the protocol is silent",
    "known-deviation": "broken in a way that is known and listed, with its cause",
    "not-guaranteed": "the engine says itself that it does not promise this",
    "unsupported": "the engine says itself that it has no such thing",
    "not-enough-evidence": "checked too rarely to say anything",
}


@dataclass(frozen=True, slots=True, order=True)
class ClaimSetting:
    """What a claim is about: the requirement, the engine, and the conditions."""

    requirement: str
    engine: str
    role: str
    with_engines: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    storage: str = "local"
    processes: str = "one"


@dataclass(frozen=True, slots=True)
class EvidenceTotals:
    """How much evidence a claim has. `operations` counts those of the histories in which it was checked."""

    checks: int = 0
    histories: int = 0
    operations: int = 0
    crash_points: int = 0
    schedules: int = 0

    def reaches(self, threshold: EvidenceThreshold) -> bool:
        """Whether there is enough evidence for a verdict."""
        return self.checks >= threshold.checks and self.histories >= threshold.histories


@dataclass(frozen=True, slots=True)
class Claim:
    """The verdict about one setting, with its evidence.

    `strength` is the class of the requirement. `counted` is the part of the evidence that the threshold counts, which
    may be that of one suite. `core` says whether the claim decides the run's exit code. `seconds` is its share of the
    time that the engine worked.
    """

    setting: ClaimSetting
    strength: str
    verdict: Verdict
    evidence: EvidenceTotals
    threshold: EvidenceThreshold
    counted: EvidenceTotals
    core: bool = False
    findings: tuple[str, ...] = ()
    why: str = ""
    seconds: float = 0.0

    @property
    def shortfall(self) -> str:
        """How much of the threshold the run reached, and in which suite."""
        where = f" in {self.threshold.suite}" if self.threshold.suite else ""
        checks = f"{self.counted.checks} of {self.threshold.checks} checks"
        return f"{checks}, {self.counted.histories} of {self.threshold.histories} histories{where}"


@dataclass(slots=True)
class SettingEvidence:
    """The evidence of one setting, by history so that nothing counts twice, and its findings with their run."""

    histories: dict[tuple[object, ...], EvidenceTotals] = field(default_factory=dict)
    findings: list[tuple[FindingFound, Path]] = field(default_factory=list)

    def add(self, history: tuple[object, ...], totals: EvidenceTotals) -> None:
        """Add the evidence of one history. If a history comes twice, the greater evidence counts."""
        before = self.histories.get(history)
        if before is None or totals.checks > before.checks:
            self.histories[history] = totals

    def totals(self, suite: str = "") -> EvidenceTotals:
        """The evidence of one suite, or of all."""
        return total(totals for key, totals in self.histories.items() if not suite or suite in key)


def total(parts: Iterable[EvidenceTotals]) -> EvidenceTotals:
    """The sum of the evidence of several settings or histories."""
    parts = list(parts)
    return EvidenceTotals(
        checks=sum(part.checks for part in parts),
        histories=sum(part.histories for part in parts),
        operations=sum(part.operations for part in parts),
        crash_points=sum(part.crash_points for part in parts),
        schedules=sum(part.schedules for part in parts),
    )


def verdict_of(findings: Sequence[FindingFound], declared: DeclaredClaim | None, *, enough: bool) -> Verdict:
    """Decide the verdict of a claim.

    If the engine declares that it does not guarantee the requirement, findings do not change that verdict. If it
    declares the requirement unsupported, they do: an engine that performs the operation anyway must do it right.
    """
    unpromised = any(not finding.promised for finding in findings)
    if unpromised or (declared is not None and declared.verdict == "not-guaranteed"):
        return "not-guaranteed"
    fresh = [finding for finding in findings if finding.fresh]
    if any(finding.strength == "must" for finding in fresh):
        return "violated"
    if fresh:
        return "differs"
    if findings:
        return "known-deviation"
    if declared is not None:
        return "unsupported"
    return "holds" if enough else "not-enough-evidence"
