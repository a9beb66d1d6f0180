"""Predicates over whatever columns a table has by now."""

from __future__ import annotations

from conformance.generation.choices import Choices
from conformance.generation.predicates import draw_predicate
from conformance.generation.table_shapes import TableShape
from delta_models.expressions import Column, Expression, IsNotNull
from delta_models.table import Table


def draw_where(
    dice: Choices, shape: TableShape, table: Table, columns: tuple[int, ...] | None = None
) -> Expression:
    """A predicate over some columns (by position; all, unless they are given), as far as they can be compared."""
    comparable = shape.comparable()
    if comparable is None:
        return draw_predicate(dice, shape, table, columns)
    wanted = comparable if columns is None else tuple(at for at in columns if at in comparable)
    if not wanted:
        return IsNotNull(Column((shape.schema.names[0],)))
    return draw_predicate(dice, shape, table, wanted)
