"""Where checks write down what they judged: how often each requirement was really looked at, and each breach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from conformance.observations.observation import Observation
from delta_models.operations import Read
from delta_models.requirements import BY_ID, CATALOGUE, Violation


@dataclass(slots=True)
class CheckRecorder:
    """The judgements of one observation in the making."""

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
        """Count one judgement of a requirement; `problem` says what is wrong, or None that it holds. Returns whether it
        holds."""
        if requirement not in BY_ID:
            message = f"a check judges {requirement!r}, which is not in the catalogue"
            raise KeyError(message)
        self.evidence[requirement] += 1
        if problem is not None:
            self.violations.append(Violation(requirement, problem, where, columns, read))
        return problem is None

    def has(self, *prefixes: str) -> bool:
        """Whether a rule of these kinds has been found broken already."""
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
    """The requirements that the catalogue gives to a check."""
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
