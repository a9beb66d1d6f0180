"""The fault summary: the state of the table after faults in each operation, and the orphaned files they left."""

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
class FaultRow:
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
        """The row as text, in the order of `HEAD`."""
        left = ", ".join(f"{role} {count:,}" for role, count in sorted(self.left_over.items())) or "nothing"
        return (
            self.engine, self.operation, self.fault, f"{self.points:,}", f"{self.before:,}", f"{self.after:,}", left,
        )  # fmt: skip


def fault_rows(outcomes: Iterable[FaultOutcome]) -> list[FaultRow]:
    """The rows of the table, sorted."""
    rows: dict[tuple[str, str, str], FaultRow] = {}
    for outcome in outcomes:
        key = (outcome.engine, outcome.operation, outcome.fault)
        row = rows.setdefault(key, FaultRow(*key))
        row.points += outcome.points
        row.before += outcome.before
        row.after += outcome.after
        row.left_over.update(outcome.left_over)
    return [rows[key] for key in sorted(rows)]
