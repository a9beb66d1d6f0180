"""Rows and single values for the columns of a shape."""

from __future__ import annotations

from conformance.strategies.dice import Dice
from conformance.strategies.shapes import Shape, every_value, profile_of
from delta_models.values import Row, Rows, Value

POOL_TO_ALL = 12  # how much likelier a value of the pool is than one beyond it, for each value in it
REPEATED_ONE_IN = 6


def draw_value(dice: Dice, shape: Shape, column: int, *, nulls: bool = True) -> Value:
    """A value for a column: mostly one of its pool, sometimes null, now and then any."""
    pool = shape.pools[column]
    usual = len(pool) * POOL_TO_ALL
    every = every_value(shape.kinds[column])
    at = dice.below(usual + len(every) + (usual // 6 if nulls else 0))
    if at < usual:
        return pool[at % len(pool)]
    if at < usual + len(every):
        return every[at - usual]
    return None


def draw_row(dice: Dice, shape: Shape) -> Row:
    """One row."""
    return tuple(draw_value(dice, shape, column) for column in range(len(shape.schema)))


def draw_rows(dice: Dice, shape: Shape) -> Rows:
    """The rows of one write; sometimes one of them twice, sometimes none at all."""
    rows = [draw_row(dice, shape) for _ in range(dice.weighted(profile_of(shape).rows_per_write))]
    if rows and dice.one_in(REPEATED_ONE_IN):
        rows.append(rows[0])
    return Rows(shape.schema, tuple(rows))
