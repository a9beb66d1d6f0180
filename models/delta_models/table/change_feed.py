"""What the change feed must contain: for each step the difference between the states before and after it.

An engine may split the difference as it likes. It may report an update as two images, or as a deletion and an
insertion. It may report a rewritten row that stays the same, or not. The sum must be right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from delta_models.schema import Struct
from delta_models.table.state import Table
from delta_models.values import Key, Row, row_keyer

ENABLED = "delta.enableChangeDataFeed"
COMES = ("insert", "update_postimage")
GOES = ("delete", "update_preimage")


@dataclass(frozen=True, slots=True)
class StepChanges:
    """The difference that one step made: how often each row came, and how often each row went."""

    step: int
    schema: Struct
    came: Counter[Key]
    went: Counter[Key]

    def problem(self, changes: Iterable[tuple[str, Row]]) -> str | None:
        """Return what is wrong with the reported changes, each a kind and a row; None if they add up."""
        key = row_keyer(self.schema)
        net: Counter[Key] = Counter()
        for kind, row in changes:
            if kind in COMES:
                net[key(row)] += 1
            elif kind in GOES:
                net[key(row)] -= 1
            else:
                return f"a change of the unknown kind {kind!r}"
        net.subtract(self.came)
        net.update(self.went)
        differences = {row: count for row, count in net.items() if count}
        if not differences:
            return None
        first, count = next(iter(differences.items()))
        direction = "often" if count > 0 else "rarely"
        return f"{first} is told {abs(count)} times too {direction}, and {len(differences) - 1} more"


@dataclass(frozen=True, slots=True)
class ChangesExpectation:
    """What a query of the change feed must return for each step; without `steps` it must be refused.

    `refusals` are the kinds of refusal that it must have then, or may have otherwise.
    """

    steps: tuple[StepChanges, ...] | None
    refusals: tuple[str, ...] = ()


def step_changes(step: int, before: Table, after: Table) -> StepChanges:
    """Return the difference between the states before and after a step, in the schema of the later one."""
    old = before.bag if before.exists and before.schema == after.schema else Counter[Key]()
    if before.rows is after.rows and before.schema == after.schema:
        return StepChanges(step, after.schema, Counter(), Counter())
    return StepChanges(step, after.schema, after.bag - old, old - after.bag)


def is_recorded(table: Table) -> bool:
    """Whether a table records its changes."""
    return table.exists and table.property(ENABLED).lower() == "true"
