"""A place in a history: what has been so far, the table as it is now, and the dice."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.generation.choices import Choices
from conformance.generation.drawn_predicates import draw_where
from conformance.generation.table_profiles import TableProfile
from conformance.generation.table_shapes import TableShape
from delta_models.expressions import Expression
from delta_models.schema import Field
from delta_models.table import ModelHistory, Table

EVERYTHING_ONE_IN = 12  # deletes and updates without a predicate
FILES = ((1, 6), (2, 1), (3, 1))
RECENT = 6  # how many of the latest states are looked back to half of the time


@dataclass(frozen=True, slots=True)
class DrawContext:
    """Where the next operation comes. `shape` is the table's as it is now, `home` the one that was drawn; `made_up` are
    the columns that the table fills itself, and that nothing else here has."""

    dice: Choices
    model_history: ModelHistory
    shape: TableShape
    profile: TableProfile
    home: TableShape
    made_up: tuple[Field, ...] = ()

    @property
    def table(self) -> Table:
        """The newest state."""
        return self.model_history.table

    def where(self) -> Expression | None:
        """The predicate of a delete or an update, which now and then has none."""
        if self.dice.one_in(EVERYTHING_ONE_IN):
            return None
        return draw_where(self.dice, self.shape, self.table)

    def partitions(self) -> tuple[int, ...]:
        """The positions of the partition columns."""
        return tuple(self.shape.schema.index(name) for name in self.shape.partition_by)

    def earlier(self) -> int:
        """A step whose state must be readable, the latest ones more often."""
        steps = self.model_history.readable_steps()[::-1]
        return self.dice.pick(steps[:RECENT] if self.dice.one_in(2) else steps)
