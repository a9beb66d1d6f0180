"""The conflict matrix: how races of two operations ended, beside what Delta Lake documents about the pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance.events.types import RaceOutcome
from delta_models.concurrency import UNCONFIRMED

HEAD = ("Writers", "At once", "Overlap", "Isolation", "Documented", "Orders", "Both done", "Refused")
CELLS = (
    "Two operations that begin from one state, let through their steps in so many orders: how often both were done, and"
    " how often one was refused, by the kind of conflict (unknown: its engine can't say what became of it)."
    " In turn: whoever does not promise that its look whether a version is free and its taking it are one was not held"
    " between them; as it is, it may have put its commit in place of the other's, and both are told as done."
    " Documented for the level of isolation that the table asks for; of WriteSerializable there are rules, and no other"
    " implementation here to confirm them."
)
IN_TURN = "several-in-turn"


@dataclass(slots=True)
class ConflictRow:
    """One pair of operations on one pair of engines, over all chunks."""

    engines: tuple[str, ...]
    operations: tuple[str, ...]
    overlap: str
    isolation: str
    processes: str
    documented: str
    orders: int = 0
    unfollowed: int = 0
    both: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of `HEAD`."""
        refused = ", ".join(f"{kind} {times}" for kind, times in sorted(self.refused.items())) or "none"
        names = dict.fromkeys(self.engines)
        documented = f"{self.documented}{', unconfirmed' if self.isolation in UNCONFIRMED else ''}"
        orders = f"{self.orders:,}" + (f", {self.unfollowed:,} not followed" if self.unfollowed else "")
        writers = " and ".join(names) if len(names) > 1 else f"{self.engines[0]}, twice"
        return (
            writers + (", in turn" if self.processes == IN_TURN else ""),
            " and ".join(self.operations), self.overlap, self.isolation, documented, orders,
            f"{self.both:,}", refused,
        )  # fmt: skip


def conflict_rows(outcomes: Iterable[RaceOutcome]) -> list[ConflictRow]:
    """The rows of the matrix, sorted."""
    rows: dict[tuple[tuple[str, ...], tuple[str, ...], str, str, str], ConflictRow] = {}
    for outcome in outcomes:
        key = (outcome.engines, outcome.operations, outcome.overlap, outcome.isolation, outcome.processes)
        row = rows.setdefault(key, ConflictRow(*key, outcome.documented))
        row.orders += outcome.schedules
        row.unfollowed += outcome.unfollowed
        row.both += outcome.both
        row.refused.update(outcome.conflicts)
    return [rows[key] for key in sorted(rows, key=str)]
