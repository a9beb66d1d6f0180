"""Changes of the schema: columns that come, go, move, and change their names, types, nullability and defaults."""

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


def add_last(place: DrawContext) -> Operation:
    """A new column at the end."""
    return AddColumn(_new_field(place))


def add_column(place: DrawContext) -> Operation:
    """A new column, anywhere, also inside a struct."""
    dice, schema = place.dice, place.shape.schema
    structs = [field for field in schema if isinstance(field.type, Struct)]
    if structs and dice.one_in(3):
        parent = dice.pick(structs)
        return AddColumn(_new_field(place), (parent.name,))
    match dice.below(3):
        case 0:
            return AddColumn(_new_field(place))
        case 1:
            return AddColumn(_new_field(place), after=dice.pick(schema.names))
    return AddColumn(_new_field(place), first=True)


def drop_column(place: DrawContext) -> Operation:
    """A column goes; not the last one that is in the files."""
    names = place.shape.schema.names
    kept = {(name,) for name in names if name not in place.shape.partition_by}
    possible = [path for path in _paths(place) if len(kept) > 1 or path not in kept]
    return DropColumn(place.dice.pick(possible)) if possible else add_last(place)


def rename_column(place: DrawContext) -> Operation:
    """A column takes another name, now and then one that is taken."""
    dice = place.dice
    path = dice.pick(list(_paths(place)))
    if dice.one_in(EXISTING_ONE_IN):
        return RenameColumn(path, dice.pick(place.shape.schema.names))
    return RenameColumn(path, _free(place))


def reorder_column(place: DrawContext) -> Operation:
    """A column moves to the front or behind another."""
    dice, names = place.dice, place.shape.schema.names
    name = dice.pick(names)
    others = [candidate for candidate in names if candidate != name]
    if not others or dice.one_in(2):
        return ReorderColumn((name,))
    return ReorderColumn((name,), dice.pick(others))


def widen_column(place: DrawContext) -> Operation:
    """A column takes a wider type, if one can."""
    dice, shape = place.dice, place.shape
    possible = [column for column in shape.schema if column.type in WIDER]
    if not possible:
        return add_last(place)
    field = dice.pick(possible)
    return WidenColumn((field.name,), dice.pick(WIDER[field.type]))


def set_nullable(place: DrawContext) -> Operation:
    """A column loses its NOT NULL, or gets one."""
    dice, schema = place.dice, place.shape.schema
    strict = [field.name for field in schema if not field.nullable]
    if strict and dice.below(3):
        return SetNullable((dice.pick(strict),), nullable=True)
    return SetNullable((dice.pick(schema.names),), nullable=False)


def set_default(place: DrawContext) -> Operation:
    """A default for a column, or none any more."""
    dice, shape = place.dice, place.shape
    at = dice.pick(shape.literal())
    field = shape.schema.fields[at]
    known = [name for name, _ in place.table.defaults]
    if known and dice.one_in(4):
        return SetDefault(dice.pick(known), None)
    return SetDefault(field.name, Literal(field.type, draw_value(dice, shape, at, nulls=False)))


def _new_field(place: DrawContext) -> Field:
    dice = place.dice
    name = dice.pick(place.shape.schema.names) if dice.one_in(EXISTING_ONE_IN) else _free(place)
    return Field(name, dice.weighted(PLAIN_TYPES), nullable=not dice.one_in(NOT_NULL_ONE_IN))


def _free(place: DrawContext) -> str:
    known = {name.casefold() for name in place.shape.schema.names}
    names = [name for name in (*NAMES, *(other.name for other in EXTRA)) if name.casefold() not in known]
    return place.dice.pick(names or ["seventh"])


def _paths(place: DrawContext) -> Iterator[tuple[str, ...]]:
    for field in place.shape.schema:
        yield (field.name,)
        if isinstance(field.type, Struct):
            yield from ((field.name, inner.name) for inner in field.type)


ALTERATIONS: Mapping[str, Callable[[DrawContext], Operation]] = {
    "AddLast": add_last,
    "AddColumn": add_column,
    "DropColumn": drop_column,
    "RenameColumn": rename_column,
    "ReorderColumn": reorder_column,
    "WidenColumn": widen_column,
    "SetNullable": set_nullable,
    "SetDefault": set_default,
}
