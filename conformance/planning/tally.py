"""A tally of evidence: which evidence thresholds it reaches, and how much the others lack.

The planner counts the evidence that it foresees, the runner that which came. Both judge as the reports do: a threshold
is reached in one setting, or a finding decides it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import ceil

from conformance.events.types import Evidence, EvidenceThreshold, FindingFound

Setting = tuple[str, str, str, tuple[str, ...], tuple[str, ...], str]
MARGIN = 1.2  # what a plan aims at, in thresholds


@dataclass(slots=True)
class _Counts:
    """Checks by suite, and the histories in which they were made."""

    checks: dict[str, int] = field(default_factory=dict)
    histories: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    alike: dict[str, tuple[int, int]] = field(default_factory=dict)  # further ones, not counted one by one

    def totals(self, suite: str) -> tuple[int, int]:
        """Checks and histories of one suite, or of all."""
        suites = [suite] if suite else list(self.checks)
        further = [self.alike.get(name, (0, 0)) for name in suites]
        return (
            sum(self.checks.get(name, 0) for name in suites) + sum(checks for checks, _ in further),
            sum(len(self.histories.get(name, ())) for name in suites) + sum(count for _, count in further),
        )


class EvidenceTally:
    """Counts evidence by setting, as claims do."""

    def __init__(self) -> None:
        self._settings: dict[tuple[str, str], dict[Setting, _Counts]] = {}
        self._found: set[tuple[str, str]] = set()

    def add(self, event: Evidence) -> None:
        """Count the evidence of one history."""
        for requirement, checks in event.checks.items():
            setting = (
                requirement, event.engine, event.role, tuple(sorted(event.with_engines)),
                tuple(sorted(event.features)), event.processes,
            )  # fmt: skip
            counts = self._settings.setdefault((requirement, event.engine), {}).setdefault(setting, _Counts())
            counts.checks[event.suite] = counts.checks.get(event.suite, 0) + checks
            counts.histories.setdefault(event.suite, set()).add((event.chunk, event.history))

    def extrapolate(self, suite: str, further: float) -> None:
        """Count `further` times as much evidence of a suite as was counted, for histories that are alike."""
        for settings in self._settings.values():
            for counts in settings.values():
                checks, histories = counts.checks.get(suite, 0), counts.histories.get(suite, ())
                counts.alike[suite] = (int(checks * further), int(len(histories) * further))

    def add_finding(self, event: FindingFound) -> None:
        """Note a finding: it decides the claim that it is about."""
        self._found.add((event.requirement, event.engine))

    def reaches(self, threshold: EvidenceThreshold, engine: str) -> bool:
        """Whether an engine has the evidence that a threshold wants, or a finding that decides it."""
        if (threshold.requirement, engine) in self._found:
            return True
        return any(
            checks >= threshold.checks and histories >= threshold.histories
            for checks, histories in self._totals(threshold, engine)
        )

    def best(self, threshold: EvidenceThreshold, engine: str) -> tuple[int, int]:
        """The checks and histories of the setting that comes next to a threshold."""
        return max(self._totals(threshold, engine), default=(0, 0))

    def _totals(self, threshold: EvidenceThreshold, engine: str) -> Iterable[tuple[int, int]]:
        settings = self._settings.get((threshold.requirement, engine), {})
        return [counts.totals(threshold.suite) for counts in settings.values()]


def with_margin(threshold: EvidenceThreshold) -> EvidenceThreshold:
    """What a plan aims at, so that little that engines take away leaves enough."""
    return replace(
        threshold, checks=ceil(threshold.checks * MARGIN), histories=ceil(threshold.histories * MARGIN)
    )
