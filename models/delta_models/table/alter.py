"""What operations on columns mean: add, drop, rename, move, widen, set nullability and default."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from delta_models.expressions import Expression, columns_of, type_of
from delta_models.operations import (
    AddColumn,
    Assignments,
    DropColumn,
    RenameColumn,
    ReorderColumn,
    SetDefault,
    SetNullable,
    WidenColumn,
)  # fmt: skip
from delta_models.outcomes import Rejected
from delta_models.schema import (
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    TIMESTAMP_NTZ,
    Array,
    DataType,
    DecimalType,
    Field,
    Map,
    Primitive,
    Struct,
)  # fmt: skip
from delta_models.table.expectation import (
    Expectation,
    allow_refusal,
    expect_change,
    expect_no_change,
    expect_refusal,
    expect_rewrite,
)
from delta_models.table.row_conversion import BrokenRule, RowMismatch, check_rules, plain_type, rows_in_schema
from delta_models.table.state import Table
from delta_models.values import Row

REFUSALS = ("schema", "bad-argument", "unsupported-feature")
SPECIAL = frozenset(" ,;{}()\n\t=")  # in names these trouble Parquet, and delta-spark refuses them
# The least number of whole digits of a decimal type to which an integer type may be widened.
DIGITS = {BYTE: 10, SHORT: 10, INTEGER: 10, LONG: 20}
WIDER: dict[DataType, tuple[Primitive, ...]] = {
    BYTE: (SHORT, INTEGER, LONG, DOUBLE),
    SHORT: (INTEGER, LONG, DOUBLE),
    INTEGER: (LONG, DOUBLE),
    FLOAT: (DOUBLE,),
    DATE: (TIMESTAMP_NTZ,),
}

Edit = Callable[[Struct], Struct]


class _Taken(Exception):
    """The schema already has a column of the name."""


def add_column(table: Table, operation: AddColumn) -> Expectation:
    """Expect a new column that is null in every existing row.

    One that may not be null is refused. Where there are no rows, nothing is wrong with it, and it may be added. Column
    mapping is there to avoid restrictions of names, so that without it engines may restrict them, as delta-spark does.
    """

    def edit(parent: Struct) -> Struct:
        if operation.field.name.casefold() in _folded(parent.names):
            raise _Taken
        return _place_field(parent, operation.field, operation.after, first=operation.first)

    refusal = expect_refusal(table, (*REFUSALS, "constraint"), "outcome.new-column-nullable")
    if not operation.field.nullable and table.rows:
        return refusal
    try:
        added = _edit_schema(table, operation.parent, edit, "contents.add-column")
        if not _is_mapped(table) and not SPECIAL.isdisjoint(operation.field.name):
            added = allow_refusal(added, table, REFUSALS, "outcome.special-names-may-be-refused")
        return added if operation.field.nullable else refusal.or_else(*added.allowed_outcomes)
    except _Taken:
        if not operation.field.nullable:
            return refusal
        taken = (
            replace(allowed, breaks="outcome.existing-column-refused")
            for allowed in expect_no_change(table, "contents.add-column").allowed_outcomes
        )
        return expect_refusal(table, REFUSALS, "outcome.existing-column-refused").or_else(*taken)


def drop_column(table: Table, operation: DropColumn) -> Expectation:
    """Expect the table without a column and its values."""

    def edit(parent: Struct) -> Struct:
        position = parent.index(operation.path[-1])
        if len(parent) == 1:
            message = "the last column can't go"
            raise RowMismatch(message)
        return Struct(parent.fields[:position] + parent.fields[position + 1 :])

    if not _is_mapped(table):
        return expect_refusal(table, REFUSALS, "outcome.column-mapping-needed")
    if _is_used(table, operation.path, also=table.partition_by):
        return expect_refusal(table, (*REFUSALS, "constraint"), "outcome.column-in-use")
    expectation = _edit_schema(table, operation.path[:-1], edit, "contents.drop-column")
    defaults = _without_default(table.defaults, operation.path)
    return _edit_tables(expectation, lambda after: replace(after, defaults=defaults))


def rename_column(table: Table, operation: RenameColumn) -> Expectation:
    """Expect a column under another name with the same values."""
    old = operation.path[-1]

    def edit(parent: Struct) -> Struct:
        position = parent.index(old)
        if operation.name.casefold() in _folded(parent.names) - {old.casefold()}:
            message = f"there is a column {operation.name}"
            raise RowMismatch(message)
        return _with_field(parent, position, replace(parent.fields[position], name=operation.name))

    def renamed(names: Iterable[str]) -> tuple[str, ...]:
        if len(operation.path) > 1:
            return tuple(names)
        return tuple(
            operation.name if candidate.casefold() == old.casefold() else candidate for candidate in names
        )

    if not _is_mapped(table):
        return expect_refusal(table, REFUSALS, "outcome.column-mapping-needed")
    if _is_used(table, operation.path):
        return expect_refusal(table, (*REFUSALS, "constraint"), "outcome.column-in-use")
    try:
        schema = edit_struct(table.schema, operation.path[:-1], edit)
    except (KeyError, RowMismatch):
        return expect_refusal(table, REFUSALS, "outcome.unknown-column-refused")
    defaults = tuple(
        zip(
            renamed(name for name, _ in table.defaults),
            (default_value for _, default_value in table.defaults),
            strict=True,
        )
    )
    after = replace(
        table,
        schema=schema,
        partition_by=renamed(table.partition_by),
        cluster_by=renamed(table.cluster_by),
        defaults=defaults,
    )
    return expect_rewrite(table, after, "contents.rename-column")


def reorder_column(table: Table, operation: ReorderColumn) -> Expectation:
    """Expect a column in another place; every value stays with its name."""

    def edit(parent: Struct) -> Struct:
        position = parent.index(operation.path[-1])
        rest = Struct(parent.fields[:position] + parent.fields[position + 1 :])
        return _place_field(rest, parent.fields[position], operation.after, first=operation.after is None)

    return _edit_schema(table, operation.path[:-1], edit, "contents.reorder-column")


def widen_column(table: Table, operation: WidenColumn) -> Expectation:
    """Expect a column of a wider type; every value stays the same number, or the same day."""

    def edit(parent: Struct) -> Struct:
        position = parent.index(operation.path[-1])
        field = parent.fields[position]
        if field.type != operation.type and not can_widen(field.type, operation.type):
            message = f"{field.type} does not widen to {operation.type}"
            raise RowMismatch(message)
        return _with_field(parent, position, replace(field, type=operation.type))

    if table.property("delta.enableTypeWidening") != "true":
        return expect_refusal(table, REFUSALS, "outcome.type-widening-needed")
    expectation = _edit_schema(table, operation.path[:-1], edit, "contents.widen-column")
    if operation.type != TIMESTAMP_NTZ or table.supports("timestampNtz"):
        return expectation
    return allow_refusal(
        expectation, table, ("unsupported-feature", "bad-argument"), "outcome.feature-may-be-unknown"
    )


def set_nullable(table: Table, operation: SetNullable) -> Expectation:
    """Expect a column that may be null, or one that may not, which existing nulls forbid."""

    def edit(parent: Struct) -> Struct:
        position = parent.index(operation.path[-1])
        return _with_field(parent, position, replace(parent.fields[position], nullable=operation.nullable))

    expectation = _edit_schema(table, operation.path[:-1], edit, "contents.set-nullable")
    after = expectation.ordinary.table
    if operation.nullable or after.schema == table.schema:
        return expectation
    refusals = (*REFUSALS, "constraint")
    try:
        check_rules(after, after.rows)
    except BrokenRule:
        return expect_refusal(table, refusals, "outcome.broken-rule-refused")
    return allow_refusal(expectation, table, refusals, "outcome.not-null-later-may-be-refused")


def set_default(table: Table, operation: SetDefault) -> Expectation:
    """Expect a new default for future rows that do not name the column; existing rows stay."""
    if not table.supports("allowColumnDefaults"):
        return expect_refusal(table, REFUSALS, "outcome.column-defaults-needed")
    try:
        field = table.schema[operation.column]
        fits = operation.value is None or plain_type(type_of(operation.value, table.schema)) == plain_type(
            field.type
        )
    except KeyError:
        return expect_refusal(table, REFUSALS, "outcome.unknown-column-refused")
    if not fits or (operation.value is not None and columns_of(operation.value)):
        return expect_refusal(table, REFUSALS, "outcome.misfit-refused")
    defaults = _without_default(table.defaults, (operation.column,))
    if operation.value is not None:
        defaults = tuple(sorted((*defaults, (field.name, operation.value)), key=lambda default: default[0]))
    return expect_rewrite(table, replace(table, defaults=defaults), "contents.set-default")


def can_widen(old: DataType, new: DataType) -> bool:
    """Whether the protocol's section "Type Widening" lists the change of type."""
    if isinstance(new, DecimalType):
        whole = new.precision - new.scale
        if isinstance(old, DecimalType):
            return old != new and new.scale >= old.scale and whole >= old.precision - old.scale
        return isinstance(old, Primitive) and whole >= DIGITS.get(old, whole + 1)
    return new in WIDER.get(old, ())


