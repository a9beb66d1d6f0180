"""What appends and overwrites mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from delta_models.expressions import compile_expression
from delta_models.operations import Append, Overwrite
from delta_models.outcomes import Committed
from delta_models.schema import Array, DataType, Field, Map, Struct
from delta_models.table.expectation import (
    AllowedOutcome,
    Expectation,
    expect_change,
    expect_no_change,
    expect_refusal,
    expect_rewrite,
    refuse_in_append_only,
)
from delta_models.table.row_conversion import ConvertedRows, expect_write
from delta_models.table.state import Table
from delta_models.values import Row, Rows, row_keyer

Finish = Callable[[tuple[Row, ...], ConvertedRows], Expectation]


def append(table: Table, operation: Append) -> Expectation:
    """Expect the table's rows and the new ones."""
    if operation.schema_mode == "overwrite":
        return expect_refusal(table, "bad-argument", "outcome.misfit-refused")

    def finish(old: tuple[Row, ...], converted: ConvertedRows) -> Expectation:
        if not converted.rows and converted.table is table:
            return expect_no_change(table, "contents.append-nothing")
        return expect_change(converted.table.with_rows(old + converted.rows), "contents.append")

    return apply_transaction(table, operation.transaction, _expect_rows(table, operation, finish))


def overwrite(table: Table, operation: Overwrite) -> Expectation:
    """Expect the new rows in place of all rows, of those a predicate picks, or of the partitions they touch.

    If rows give the table another schema, it is free whether their columns stay NOT NULL: delta-spark takes them for
    those of a query, which may all be null.
    """
    expectation = _overwrite(table, operation)
    if operation.schema_mode == "overwrite":
        rows = Rows(Struct(tuple(map(_as_nullable, operation.rows.schema))), operation.rows.rows)
        if rows.schema != operation.rows.schema:
            as_query = _overwrite(table, replace(operation, rows=rows))
            expectation = as_query.or_else(*expectation.allowed_outcomes)
    return refuse_in_append_only(table, expectation)


def _overwrite(table: Table, operation: Overwrite) -> Expectation:
    if operation.where is not None and operation.dynamic:
        return expect_refusal(table, "bad-argument", "outcome.bad-argument-refused")

    def finish(old: tuple[Row, ...], converted: ConvertedRows) -> Expectation:
        target = converted.table
        if operation.where is not None:
            picks = compile_expression(operation.where, target.schema, target.zone)
            if any(picks(row) is not True for row in converted.rows):
                return expect_refusal(table, ("constraint", "bad-argument"), "outcome.replace-where-mismatch")
            kept = tuple(row for row in old if picks(row) is not True)
            requirement = "contents.replace-where"
        elif operation.dynamic and table.partition_by:
            partition = _partition_of(target)
            touched = {partition(row) for row in converted.rows}
            kept = tuple(row for row in old if partition(row) not in touched)
            requirement = "contents.overwrite-partitions"
        else:
            kept, requirement = (), "contents.overwrite"
        return expect_rewrite(table, target.with_rows(kept + converted.rows), requirement)

    return apply_transaction(table, operation.transaction, _expect_rows(table, operation, finish))


def _expect_rows(table: Table, operation: Append | Overwrite, finish: Finish) -> Expectation:
    """Expect the rows by the names or by the positions of their columns.

    In a write by position it is free whether the fields of structs go by their positions or by their names, if these
    are the same in another order: delta-spark 4.4.0 does the one if a value is cast, and else the other.
    """
    incoming, mode = operation.rows, operation.schema_mode
    expectation = expect_write(table, incoming, mode, by_name=operation.by_name, finish=finish)
    mine, theirs = table.schema.fields, incoming.schema.fields
    if operation.by_name or len(mine) != len(theirs) or not any(map(_is_turned, mine, theirs)):
        return expectation
    fields = (replace(column, name=wanted.name) for wanted, column in zip(mine, theirs, strict=True))
    named = Rows(Struct(tuple(fields)), incoming.rows)
    by_names = expect_write(table, named, mode, by_name=True, finish=finish)
    return expectation.or_else(*by_names.allowed_outcomes)


def _is_turned(wanted: Field, given: Field) -> bool:
    """Whether structs in a column have the fields of the table in another order, whatever their types."""
    return _names(wanted.type, in_order=False) == _names(given.type, in_order=False) and _names(
        wanted.type, in_order=True
    ) != _names(given.type, in_order=True)


def _names(data_type: DataType, *, in_order: bool) -> object:
    """The names of all fields in a type."""
    match data_type:
        case Struct(fields=fields):
            named = [(field.name.casefold(), _names(field.type, in_order=in_order)) for field in fields]
            return tuple(named) if in_order else frozenset(named)
        case Array(element=element):
            return (_names(element, in_order=in_order),)
        case Map(key=key, value=value):
            return (_names(key, in_order=in_order), _names(value, in_order=in_order))
    return None


def apply_transaction(
    table: Table, transaction: tuple[str, int] | None, expectation: Expectation
) -> Expectation:
    """Return the outcomes of a write with a transaction id: the table skips a write that it already contains."""
    if transaction is None:
        return expectation
    application, version = transaction
    written = dict(table.transactions)
    recorded = tuple(sorted({**written, application: version}.items()))
    allowed_outcomes: list[AllowedOutcome] = []
    for allowed in expectation.allowed_outcomes:
        if isinstance(allowed.outcome, Committed):
            if allowed.commits[0] == 0:
                allowed_outcomes.append(replace(allowed, commits=(0, 0)))
            allowed_outcomes.append(
                replace(allowed, commits=(1, 1), table=replace(allowed.table, transactions=recorded))
            )
        else:
            allowed_outcomes.append(allowed)
    if written.get(application, version - 1) < version:
        return Expectation(tuple(allowed_outcomes))
    repeated = tuple(
        replace(allowed, breaks="outcome.repeated-transaction-skipped") for allowed in allowed_outcomes
    )
    return expect_no_change(table, "contents.repeated-transaction", most=0).or_else(*repeated)


def _as_nullable(field: Field) -> Field:
    """A column as a query has it: it may be null, and so may all inside of it."""
    return replace(field, type=_type_as_nullable(field.type), nullable=True)


def _type_as_nullable(data_type: DataType) -> DataType:
    match data_type:
        case Struct(fields=fields):
            return Struct(tuple(map(_as_nullable, fields)))
        case Array(element=element):
            return Array(_type_as_nullable(element))
        case Map(key=key, value=value):
            return Map(_type_as_nullable(key), _type_as_nullable(value))
    return data_type


def _partition_of(table: Table) -> Callable[[Row], object]:
    positions = [table.schema.index(name) for name in table.partition_by]
    key = row_keyer(table.schema)

    def partition(row: Row) -> object:
        keyed = key(row)
        assert isinstance(keyed, tuple)  # noqa: S101 - narrows the type: a row's key is a tuple of its values' keys
        return tuple(keyed[position] for position in positions)

    return partition
