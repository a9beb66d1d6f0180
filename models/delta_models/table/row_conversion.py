"""Convert rows to the schema of a table, or say why they do not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from delta_models.casts.assignment import (
    NotAssignable,
    Overflow,
    Pairing,
    assigner,
    fields_by_name_or_null,
    fields_by_position,
)
from delta_models.expressions import columns_of, compile_expression
from delta_models.functions import EvaluationError
from delta_models.schema import Array, DataType, Field, Map, Struct
from delta_models.sql.errors import NoSuchColumn
from delta_models.table.expectation import Expectation, allow_refusal, expect_refusal
from delta_models.table.generated_columns import (
    find_broken_generation,
    generated_columns,
    generation_filler,
    metadata_default,
    metadata_rules,
)
from delta_models.table.identity import UNKNOWN, identities, identities_named
from delta_models.table.second_reasons import breaks_rule_too
from delta_models.table.state import NotModelled, Table
from delta_models.values import Row, Rows, Value

SCHEMA_MODES = ("none", "merge", "overwrite")
IDENTITY_REFUSALS = ("bad-argument", "schema", "constraint")
LIBERTIES = {"missing": "outcome.missing-columns-may-be-refused", "cast": "outcome.casts-may-be-refused"}


class RowMismatch(ValueError):
    """The columns or types of the rows do not fit, so the write must be refused."""


class IdentityValueGiven(RowMismatch):
    """The rows give a value to a column that is always generated, so the write must be refused."""


class BrokenRule(ValueError):
    """A row breaks NOT NULL or a constraint, so the write must be refused."""


@dataclass(frozen=True, slots=True)
class ConvertedRows:
    """Rows in the schema of `table`, which is the schema after the write.

    `liberties` are keys of LIBERTIES: the reasons for which an engine may also refuse the write.
    """

    table: Table
    rows: tuple[Row, ...]
    liberties: tuple[str, ...] = ()


def expect_write(
    table: Table,
    incoming: Rows,
    schema_mode: str,
    *,
    by_name: bool,
    finish: Callable[[tuple[Row, ...], ConvertedRows], Expectation],
) -> Expectation:
    """Return the outcomes of a write.

    `finish` gives them if the incoming rows fit. It receives the old rows in the new schema, and the converted rows.
    """
    if schema_mode == "overwrite" and _takes_column_of_rule(table, incoming.schema):
        if not incoming.rows:
            message = "an overwrite without rows that takes away a column which a rule names"
            raise NotModelled(message)
        refusals = ("schema", "bad-argument", "unsupported-feature", "constraint")
        return expect_refusal(table, refusals, "outcome.column-in-use")

    def second_reason() -> tuple[str, ...]:
        broken = schema_mode != "overwrite" and breaks_rule_too(table, incoming, by_name=by_name)
        return ("constraint",) if broken else ()

    try:
        converted = convert_rows(table, incoming, schema_mode, by_name=by_name)
    except (Overflow, EvaluationError):
        kinds = ("overflow", "schema", "bad-argument", *second_reason())
        return expect_refusal(table, kinds, "outcome.overflow-refused")
    except IdentityValueGiven:
        return expect_refusal(table, IDENTITY_REFUSALS, "outcome.identity-given-refused")
    except RowMismatch:
        return expect_refusal(table, ("schema", *second_reason()), "outcome.misfit-refused")
    except BrokenRule:
        known = {name.casefold() for name in incoming.schema.names}
        lacking = by_name and any(field.name.casefold() not in known for field in table.schema)
        filled = any(
            _forbidden_inside(field.type) for field in table.schema if isinstance(field.type, Array | Map)
        )
        kinds = ("constraint", "schema") if lacking or filled else ("constraint",)
        return expect_refusal(table, kinds, "outcome.broken-rule-refused")
    old = (
        table.rows
        if converted.table.schema is table.schema
        else rows_in_schema(converted.table.schema, table)
    )
    try:
        expectation = finish(old, converted)
    except KeyError:
        return expect_refusal(table, ("schema", "bad-argument"), "outcome.unknown-column-refused")
    if "missing" in converted.liberties and generated_columns(table.schema):
        expectation = allow_refusal(expectation, table, ("constraint",), "outcome.generated-may-be-refused")
    for liberty in converted.liberties:
        expectation = allow_refusal(expectation, table, ("schema",), LIBERTIES[liberty])
    return expectation


def convert_rows(table: Table, incoming: Rows, schema_mode: str, *, by_name: bool) -> ConvertedRows:
    """Return the incoming rows as rows of the table. Raises RowMismatch, BrokenRule or Overflow."""
    if schema_mode not in SCHEMA_MODES:
        message = f"schema mode {schema_mode!r}"
        raise NotModelled(message)
    target = evolve_table(table, incoming.schema, schema_mode)
    sources = (
        _by_name(target.schema, incoming.schema) if by_name else _by_position(target.schema, incoming.schema)
    )
    given = incoming.schema.names if by_name else target.schema.names
    if any(not column.explicit for column in identities_named(target.schema, given)):
        message = "a column is always generated as identity"
        raise IdentityValueGiven(message)
    pairing = fields_by_name_or_null if by_name else fields_by_position
    casts = _casts(target, incoming.schema, sources, pairing)
    if casts is None and sources == tuple(range(len(incoming.schema))):
        rows = incoming.rows
    else:
        values = [_value_of(target, position, source, casts) for position, source in enumerate(sources)]
        rows = tuple(tuple(value(row) for value in values) for row in incoming.rows)
    fill = generation_filler(target.schema, given, target.zone)
    if fill is not None:
        rows = fill(rows)
    rows = target.stored(rows)
    check_rules(target, rows)
    generated = {identity.position for identity in identities(target.schema)}
    lacking = any(source is None and position not in generated for position, source in enumerate(sources))
    paired = [
        (mine.type, incoming.schema.fields[source].type)
        for mine, source in zip(target.schema, sources, strict=True)
        if source is not None
    ]
    lacking = lacking or (by_name and any(_lacks_fields(mine, theirs) for mine, theirs in paired))
    missing = ("missing",) if lacking and schema_mode == "none" else ()
    casting = any(
        plain_type(mine, in_order=not by_name) != plain_type(theirs, in_order=not by_name)
        for mine, theirs in paired
    )
    return ConvertedRows(target, rows, missing + (("cast",) if casting else ()))


def plain_type(data_type: DataType, *, in_order: bool = True) -> DataType:
    """Return a type without nullability and field metadata; values fit without a cast if these types agree.

    The order of a struct's fields counts if `in_order`.
    """
    match data_type:
        case Struct(fields=fields):
            plain = [
                Field(field.name.casefold(), plain_type(field.type, in_order=in_order)) for field in fields
            ]
            return Struct(tuple(plain if in_order else sorted(plain, key=lambda field: field.name)))
        case Array(element=element):
            return Array(plain_type(element, in_order=in_order))
        case Map(key=key, value=value):
            return Map(plain_type(key, in_order=in_order), plain_type(value, in_order=in_order))
    return data_type


def _lacks_fields(wanted: DataType, given: DataType) -> bool:
    """Whether a struct, at any depth, has fields that the given one lacks."""
    match wanted, given:
        case Struct(), Struct():
            inside = {field.name.casefold(): field.type for field in given}
            return any(
                field.name.casefold() not in inside
                or _lacks_fields(field.type, inside[field.name.casefold()])
                for field in wanted
            )
        case Array(), Array():
            return _lacks_fields(wanted.element, given.element)
        case Map(), Map():
            return _lacks_fields(wanted.key, given.key) or _lacks_fields(wanted.value, given.value)
    return False


def evolve_table(table: Table, incoming: Struct, schema_mode: str) -> Table:
    """Return the table with the schema that it has after a write. Raises RowMismatch."""
    if schema_mode == "overwrite":
        known = {candidate.casefold() for candidate in incoming.names}
        if any(name.casefold() not in known for name in table.partition_by):
            message = "a partition column is missing from the new schema"
            raise RowMismatch(message)
        return replace(table, schema=incoming)
    if schema_mode == "merge":
        merged = merge_schemas(table.schema, incoming)
        return table if merged == table.schema else replace(table, schema=merged)
    return table


def merge_schemas(mine: Struct, theirs: Struct) -> Struct:
    """Return the columns of one schema, then the other's additional ones as nullable; likewise inside structs."""
    places = {field.name.casefold(): place for place, field in enumerate(mine.fields)}
    fields = list(mine.fields)
    for their in theirs:
        place = places.get(their.name.casefold())
        if place is None:
            fields.append(replace(their, nullable=True))
        else:
            fields[place] = replace(fields[place], type=_merge_types(fields[place].type, their.type))
    return Struct(tuple(fields))


