"""Record what checks judge: each violation, and how often each requirement was judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from conformance.observations.observation import Observation
from delta_models.operations import Read
from delta_models.requirements import BY_ID, CATALOGUE, Violation


@dataclass(slots=True)
class CheckRecorder:
    """Collects what checks find in one observation: violations and evidence."""

    violations: list[Violation] = field(default_factory=list)
    evidence: Counter[str] = field(default_factory=Counter)
    _found: dict[str, list[Violation]] = field(default_factory=dict)

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
        if requirement not in BY_ID:
            message = f"a check judges {requirement!r}, which is not in the catalogue"
            raise KeyError(message)
        self.evidence[requirement] += 1
        if problem is not None:
            self.violations.append(Violation(requirement, problem, where, columns, read))
        return problem is None

    def has(self, *prefixes: str) -> bool:
        """Return whether a violation of a requirement with one of these prefixes is recorded."""
        return any(violation.requirement.startswith(prefixes) for violation in self.violations)

    def count(self, weights: Mapping[str, int]) -> None:
        """Count judgements that found nothing wrong, or whose breaches are added by `add`."""
        for requirement, times in weights.items():
            if times:
                self.evidence[requirement] += times

    def once(self, name: str, find: Callable[[], list[Violation]]) -> list[Violation]:
        """Breaches that several checks tell parts of, found by the first that asks."""
        if name not in self._found:
            self._found[name] = find()
        return self._found[name]

    def add(self, violations: Iterable[Violation]) -> None:
        """Breaches that were found elsewhere; each counts as one judgement if nothing was counted for it."""
        for violation in violations:
            if violation.requirement not in BY_ID:
                message = f"a check judges {violation.requirement!r}, which is not in the catalogue"
                raise KeyError(message)
            self.evidence[violation.requirement] = max(1, self.evidence[violation.requirement])
            self.violations.append(violation)


def judged_by(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that the catalogue assigns to a check."""
    return tuple(
        requirement.id
        for requirement in CATALOGUE
        if name in requirement.checks and requirement.unobservable is None
    )


@dataclass(frozen=True, slots=True)
class Check:
    """One oracle: its name, the requirements that it judges, and the function that does."""

    name: str
    judges: tuple[str, ...]
    check: Callable[[Observation, CheckRecorder], None]
