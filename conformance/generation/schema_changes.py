"""Draws changes of the schema: add, drop, rename, reorder and widen columns; change nullability and defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from conformance.generation.draw_context import DrawContext
from conformance.generation.feature_bundles import PLAIN_TYPES
from conformance.generation.rows import draw_value
from conformance.generation.writes import EXTRA
from delta_models.expressions import Literal
from delta_models.operations import (
    AddColumn,
    DropColumn,
    Operation,
    RenameColumn,
    ReorderColumn,
    SetDefault,
    SetNullable,
    WidenColumn,
)
from delta_models.schema import (
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    TIMESTAMP_NTZ,
    DataType,
    DecimalType,
    Field,
    Struct,
)  # fmt: skip

EXISTING_ONE_IN = 12
NOT_NULL_ONE_IN = 15
NAMES = ("fresh", "other", "Third", "x y", "fifth", "sixth")
WIDER: Mapping[DataType, tuple[DataType, ...]] = {
    BYTE: (SHORT, INTEGER, LONG),
    SHORT: (INTEGER, LONG),
    INTEGER: (LONG, DOUBLE),
    FLOAT: (DOUBLE,),
    DATE: (TIMESTAMP_NTZ,),
    DecimalType(5, 2): (DecimalType(10, 2), DecimalType(12, 4)),
    DecimalType(10, 2): (DecimalType(18, 6), DecimalType(38, 2)),
}


def add_last(context: DrawContext) -> Operation:
    """Add a column at the end."""
    return AddColumn(_new_field(context))


def add_column(context: DrawContext) -> Operation:
    """Add a column anywhere, also inside a struct."""
    choices, schema = context.choices, context.shape.schema
    structs = [field for field in schema if isinstance(field.type, Struct)]
    if structs and choices.one_in(3):
        parent = choices.pick(structs)
        return AddColumn(_new_field(context), (parent.name,))
    match choices.below(3):
        case 0:
            return AddColumn(_new_field(context))
        case 1:
            return AddColumn(_new_field(context), after=choices.pick(schema.names))
    return AddColumn(_new_field(context), first=True)


def drop_column(context: DrawContext) -> Operation:
    """Drop a column, but not the last one that is in the files."""
    names = context.shape.schema.names
    kept = {(name,) for name in names if name not in context.shape.partition_by}
    possible = [path for path in _paths(context) if len(kept) > 1 or path not in kept]
    return DropColumn(context.choices.pick(possible)) if possible else add_last(context)


def rename_column(context: DrawContext) -> Operation:
    """Rename a column; now and then to a name that is taken."""
    choices = context.choices
    path = choices.pick(list(_paths(context)))
    if choices.one_in(EXISTING_ONE_IN):
        return RenameColumn(path, choices.pick(context.shape.schema.names))
    return RenameColumn(path, _free_name(context))


def reorder_column(context: DrawContext) -> Operation:
    """Move a column to the front or behind another."""
    choices, names = context.choices, context.shape.schema.names
    name = choices.pick(names)
    others = [candidate for candidate in names if candidate != name]
    if not others or choices.one_in(2):
        return ReorderColumn((name,))
    return ReorderColumn((name,), choices.pick(others))


def widen_column(context: DrawContext) -> Operation:
    """Widen the type of a column; add one if none can be widened."""
    choices, shape = context.choices, context.shape
    possible = [column for column in shape.schema if column.type in WIDER]
    if not possible:
        return add_last(context)
    field = choices.pick(possible)
    return WidenColumn((field.name,), choices.pick(WIDER[field.type]))


def set_nullable(context: DrawContext) -> Operation:
    """Take NOT NULL from a column, or give it to one."""
    choices, schema = context.choices, context.shape.schema
    strict = [field.name for field in schema if not field.nullable]
    if strict and choices.below(3):
        return SetNullable((choices.pick(strict),), nullable=True)
    return SetNullable((choices.pick(schema.names),), nullable=False)


def set_default(context: DrawContext) -> Operation:
    """Set the default of a column, or drop one."""
    choices, shape = context.choices, context.shape
    position = choices.pick(shape.literal())
    field = shape.schema.fields[position]
    known = [name for name, _ in context.table.defaults]
    if known and choices.one_in(4):
        return SetDefault(choices.pick(known), None)
    return SetDefault(field.name, Literal(field.type, draw_value(choices, shape, position, nulls=False)))


def _new_field(context: DrawContext) -> Field:
    choices = context.choices
    name = (
        choices.pick(context.shape.schema.names) if choices.one_in(EXISTING_ONE_IN) else _free_name(context)
    )
    return Field(name, choices.weighted(PLAIN_TYPES), nullable=not choices.one_in(NOT_NULL_ONE_IN))


def _free_name(context: DrawContext) -> str:
    known = {name.casefold() for name in context.shape.schema.names}
    names = [name for name in (*NAMES, *(other.name for other in EXTRA)) if name.casefold() not in known]
    return context.choices.pick(names or ["seventh"])


def _paths(context: DrawContext) -> Iterator[tuple[str, ...]]:
    for field in context.shape.schema:
        yield (field.name,)
        if isinstance(field.type, Struct):
            yield from ((field.name, inner.name) for inner in field.type)


SCHEMA_CHANGES: Mapping[str, Callable[[DrawContext], Operation]] = {
    "AddLast": add_last,
    "AddColumn": add_column,
    "DropColumn": drop_column,
    "RenameColumn": rename_column,
    "ReorderColumn": reorder_column,
    "WidenColumn": widen_column,
    "SetNullable": set_nullable,
    "SetDefault": set_default,
}