def _merge_types(mine: DataType, theirs: DataType) -> DataType:
    match mine, theirs:
        case Struct(), Struct():
            return merge_schemas(mine, theirs)
        case Array(), Array():
            return replace(mine, element=_merge_types(mine.element, theirs.element))
        case Map(), Map():
            return replace(
                mine, key=_merge_types(mine.key, theirs.key), value=_merge_types(mine.value, theirs.value)
            )
    return mine


def rows_in_schema(schema: Struct, table: Table) -> tuple[Row, ...]:
    """Return the table's rows in another schema: new fields are null, missing ones are dropped."""
    convert = value_converter(table.schema, schema)
    return tuple(map(convert, table.rows))


def value_converter(old: DataType, new: DataType) -> Callable[[Value], Value]:
    """Return the function that converts values of a type to a later form of it, by the names of fields."""
    match old, new:
        case Struct(), Struct():
            places = {field.name.casefold(): place for place, field in enumerate(old.fields)}
            parts = [(places.get(later.name.casefold()), later.type) for later in new]
            casts = [
                None if place is None else value_converter(old.fields[place].type, kind)
                for place, kind in parts
            ]

            def convert(value: Value) -> Value:
                if value is None:
                    return None
                return tuple(
                    None if place is None or cast is None else cast(value[place])
                    for (place, _), cast in zip(parts, casts, strict=True)
                )

            return convert
        case Array(), Array():
            element = value_converter(old.element, new.element)
            return lambda value: None if value is None else tuple(map(element, value))
        case Map(), Map():
            key, part = value_converter(old.key, new.key), value_converter(old.value, new.value)
            return lambda value: (
                None if value is None else tuple((key(name), part(content)) for name, content in value)
            )
    return (lambda value: value) if old == new else assigner(old, new)