def edit_struct(schema: Struct, path: tuple[str, ...], edit: Edit) -> Struct:
    """Return the schema with the struct at a path edited; `element`, `key` and `value` lead into arrays and maps."""
    if not path:
        return edit(schema)
    position = schema.index(path[0])
    inner = _edit_type(schema.fields[position].type, path[1:], edit)
    return _with_field(schema, position, replace(schema.fields[position], type=inner))


def _edit_type(data_type: DataType, path: tuple[str, ...], edit: Edit) -> DataType:
    match data_type, path:
        case Struct(), _:
            return edit_struct(data_type, path, edit)
        case Array(), ("element", *rest):
            return replace(data_type, element=_edit_type(data_type.element, tuple(rest), edit))
        case Map(), ("key", *rest):
            return replace(data_type, key=_edit_type(data_type.key, tuple(rest), edit))
        case Map(), ("value", *rest):
            return replace(data_type, value=_edit_type(data_type.value, tuple(rest), edit))
    message = f"{data_type} has no fields"
    raise KeyError(message)


def _edit_schema(table: Table, parent: tuple[str, ...], edit: Edit, requirement: str) -> Expectation:
    try:
        schema = edit_struct(table.schema, parent, edit)
    except (KeyError, RowMismatch):
        return expect_refusal(table, REFUSALS, "outcome.unknown-column-refused")
    if schema == table.schema:
        return expect_no_change(table, requirement)
    rows: tuple[Row, ...] = rows_in_schema(schema, table)
    return expect_change(replace(table, schema=schema, rows=rows), requirement)


