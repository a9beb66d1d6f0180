"""Record what checks judge: each violation, and how often each requirement was judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from conformance.observations.observation import Observation
from delta_models.operations import Read
from delta_models.requirements import BY_ID, CATALOGUE, Checked, Violation


@dataclass(slots=True)
class CheckRecorder:
    """Collects what checks find in one observation: violations and evidence."""

    violations: list[Violation] = field(default_factory=list)
    evidence: Counter[str] = field(default_factory=Counter)
    _shared: dict[str, list[Checked]] = field(default_factory=dict)

    def record(
        self,
        requirement: str,
        problem: str | None,
        where: str = "",
        columns: tuple[str, ...] = (),
        read: Read | None = None,
    ) -> bool:
        """Record that a requirement was judged once; return whether it holds.

        `problem` describes a violation and is None if the requirement holds. Raises KeyError for a requirement that
        is not in the catalogue.
        """
        violation = None if problem is None else Violation(requirement, problem, where, columns, read)
        self._count(requirement, violation)
        return violation is None

    def record_all(self, judgements: Iterable[Checked]) -> None:
        """Record judgements of the model's own rules. Each counts once, whether the requirement holds or not."""
        for judgement in judgements:
            self._count(judgement.requirement, judgement.violation)

    def has(self, *prefixes: str) -> bool:
        """Return whether a violation of a requirement with one of these prefixes is recorded."""
        return any(violation.requirement.startswith(prefixes) for violation in self.violations)

    def judge_once(self, name: str, judge: Callable[[], list[Checked]]) -> list[Checked]:
        """Return judgements that several checks share. The first check that needs them makes them."""
        if name not in self._shared:
            self._shared[name] = judge()
        return self._shared[name]

    def _count(self, requirement: str, violation: Violation | None) -> None:
        if requirement not in BY_ID:
            message = f"a check judges {requirement!r}, which is not in the catalogue"
            raise KeyError(message)
        self.evidence[requirement] += 1
        if violation is not None:
            self.violations.append(violation)


def judged_by(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that the catalogue assigns to a check."""
    return tuple(rule.id for rule in CATALOGUE if name in rule.checks and rule.unobservable is None)


@dataclass(frozen=True, slots=True)
class Check:
    """One oracle: its name, the requirements that it judges, and the function that does."""

    name: str
    judges: tuple[str, ...]
    check: Callable[[Observation, CheckRecorder], None]