def check_rules(table: Table, rows: Iterable[Row]) -> None:
    """Raise BrokenRule if a row breaks NOT NULL at any depth, a constraint, or a generation expression."""
    rows = tuple(rows)
    if name := find_broken_generation(table.schema, rows, table.zone):
        message = f"{name} is not what it is generated from"
        raise BrokenRule(message)
    if has_forbidden_null := _forbidden_null(table.schema):
        for row in rows:
            if name := has_forbidden_null(row):
                message = f"{name} is NOT NULL"
                raise BrokenRule(message)
    rules = metadata_rules(table.schema, table.properties, table.zone)
    for name, check in (*table.constraints, *rules):
        holds = compile_expression(check, table.schema, table.zone)
        if any(holds(row) is not True for row in rows):
            message = f"a row breaks {name}"
            raise BrokenRule(message)


def _takes_column_of_rule(table: Table, schema: Struct) -> bool:
    """Whether a constraint, an invariant or a generated column names a column that a new schema has not."""
    known = {name.casefold() for name in schema.names}
    checks = [check for _, check in table.constraints]
    try:
        checks += [check for _, check in metadata_rules(schema, table.properties, table.zone)]
        checks += [expression for _, expression in generated_columns(schema, table.zone)]
    except NoSuchColumn:
        return True
    return any(column.path[0].casefold() not in known for check in checks for column in columns_of(check))


