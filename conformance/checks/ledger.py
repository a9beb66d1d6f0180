"""Where checks write down what they judged: how often each requirement was really looked at, and each breach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from conformance.observation import Observation
from delta_models.requirements import BY_ID, Breach


@dataclass(slots=True)
class Ledger:
    """The judgements of one observation in the making."""

    breaches: list[Breach] = field(default_factory=list)
    evidence: Counter[str] = field(default_factory=Counter)

    def judge(
        self, requirement: str, wrong: str | None, where: str = "", columns: tuple[str, ...] = ()
    ) -> bool:
        """Count one judgement of a requirement; `wrong` says what is wrong, or None that it holds. Returns whether it
        holds."""
        if requirement not in BY_ID:
            message = f"a check judges {requirement!r}, which is not in the catalogue"
            raise KeyError(message)
        self.evidence[requirement] += 1
        if wrong is not None:
            self.breaches.append(Breach(requirement, wrong, where, columns))
        return wrong is None

    def add(self, breaches: Iterable[Breach]) -> None:
        """Breaches that were found elsewhere; each counts as one judgement if nothing was counted for it."""
        for each in breaches:
            if each.requirement not in BY_ID:
                message = f"a check judges {each.requirement!r}, which is not in the catalogue"
                raise KeyError(message)
            self.evidence[each.requirement] = max(1, self.evidence[each.requirement])
            self.breaches.append(each)


@dataclass(frozen=True, slots=True)
class Check:
    """One oracle: its name, the requirements that it judges, and the function that does."""

    name: str
    judges: tuple[str, ...]
    look: Callable[[Observation, Ledger], None]