def _edit_tables(expectation: Expectation, edit: Callable[[Table], Table]) -> Expectation:
    """The same outcomes, with the table edited where the operation succeeds."""
    allowed_outcomes = (
        allowed if isinstance(allowed.outcome, Rejected) else replace(allowed, table=edit(allowed.table))
        for allowed in expectation.allowed_outcomes
    )
    return Expectation(tuple(allowed_outcomes))


def _place_field(parent: Struct, new: Field, after: str | None, *, first: bool) -> Struct:
    if first:
        return Struct((new, *parent.fields))
    position = len(parent) if after is None else parent.index(after) + 1
    return Struct((*parent.fields[:position], new, *parent.fields[position:]))


def _with_field(parent: Struct, position: int, new: Field) -> Struct:
    return Struct((*parent.fields[:position], new, *parent.fields[position + 1 :]))


def _folded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}


def _is_mapped(table: Table) -> bool:
    return table.property("delta.columnMapping.mode") in {"name", "id"}


def _is_used(table: Table, path: tuple[str, ...], also: tuple[str, ...] = ()) -> bool:
    """Whether a constraint uses the column at a path, or the column is one of `also`."""
    used = {column.path[0].casefold() for _, check in table.constraints for column in columns_of(check)}
    return path[0].casefold() in used | _folded(also)


def _without_default(defaults: Assignments, path: tuple[str, ...]) -> tuple[tuple[str, Expression], ...]:
    return tuple(
        default for default in defaults if len(path) > 1 or default[0].casefold() != path[0].casefold()
    )