def _forbidden_inside(data_type: DataType) -> Callable[[Value], str | None] | None:
    """`_forbidden_null` for the parts of a non-null value of any type."""
    match data_type:
        case Struct():
            return _forbidden_null(data_type)
        case Array(element=element):
            return _forbidden_among("element", element, nulls=data_type.contains_null)
        case Map(key=key, value=value):
            keys = _forbidden_among("key", key, nulls=True)
            values = _forbidden_among("value", value, nulls=data_type.value_contains_null)
            if keys is None and values is None:
                return None
            return lambda pairs: (
                (keys(part for part, _ in pairs) if keys else None)
                or (values(part for _, part in pairs) if values else None)
            )
    return None


def _forbidden_among(
    name: str, data_type: DataType, *, nulls: bool
) -> Callable[[Iterable[Value]], str | None] | None:
    inner = _forbidden_inside(data_type)
    if nulls and inner is None:
        return None

    def find(values: Iterable[Value]) -> str | None:
        for value in values:
            if value is None:
                if not nulls:
                    return name
            elif inner is not None and (inner_name := inner(value)):
                return inner_name
        return None

    return find


def _forbidden_null(schema: Struct) -> Callable[[Value], str | None] | None:
    """A function that returns the name of a null field that is NOT NULL; None if no field is NOT NULL."""
    watched: list[tuple[int, Field, Callable[[Value], str | None] | None]] = []
    for position, field in enumerate(schema.fields):
        inner = _forbidden_inside(field.type)
        if not field.nullable or inner is not None:
            watched.append((position, field, inner))
    if not watched:
        return None

    def find(value: Value) -> str | None:
        for position, column, inner in watched:
            part = value[position]
            if part is None:
                if not column.nullable:
                    return column.name
            elif inner is not None and (name := inner(part)):
                return f"{column.name}.{name}"
        return None

    return find


def _by_name(target: Struct, incoming: Struct) -> tuple[int | None, ...]:
    places = {field.name.casefold(): position for position, field in enumerate(incoming.fields)}
    if len(places) != len(incoming):
        message = "two columns of one name"
        raise RowMismatch(message)
    sources = tuple(places.pop(column.name.casefold(), None) for column in target)
    if places:
        message = f"the table has no column {min(places)}"
        raise RowMismatch(message)
    return sources


def _by_position(target: Struct, incoming: Struct) -> tuple[int | None, ...]:
    if len(target) != len(incoming):
        message = f"{len(incoming)} columns for {len(target)}"
        raise RowMismatch(message)
    return tuple(range(len(target)))


def _casts(
    target: Table, incoming: Struct, sources: tuple[int | None, ...], pairing: Pairing
) -> list[Callable[[Value], Value] | None] | None:
    """A cast for each column that needs one; None if no column needs one."""
    casts: list[Callable[[Value], Value] | None] = []
    for mine, source in zip(target.schema, sources, strict=True):
        theirs = None if source is None else incoming.fields[source]
        if theirs is None or plain_type(theirs.type) == plain_type(mine.type):
            casts.append(None)
            continue
        try:
            casts.append(assigner(theirs.type, mine.type, pairing, target.zone))
        except NotAssignable as error:
            message = f"{mine.name}: {error}"
            raise RowMismatch(message) from error
    return casts if any(casts) else None


def _value_of(
    target: Table, position: int, source: int | None, casts: list[Callable[[Value], Value] | None] | None
) -> Callable[[Row], Value]:
    if source is None:
        return default_of(target, target.schema.fields[position].name)
    cast = casts[position] if casts else None
    if cast is None:
        return lambda row: row[source]
    return lambda row: cast(row[source])


def default_of(table: Table, name: str) -> Callable[[Row], Value]:
    """Return the value of a column in a row that does not name it: its default, a generated value, or null."""
    if identities_named(table.schema, (name,)):
        return lambda _: UNKNOWN
    expression = dict(table.defaults).get(name)
    if expression is None:
        value = metadata_default(table.schema[name], table.schema, table.zone)
        return lambda _: value
    constant = compile_expression(expression, table.schema, table.zone)
    blank = (None,) * len(table.schema)
    return lambda _: constant(blank)
