"""What the draw of an operation depends on: the history so far, the table as it is now, and the choices."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.generation.choices import Choices
from conformance.generation.predicates import draw_predicate
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
    """The place in a history where the next operation comes.

    `shape` is that of the table as it is now, `drawn_shape` that with which the history began. `shape` and
    `model_history` lack the identity columns, since no operation may depend on their values.
    """

    choices: Choices
    model_history: ModelHistory
    shape: TableShape
    profile: TableProfile
    drawn_shape: TableShape
    identity_columns: tuple[Field, ...] = ()

    @property
    def table(self) -> Table:
        """The table in its newest state."""
        return self.model_history.table

    def draw_condition(self) -> Expression | None:
        """Draw the condition of a delete or an update, which now and then has none."""
        if self.choices.one_in(EVERYTHING_ONE_IN):
            return None
        return draw_predicate(self.choices, self.shape, self.table)

    def partition_positions(self) -> tuple[int, ...]:
        """The positions of the partition columns."""
        return tuple(self.shape.schema.index(name) for name in self.shape.partition_by)

    def draw_earlier_step(self) -> int:
        """Draw a step whose state must be readable, the latest ones more often."""
        steps = self.model_history.readable_steps()[::-1]
        return self.choices.pick(steps[:RECENT] if self.choices.one_in(2) else steps)
