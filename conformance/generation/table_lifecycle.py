"""How a table begins, is replaced, copied, and goes."""

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
    """How the table comes to be: mostly it is created empty."""
    if "catalogue" in shape.features:
        return Create(shape.schema, shape.partition_by, shape.properties, NAME, managed=choices.one_in(2))
    if "converted" in shape.features:
        return ConvertFromParquet(draw_rows(choices, shape), files=choices.pick((1, 2)))
    if "replaced" in shape.features and choices.one_in(2):
        if choices.one_in(3):
            return Replace(shape.schema, shape.partition_by, shape.properties)
        rows = draw_rows(choices, _of_a_query(shape))
        return CreateAs(rows, shape.partition_by, shape.properties, source_dropped=choices.one_in(3))
    return Create(shape.schema, shape.partition_by, shape.properties)


def create_named(context: DrawContext) -> Operation:
    """A table where there is one."""
    drawn_shape = context.drawn_shape
    return Create(
        drawn_shape.schema,
        drawn_shape.partition_by,
        drawn_shape.properties,
        NAME,
        if_not_exists=context.choices.one_in(2),
    )


def replace_table(context: DrawContext) -> Operation:
    """Another definition in place of the table, its original one or a part of it."""
    schema, partition_by = _another(context)
    return Replace(schema, partition_by, context.drawn_shape.properties)


def create_as(context: DrawContext) -> Operation:
    """Rows of another definition in place of the table; now and then without leave to replace it."""
    schema, partition_by = _another(context)
    shape = _of_a_query(adapt_shape(context.drawn_shape, schema, partition_by))
    rows = draw_rows(context.choices, shape)
    replaces, dropped = not context.choices.one_in(6), context.choices.one_in(3)
    return CreateAs(rows, partition_by, context.drawn_shape.properties, replaces, source_dropped=dropped)


def clone(context: DrawContext) -> Operation:
    """A copy of the table beside it, of now or of an earlier state."""
    choices = context.choices
    at = AtState(context.draw_earlier_step()) if choices.one_in(3) else Latest()
    return CloneTo(f"clone-{context.model_history.step}", shallow=choices.one_in(2), at=at)


def drop(_: DrawContext) -> Operation:
    """The catalogue forgets the table."""
    return Drop()


def _of_a_query(shape: TableShape) -> TableShape:
    """The same columns as a query has them: they may all be null."""
    return replace(shape, schema=Struct(tuple(replace(field, nullable=True) for field in shape.schema)))


def _another(context: DrawContext) -> tuple[Struct, tuple[str, ...]]:
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
