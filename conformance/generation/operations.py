"""Draws the next operation of a history, from what the model says that the table is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conformance.generation.choices import Choices, HypothesisChoices, composite
from conformance.generation.draw_context import FILES, DrawContext
from conformance.generation.maintenance import MAINTENANCE_OPERATIONS
from conformance.generation.merges import draw_merge
from conformance.generation.predicates import draw_predicate
from conformance.generation.properties_and_constraints import PROPERTY_AND_CONSTRAINT_OPERATIONS
from conformance.generation.rows import draw_rows, draw_value
from conformance.generation.schema_changes import SCHEMA_CHANGES
from conformance.generation.table_filled_columns import (
    identity_columns,
    spell_out_columns,
    without_identity_columns,
)
from conformance.generation.table_lifecycle import LIFECYCLE_OPERATIONS, draw_first
from conformance.generation.table_shapes import TableShape, adapt_shape, profile_of
from conformance.generation.writes import WRITE_OPERATIONS
from delta_adapters.deviations import operation_trigger
from delta_models.expressions import Column, Expression, Literal
from delta_models.operations import (
    Append,
    AtState,
    Checkpoint,
    Create,
    Delete,
    Latest,
    Operation,
    Optimize,
    Overwrite,
    Read,
    Restore,
    Update,
    Vacuum,
)  # fmt: skip
from delta_models.schema import BINARY, DATE, LONG, STRING, Field, Struct
from delta_models.table import ModelHistory
from delta_models.values import Rows

if TYPE_CHECKING:
    from hypothesis import strategies as st

ATTEMPTS = 5  # to draw an operation without a known trigger


def generate_operations(model_history: ModelHistory, shape: TableShape) -> st.SearchStrategy[Operation]:
    """Return a strategy for the next operation of a history, as `draw_operation` draws it.

    An operation of a tame shape has no known trigger. `Reopen` is left to the state machine.
    """
    return _operations(model_history, shape)


@composite
def _operations(draw: Callable[..., Any], model_history: ModelHistory, shape: TableShape) -> Operation:
    choices = HypothesisChoices(draw)
    for _ in range(ATTEMPTS):
        operation = draw_operation(choices, model_history, shape)
        if not (shape.tame and operation_trigger(model_history.table, operation) is not None):
            return operation
    return Read()


def draw_operation(
    choices: Choices, model_history: ModelHistory, shape: TableShape, letter: str | None = None
) -> Operation:
    """Draw the next operation of a history: of one letter of the alphabet, or of any that the shape has.

    The first operation creates the table.
    """
    if not model_history.table.exists:
        return draw_first(choices, shape)
    hidden = identity_columns(model_history)
    visible = without_identity_columns(model_history)
    table = visible.table
    present_shape = adapt_shape(shape, table.schema, table.partition_by)
    context = DrawContext(choices, visible, present_shape, profile_of(shape), shape, hidden)
    operation = MAKERS[letter or choices.weighted(shape.operations)](context)
    return spell_out_columns(operation, table.schema.names) if hidden else operation


def append(context: DrawContext) -> Operation:
    """Append rows; now and then rows that do not fit the table."""
    one_in = context.profile.misfits_one_in
    if one_in and context.choices.one_in(one_in):
        return _append_misfit(context)
    return Append(draw_rows(context.choices, context.shape), files=context.choices.weighted(FILES))


def _append_misfit(context: DrawContext) -> Operation:
    """Append rows that the table must refuse: a column too many, or a text where no text fits."""
    choices, schema = context.choices, context.shape.schema
    rows = draw_rows(choices, context.shape).rows or ((None,) * len(schema),)
    without_texts = [index for index, field in enumerate(schema.fields) if field.type not in {STRING, BINARY}]
    if without_texts and choices.one_in(2):
        index = choices.pick(without_texts)
        fields = list(schema.fields)
        fields[index] = Field(fields[index].name, STRING)
        values = tuple((*row[:index], "no such", *row[index + 1 :]) for row in rows)
        return Append(Rows(Struct(tuple(fields)), values))
    extra = Field("extra", choices.pick((LONG, DATE)))
    return Append(Rows(Struct((*schema.fields, extra)), tuple((*row, 1) for row in rows)))


def overwrite(context: DrawContext) -> Operation:
    """Overwrite the table, or if the profile says so a part of it."""
    choices, shape = context.choices, context.shape
    rows = draw_rows(choices, shape)
    one_in = context.profile.partial_overwrites_one_in
    if not one_in or not choices.one_in(one_in):
        return Overwrite(rows)
    if shape.partition_by and choices.one_in(2):
        return Overwrite(rows, dynamic=True)
    where = draw_predicate(choices, shape, context.table, context.partition_positions() or None)
    return Overwrite(rows, where=where)


def delete(context: DrawContext) -> Operation:
    """Delete some rows, or all."""
    return Delete(context.draw_condition())


def update(context: DrawContext) -> Operation:
    """Set a column or two to a constant or to another column."""
    choices, shape = context.choices, context.shape
    where = context.draw_condition()
    assignments: list[tuple[str, Expression]] = []
    for index in sorted(choices.some(shape.literal(), 2 if choices.one_in(3) else 1)):
        field = shape.schema.fields[index]
        alike = _columns_alike(shape, index)
        if alike and choices.one_in(3):
            assignments.append((field.name, Column((choices.pick(alike),))))
        else:
            assignments.append((field.name, Literal(field.type, draw_value(choices, shape, index))))
    return Update(tuple(assignments), where)


def _columns_alike(shape: TableShape, index: int) -> list[str]:
    """Return the other columns whose values may stand in the column as well."""
    spec = shape.column_specs[index]
    return [
        shape.schema.names[other]
        for other, other_spec in enumerate(shape.column_specs)
        if other != index and other_spec == spec
    ]


def merge(context: DrawContext) -> Operation:
    """Merge rows; append some if no column can be the key."""
    return draw_merge(context.choices, context.table, context.shape) or append(context)


def optimize(context: DrawContext) -> Operation:
    """Compact the table, or some of its partitions."""
    if context.shape.partition_by and context.choices.one_in(3):
        positions = context.partition_positions()
        return Optimize(draw_predicate(context.choices, context.shape, context.table, positions))
    return Optimize()


def checkpoint(_: DrawContext) -> Operation:
    """Write a checkpoint."""
    return Checkpoint()


def vacuum(context: DrawContext) -> Operation:
    """Remove unused files, mostly all of them."""
    return Vacuum(context.choices.weighted(context.profile.retentions))


def restore(context: DrawContext) -> Operation:
    """Restore an earlier state."""
    return Restore(AtState(context.draw_earlier_step()))


def read(context: DrawContext) -> Operation:
    """Read the newest or an earlier state, with or without a predicate and a choice of columns."""
    choices = context.choices
    at = AtState(context.draw_earlier_step()) if choices.one_in(2) else Latest()
    table, shape = context.table, context.shape
    if isinstance(at, AtState) and context.model_history.state(at.step).schema != table.schema:
        table = context.model_history.state(at.step)
        shape = adapt_shape(context.drawn_shape, table.schema, table.partition_by)
    where = draw_predicate(choices, shape, table) if choices.below(4) else None
    columns = None
    if choices.one_in(2):
        names = shape.schema.names
        columns = tuple(choices.some(names, 1 + choices.below(len(names))))
    return Read(at, where, columns)


def create(context: DrawContext) -> Operation:
    """Create a table where there is one."""
    shape = context.drawn_shape
    return Create(shape.schema, shape.partition_by, shape.properties, if_not_exists=context.choices.one_in(2))


MAKERS: dict[str, Callable[[DrawContext], Operation]] = {
    "Append": append,
    "Overwrite": overwrite,
    "Delete": delete,
    "Update": update,
    "Merge": merge,
    "Optimize": optimize,
    "Checkpoint": checkpoint,
    "Vacuum": vacuum,
    "Restore": restore,
    "Read": read,
    "Create": create,
    **WRITE_OPERATIONS,
    **SCHEMA_CHANGES,
    **PROPERTY_AND_CONSTRAINT_OPERATIONS,
    **MAINTENANCE_OPERATIONS,
    **LIFECYCLE_OPERATIONS,
}
