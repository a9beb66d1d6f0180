"""How a table begins, is replaced, copied, and goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.generation.choices import Choices
from conformance.generation.draw_context import DrawContext
from conformance.generation.rows import draw_rows
from conformance.generation.table_shapes import TableShape, current
from delta_models.operations import (
    AtState,
    CloneTo,
    ConvertFromParquet,
    Create,
    CreateAs,
    Drop,
    Latest,
    Operation,
    Replace,
)
from delta_models.schema import Struct

NAME = "t"


def first_of(dice: Choices, shape: TableShape) -> Operation:
    """How the table comes to be: mostly it is created empty."""
    if "catalogue" in shape.features:
        return Create(shape.schema, shape.partition_by, shape.properties, NAME, managed=dice.one_in(2))
    if "converted" in shape.features:
        return ConvertFromParquet(draw_rows(dice, shape), files=dice.pick((1, 2)))
    if "replaced" in shape.features and dice.one_in(2):
        if dice.one_in(3):
            return Replace(shape.schema, shape.partition_by, shape.properties)
        rows = draw_rows(dice, _of_a_query(shape))
        return CreateAs(rows, shape.partition_by, shape.properties, source_dropped=dice.one_in(3))
    return Create(shape.schema, shape.partition_by, shape.properties)


def create_named(place: DrawContext) -> Operation:
    """A table where there is one."""
    home = place.home
    return Create(home.schema, home.partition_by, home.properties, NAME, if_not_exists=place.dice.one_in(2))


def replace_table(place: DrawContext) -> Operation:
    """Another definition in place of the table, its original one or a part of it."""
    schema, partition_by = _another(place)
    return Replace(schema, partition_by, place.home.properties)


def create_as(place: DrawContext) -> Operation:
    """Rows of another definition in place of the table; now and then without leave to replace it."""
    schema, partition_by = _another(place)
    shape = _of_a_query(current(place.home, schema, partition_by))
    rows = draw_rows(place.dice, shape)
    replaces, dropped = not place.dice.one_in(6), place.dice.one_in(3)
    return CreateAs(rows, partition_by, place.home.properties, replaces, source_dropped=dropped)


def clone(place: DrawContext) -> Operation:
    """A copy of the table beside it, of now or of an earlier state."""
    dice = place.dice
    at = AtState(place.earlier()) if dice.one_in(3) else Latest()
    return CloneTo(f"clone-{place.model_history.step}", shallow=dice.one_in(2), at=at)


def drop(_: DrawContext) -> Operation:
    """The catalogue forgets the table."""
    return Drop()


def _of_a_query(shape: TableShape) -> TableShape:
    """The same columns as a query has them: they may all be null."""
    return replace(shape, schema=Struct(tuple(replace(field, nullable=True) for field in shape.schema)))


def _another(place: DrawContext) -> tuple[Struct, tuple[str, ...]]:
    dice, home = place.dice, place.home
    partition_by = () if dice.one_in(3) else home.partition_by
    droppable = [name for name in home.schema.names if name not in partition_by]
    if len(droppable) > 1 and dice.one_in(2):
        gone = dice.pick(droppable)
        return Struct(tuple(field for field in home.schema if field.name != gone)), partition_by
    return home.schema, partition_by


LIFECYCLE: Mapping[str, Callable[[DrawContext], Operation]] = {
    "CreateNamed": create_named,
    "Replace": replace_table,
    "CreateAs": create_as,
    "CloneTo": clone,
    "Drop": drop,
}
