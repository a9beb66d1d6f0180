"""Which violations end a history, and which are reported only once.

A history ends with the first violation after which an engine can't be held to what follows: one of a *must*, or of rows
that are then no longer the model's. The history goes on after any other violation, which is reported once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from delta_models.requirements import BY_ID, Violation

HARMLESS = frozenset({
    "log.added-file-columns-known",  # readers go by the schema
    "log.path-is-uri",  # what can be decoded names one file, however it is spelt
})  # fmt: skip


def violations_that_end_history(violations: Sequence[Violation]) -> list[str]:
    """The requirements whose violation ends a history."""
    return [violation.requirement for violation in violations if _ends_history(violation.requirement)]


@dataclass(slots=True)
class ViolationDeduplicator:
    """The violations that were reported of one table. A file stays for many steps, its violation is reported once."""

    _reported: set[tuple[str, str, str]] = field(default_factory=set)  # engine, requirement and place

    def select_new(self, engine: str, violations: Sequence[Violation]) -> tuple[Violation, ...]:
        """The violations without those of files that were reported before."""
        new = []
        for violation in violations:
            place = (engine, violation.requirement, violation.where)
            stays = violation.where and BY_ID[violation.requirement].role == "writer"
            if not (stays and place in self._reported):
                new.append(violation)
            self._reported.add(place)
        return tuple(new)


def _ends_history(requirement: str) -> bool:
    must = BY_ID[requirement].strength == "must" and requirement not in HARMLESS
    return must or requirement.startswith(("contents.", "write."))
