"""Where checks write down what they judged: how often each requirement was really looked at, and each breach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from conformance.observations.observation import Observation
from delta_models.operations import Read
from delta_models.requirements import BY_ID, CATALOGUE, Checked, Violation


@dataclass(slots=True)
class CheckRecorder:
    """The judgements of one observation in the making."""

    violations: list[Violation] = field(default_factory=list)
    evidence: Counter[str] = field(default_factory=Counter)
    _judged: dict[str, list[Checked]] = field(default_factory=dict)

    def judge(
        self,
        requirement: str,
        wrong: str | None,
        where: str = "",
        columns: tuple[str, ...] = (),
        read: Read | None = None,
    ) -> bool:
        """Count one judgement of a requirement; `wrong` says what is wrong, or None that it holds. Returns whether it
        holds."""
        if requirement not in BY_ID:
            message = f"a check judges {requirement!r}, which is not in the catalogue"
            raise KeyError(message)
        self.evidence[requirement] += 1
        if wrong is not None:
            self.violations.append(Violation(requirement, wrong, where, columns, read))
        return wrong is None

    def has(self, *prefixes: str) -> bool:
        """Whether a rule of these kinds has been found broken already."""
        return any(violation.requirement.startswith(prefixes) for violation in self.violations)

    def once(self, name: str, judge: Callable[[], list[Checked]]) -> list[Checked]:
        """Judgements that several checks take parts of, made by the first that asks."""
        if name not in self._judged:
            self._judged[name] = judge()
        return self._judged[name]

    def take(self, result: Iterable[Checked]) -> None:
        """Judgements that were made elsewhere: each counts once, held or broken."""
        for judgement in result:
            if judgement.requirement not in BY_ID:
                message = f"a check judges {judgement.requirement!r}, which is not in the catalogue"
                raise KeyError(message)
            self.evidence[judgement.requirement] += 1
            if judgement.violation is not None:
                self.violations.append(judgement.violation)


def judged_by(name: str) -> tuple[str, ...]:
    """The requirements that the catalogue gives to a check."""
    return tuple(rule.id for rule in CATALOGUE if name in rule.checks and rule.unobservable is None)


@dataclass(frozen=True, slots=True)
class Check:
    """One oracle: its name, the requirements that it judges, and the function that does."""

    name: str
    judges: tuple[str, ...]
    check: Callable[[Observation, CheckRecorder], None]
