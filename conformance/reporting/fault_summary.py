"""What faults did to each operation of each engine: in which state the table was, and which files were left over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance.events.types import FaultOutcome

TITLE = "What faults left"
HEAD = ("Engine", "Operation", "Fault", "Points", "As before", "As after", "Left over")
CELLS = (
    "Operations that were cut, or whose storage failed, so many times: how often the table was then as before and how"
    " often as after them, and the files that lay there and that no commit names. They are legal, invisible to readers,"
    " and a vacuum removes them once they are older than its retention."
)


@dataclass(slots=True)
class FaultSummary:
    """One kind of fault in one operation of one engine, over all histories."""

    engine: str
    operation: str
    fault: str
    points: int = 0
    before: int = 0
    after: int = 0
    left_over: Counter[str] = field(default_factory=Counter)

    @property
    def cells(self) -> tuple[str, ...]:
        """As text, in the order of `HEAD`."""
        left = ", ".join(f"{role} {count:,}" for role, count in sorted(self.left_over.items())) or "nothing"
        return (
            self.engine, self.operation, self.fault, f"{self.points:,}", f"{self.before:,}", f"{self.after:,}", left,
        )  # fmt: skip


def strikes(struck: Iterable[FaultOutcome]) -> list[FaultSummary]:
    """The lines of the table, sorted."""
    found: dict[tuple[str, str, str], FaultSummary] = {}
    for each in struck:
        key = (each.engine, each.operation, each.fault)
        line = found.setdefault(key, FaultSummary(*key))
        line.points += each.points
        line.before += each.before
        line.after += each.after
        line.left_over.update(each.left_over)
    return [found[key] for key in sorted(found)]
