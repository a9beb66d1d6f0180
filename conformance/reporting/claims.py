"""Claims: what may be said of a requirement for an engine, and on what weight of evidence.

A claim's cell is named by requirement, engine@version, role, with whom, features, storage, and one process or several.
It holds one verdict of `VERDICTS`. Below its floor a cell is never green, whatever was seen in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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
    """What a claim is about."""

    requirement: str
    engine: str
    role: str
    with_engines: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    storage: str = "local"
    processes: str = "one"


@dataclass(frozen=True, slots=True)
class EvidenceTotals:
    """The evidence behind a claim. `operations` are those of the histories in which it was checked."""

    checks: int = 0
    histories: int = 0
    operations: int = 0
    crash_points: int = 0
    schedules: int = 0

    def reaches(self, floor: EvidenceThreshold) -> bool:
        """Whether there is enough to say something."""
        return self.checks >= floor.checks and self.histories >= floor.histories


@dataclass(frozen=True, slots=True)
class Claim:
    """One cell of the report.

    `strength` is the requirement's class; `counted` is what of the weight its floor counts, which may be of one suite;
    `core` says whether the run's exit rests on it.
    """

    cell: ClaimSetting
    strength: str
    verdict: Verdict
    weight: EvidenceTotals
    floor: EvidenceThreshold
    counted: EvidenceTotals
    core: bool = False
    findings: tuple[str, ...] = ()
    why: str = ""

    @property
    def shortfall(self) -> str:
        """How much of its floor was reached, where."""
        where = f" in {self.floor.suite}" if self.floor.suite else ""
        checks = f"{self.counted.checks} of {self.floor.checks} checks"
        return f"{checks}, {self.counted.histories} of {self.floor.histories} histories{where}"


@dataclass(slots=True)
class SettingEvidence:
    """What was gathered for one cell: evidence by history, so that nothing counts twice, and the findings."""

    histories: dict[tuple[object, ...], EvidenceTotals] = field(default_factory=dict)
    findings: list[FindingFound] = field(default_factory=list)

    def add(self, history: tuple[object, ...], weight: EvidenceTotals) -> None:
        """Evidence of one history; the same history seen twice counts once, as its heavier account."""
        before = self.histories.get(history)
        if before is None or weight.checks > before.checks:
            self.histories[history] = weight

    def weight(self, suite: str = "") -> EvidenceTotals:
        """The evidence of one suite, or of all."""
        return total(weight for key, weight in self.histories.items() if not suite or suite in key)


def total(weights: Iterable[EvidenceTotals]) -> EvidenceTotals:
    """Weights summed up."""
    parts = list(weights)
    return EvidenceTotals(
        checks=sum(part.checks for part in parts),
        histories=sum(part.histories for part in parts),
        operations=sum(part.operations for part in parts),
        crash_points=sum(part.crash_points for part in parts),
        schedules=sum(part.schedules for part in parts),
    )


def verdict_of(findings: Sequence[FindingFound], declared: DeclaredClaim | None, *, enough: bool) -> Verdict:
    """The one verdict of a cell.

    A declaration that something is not guaranteed stands above findings of it: that is what it declares. One that
    something is unsupported does not: an engine that does it anyway, and wrongly, has a finding.
    """
    unpromised = any(not finding.promised for finding in findings)
    if unpromised or (declared is not None and declared.verdict == "not-guaranteed"):
        return "not-guaranteed"
    fresh = [finding for finding in findings if finding.fresh]
    if any(each.strength == "must" for each in fresh):
        return "violated"
    if fresh:
        return "differs"
    if findings:
        return "known-deviation"
    if declared is not None:
        return "unsupported"
    return "holds" if enough else "not-enough-evidence"
