"""Draws rows, and single values for the columns of a shape."""

from __future__ import annotations

from conformance.generation.choices import Choices
from conformance.generation.column_specs import every_value
from conformance.generation.table_shapes import TableShape, profile_of
from delta_models.table.generated_columns import generated_columns, generation_filler
from delta_models.values import Row, Rows, Value

POOL_TO_ALL = 12  # how much likelier a value of the pool is than one beyond it, for each value in it
REPEATED_ONE_IN = 6
BROKEN_ONE_IN = 30


def draw_value(choices: Choices, shape: TableShape, column: int, *, nulls: bool = True) -> Value:
    """Draw a value for a column: mostly one of its pool, sometimes null, now and then any."""
    pool = shape.pools[column]
    usual = len(pool) * POOL_TO_ALL
    every = every_value(shape.column_specs[column])
    if not every:
        return None  # of type void, so it has no value but null, even where none may be
    number = choices.below(usual + len(every) + (usual // 6 if nulls else 0))
    if number < usual:
        return pool[number % len(pool)]
    if number < usual + len(every):
        return every[number - usual]
    return None


def draw_row(choices: Choices, shape: TableShape) -> Row:
    """Draw a row. Seldom is there a null where none may be, or a wrong generated value."""
    row = tuple(
        draw_value(choices, shape, position, nulls=field.nullable or choices.one_in(BROKEN_ONE_IN))
        for position, field in enumerate(shape.schema.fields)
    )
    row = tuple(
        _too_long(choices, spec.limit) if spec.limit is not None and choices.one_in(BROKEN_ONE_IN) else value
        for spec, value in zip(shape.column_specs, row, strict=True)
    )
    if not generated_columns(shape.schema):
        return row
    names = shape.schema.names
    fill = generation_filler(shape.schema, [names[position] for position in shape.assignable()])
    if fill is None or choices.one_in(BROKEN_ONE_IN):
        return row
    return fill((row,))[0]


def _too_long(choices: Choices, limit: int) -> Value:
    """Draw a text that is too long for its column, in bytes as well or in blanks only."""
    return choices.pick(("x" * (limit + 1), "\u00e9" * (limit + 1), "a" + " " * limit))


def draw_rows(choices: Choices, shape: TableShape) -> Rows:
    """Draw the rows of one write: sometimes one of them twice, sometimes none at all."""
    rows = [draw_row(choices, shape) for _ in range(choices.weighted(profile_of(shape).rows_per_write))]
    if rows and choices.one_in(REPEATED_ONE_IN):
        rows.append(rows[0])
    return Rows(shape.schema, tuple(rows))
