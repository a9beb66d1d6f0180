"""Draws how a table is created, replaced, cloned and dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.generation.choices import Choices
from conformance.generation.draw_context import DrawContext
from conformance.generation.rows import draw_rows
from conformance.generation.table_shapes import TableShape, adapt_shape
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


def draw_first(choices: Choices, shape: TableShape) -> Operation:
    """Draw the operation that creates the table: mostly it is created empty."""
    if "catalogue" in shape.features:
        return Create(shape.schema, shape.partition_by, shape.properties, NAME, managed=choices.one_in(2))
    if "converted" in shape.features:
        return ConvertFromParquet(draw_rows(choices, shape), files=choices.pick((1, 2)))
    if "replaced" in shape.features and choices.one_in(2):
        if choices.one_in(3):
            return Replace(shape.schema, shape.partition_by, shape.properties)
        rows = draw_rows(choices, _as_query(shape))
        return CreateAs(rows, shape.partition_by, shape.properties, source_dropped=choices.one_in(3))
    return Create(shape.schema, shape.partition_by, shape.properties)


def create_named(context: DrawContext) -> Operation:
    """Create a table by its name where there is one."""
    drawn_shape = context.drawn_shape
    return Create(
        drawn_shape.schema,
        drawn_shape.partition_by,
        drawn_shape.properties,
        NAME,
        if_not_exists=context.choices.one_in(2),
    )


def replace_table(context: DrawContext) -> Operation:
    """Replace the table by its original definition, or by a part of it."""
    schema, partition_by = _draw_definition(context)
    return Replace(schema, partition_by, context.drawn_shape.properties)


def create_as(context: DrawContext) -> Operation:
    """Replace the table by the rows of a query; now and then without leave to replace it."""
    schema, partition_by = _draw_definition(context)
    shape = _as_query(adapt_shape(context.drawn_shape, schema, partition_by))
    rows = draw_rows(context.choices, shape)
    replaces, dropped = not context.choices.one_in(6), context.choices.one_in(3)
    return CreateAs(rows, partition_by, context.drawn_shape.properties, replaces, source_dropped=dropped)


def clone(context: DrawContext) -> Operation:
    """Clone the table as it is now or as it was earlier."""
    choices = context.choices
    at = AtState(context.draw_earlier_step()) if choices.one_in(3) else Latest()
    return CloneTo(f"clone-{context.model_history.step}", shallow=choices.one_in(2), at=at)


def drop(_: DrawContext) -> Operation:
    """Drop the table from the catalog."""
    return Drop()


def _as_query(shape: TableShape) -> TableShape:
    """Return a shape with the columns as a query has them: all may be null."""
    return replace(shape, schema=Struct(tuple(replace(field, nullable=True) for field in shape.schema)))


def _draw_definition(context: DrawContext) -> tuple[Struct, tuple[str, ...]]:
    choices, drawn_shape = context.choices, context.drawn_shape
    partition_by = () if choices.one_in(3) else drawn_shape.partition_by
    droppable = [name for name in drawn_shape.schema.names if name not in partition_by]
    if len(droppable) > 1 and choices.one_in(2):
        gone = choices.pick(droppable)
        return Struct(tuple(field for field in drawn_shape.schema if field.name != gone)), partition_by
    return drawn_shape.schema, partition_by


LIFECYCLE_OPERATIONS: Mapping[str, Callable[[DrawContext], Operation]] = {
    "CreateNamed": create_named,
    "Replace": replace_table,
    "CreateAs": create_as,
    "CloneTo": clone,
    "Drop": drop,
}
