"""When a history ends: with the first breach after which nothing that follows can be held against anybody, which is one
of a *must*, or of rows that are then no longer the model's; whatever is broken beside that is told once and played on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from delta_models.requirements import BY_ID, Violation

IN_NOBODYS_WAY = frozenset({
    "log.added-file-columns-known",  # readers go by the schema
    "log.path-is-uri",  # what can be decoded names one file, however it is spelt
})  # fmt: skip


def violations_that_end_history(violations: Sequence[Violation]) -> list[str]:
    """The requirements whose breach ends a history."""
    return [violation.requirement for violation in violations if _lasts(violation.requirement)]


@dataclass(slots=True)
class ViolationDeduplicator:
    """What has been told of one table. A file stays for many steps: its breach is told of when it comes."""

    _told: set[tuple[str, str, str]] = field(default_factory=set)  # engine, requirement and place

    def news(self, engine: str, violations: Sequence[Violation]) -> tuple[Violation, ...]:
        """The breaches without those of files that were told of before."""
        found = []
        for violation in violations:
            place = (engine, violation.requirement, violation.where)
            stays = violation.where and BY_ID[violation.requirement].role == "writer"
            if not (stays and place in self._told):
                found.append(violation)
            self._told.add(place)
        return tuple(found)


def _lasts(requirement: str) -> bool:
    must = BY_ID[requirement].strength == "must" and requirement not in IN_NOBODYS_WAY
    return must or requirement.startswith(("contents.", "write."))
