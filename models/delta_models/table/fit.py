"""Do rows fit a table, and what do they look like once stored in it?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from delta_models.schema import Array, DataType, Field, Map, Struct
from delta_models.table.state import NotModelled, Table
from delta_models.values import Row, Rows

SCHEMA_MODES = ("none", "merge", "overwrite")


class Misfit(ValueError):
    """Columns or types do not fit: the write must be refused."""


class BrokenRule(ValueError):
    """A row breaks NOT NULL or a constraint: the write must be refused."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Rows in the order of `table`'s schema; `table` has the schema after the write, and `lenient` says that the
    write may as well be refused because it leaves out columns."""

    table: Table
    rows: tuple[Row, ...]
    lenient: bool = False


def bare(data_type: DataType) -> DataType:
    """A type without nullability and field metadata: what must agree for values to fit."""
    match data_type:
        case Struct(fields=fields):
            return Struct(tuple(Field(each.name, bare(each.type)) for each in fields))
        case Array(element=element):
            return Array(bare(element))
        case Map(key=key, value=value):
            return Map(bare(key), bare(value))
    return data_type


def fit(table: Table, incoming: Rows, schema_mode: str, *, by_name: bool) -> Fitted:
    """The incoming rows as rows of the table, or Misfit, or BrokenRule."""
    if schema_mode not in SCHEMA_MODES:
        message = f"schema mode {schema_mode!r}"
        raise NotModelled(message)
    target = evolved(table, incoming.schema, schema_mode)
    positions = (
        _by_name(target.schema, incoming.schema) if by_name else _by_position(target.schema, incoming.schema)
    )
    if positions == tuple(range(len(incoming.schema))):
        rows = incoming.rows
    else:
        rows = tuple(tuple(None if at is None else row[at] for at in positions) for row in incoming.rows)
    rows = target.stored(rows)
    check_rules(target, rows)
    return Fitted(target, rows, lenient=None in positions and schema_mode == "none")


def evolved(table: Table, incoming: Struct, schema_mode: str) -> Table:
    """The table with the schema that a write leaves behind."""
    if schema_mode == "overwrite":
        if any(
            name.casefold() not in {each.casefold() for each in incoming.names} for name in table.partition_by
        ):
            message = "a partition column is missing from the new schema"
            raise Misfit(message)
        return replace(table, schema=incoming)
    if schema_mode == "merge":
        known = {name.casefold() for name in table.schema.names}
        extra = tuple(replace(each, nullable=True) for each in incoming if each.name.casefold() not in known)
        return replace(table, schema=Struct(table.schema.fields + extra)) if extra else table
    return table


def check_rules(table: Table, rows: tuple[Row, ...]) -> None:
    """Raise BrokenRule if a row breaks NOT NULL."""
    for at, each in enumerate(table.schema.fields):
        if not each.nullable and any(row[at] is None for row in rows):
            message = f"{each.name} is NOT NULL"
            raise BrokenRule(message)


def _by_name(target: Struct, incoming: Struct) -> tuple[int | None, ...]:
    places = {each.name.casefold(): at for at, each in enumerate(incoming.fields)}
    if len(places) != len(incoming):
        message = "two columns of one name"
        raise Misfit(message)
    positions: list[int | None] = []
    for each in target:
        at = places.pop(each.name.casefold(), None)
        if at is None and not each.nullable:
            message = f"{each.name} is NOT NULL and missing"
            raise BrokenRule(message)
        if at is not None:
            _same_type(each, incoming.fields[at])
        positions.append(at)
    if places:
        message = f"the table has no column {min(places)}"
        raise Misfit(message)
    return tuple(positions)


def _by_position(target: Struct, incoming: Struct) -> tuple[int | None, ...]:
    if len(target) != len(incoming):
        message = f"{len(incoming)} columns for {len(target)}"
        raise Misfit(message)
    for mine, theirs in zip(target, incoming, strict=True):
        _same_type(mine, theirs)
    return tuple(range(len(target)))


def _same_type(mine: Field, theirs: Field) -> None:
    if bare(mine.type) != bare(theirs.type):
        message = f"{mine.name} is {mine.type}, not {theirs.type}"
        raise Misfit(message)
