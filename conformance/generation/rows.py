"""Rows and single values for the columns of a shape."""

from __future__ import annotations

from conformance.generation.choices import Choices
from conformance.generation.table_shapes import TableShape, every_value, profile_of
from delta_models.table.generated_columns import generation_filler
from delta_models.values import Row, Rows, Value

POOL_TO_ALL = 12  # how much likelier a value of the pool is than one beyond it, for each value in it
REPEATED_ONE_IN = 6
BROKEN_ONE_IN = 30


def draw_value(dice: Choices, shape: TableShape, column: int, *, nulls: bool = True) -> Value:
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


def draw_row(dice: Choices, shape: TableShape) -> Row:
    """One row; a null where none may be is the exception, and so is a generated value that is wrong."""
    row = tuple(
        draw_value(dice, shape, at, nulls=field.nullable or dice.one_in(BROKEN_ONE_IN))
        for at, field in enumerate(shape.schema.fields)
    )
    row = tuple(
        _too_long(dice, kind.limit) if kind.limit is not None and dice.one_in(BROKEN_ONE_IN) else value
        for kind, value in zip(shape.kinds, row, strict=True)
    )
    fill = generation_filler(shape.schema, [shape.schema.names[at] for at in shape.assignable()])
    if fill is None or dice.one_in(BROKEN_ONE_IN):
        return row
    return fill((row,))[0]


def _too_long(dice: Choices, limit: int) -> Value:
    """A text that is longer than its column's, in bytes as well or in blanks only."""
    return dice.pick(("x" * (limit + 1), "\u00e9" * (limit + 1), "a" + " " * limit))


def draw_rows(dice: Choices, shape: TableShape) -> Rows:
    """The rows of one write; sometimes one of them twice, sometimes none at all."""
    rows = [draw_row(dice, shape) for _ in range(dice.weighted(profile_of(shape).rows_per_write))]
    if rows and dice.one_in(REPEATED_ONE_IN):
        rows.append(rows[0])
    return Rows(shape.schema, tuple(rows))
