"""What deletes and updates mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from operator import itemgetter

from delta_models.casts import assignment as casts
from delta_models.expressions import compile_expression, type_of
from delta_models.functions import EvaluationError
from delta_models.operations import Assignments, Delete, Update
from delta_models.schema import DataType, Struct
from delta_models.table.expectation import (
    Expectation,
    allow_refusal,
    expect_change,
    expect_no_change,
    expect_refusal,
    expect_rewrite,
    refuse_in_append_only,
)
from delta_models.table.generated_columns import generation_filler
from delta_models.table.identity import identities_named
from delta_models.table.row_conversion import (
    IDENTITY_REFUSALS,
    BrokenRule,
    RowMismatch,
    check_rules,
    plain_type,
)
from delta_models.table.state import Table
from delta_models.values import Row, Value


def delete(table: Table, operation: Delete) -> Expectation:
    """Expect the table without the rows that the predicate picks."""
    return refuse_in_append_only(table, _delete(table, operation))


def _delete(table: Table, operation: Delete) -> Expectation:
    if operation.where is None:
        kept: tuple[Row, ...] = ()
    else:
        try:
            picks = compile_expression(operation.where, table.schema, table.zone)
        except KeyError:
            return expect_refusal(table, ("schema", "bad-argument"), "outcome.unknown-column-refused")
        kept = tuple(row for row in table.rows if picks(row) is not True)
    if len(kept) == len(table.rows):
        return expect_no_change(table, "contents.delete-nothing")
    return expect_change(
        table.with_rows(kept), "contents.delete" if operation.where is not None else "contents.delete-all"
    )


def update(table: Table, operation: Update) -> Expectation:
    """Expect new values, computed from the old row, in the rows that the predicate picks."""
    return refuse_in_append_only(table, _update(table, operation))


def _update(table: Table, operation: Update) -> Expectation:
    try:
        where = operation.where
        picks = compile_expression(where, table.schema, table.zone) if where is not None else None
        assign = assigner(operation.assignments, table, table.schema)
    except KeyError:
        return expect_refusal(table, ("schema", "bad-argument"), "outcome.unknown-column-refused")
    except RowMismatch:
        return expect_refusal(table, ("schema", "bad-argument"), "outcome.misfit-refused")
    if identities_named(table.schema, [name for name, _ in operation.assignments]):
        return expect_refusal(table, IDENTITY_REFUSALS, "outcome.identity-update-refused")
    kept: list[Row] = []
    picked: list[Row] = []
    try:
        for row in table.rows:
            if picks is None or picks(row) is True:
                picked.append(assign.assign(row, row))
            else:
                kept.append(row)
    except (casts.Overflow, EvaluationError):
        return expect_refusal(table, ("overflow", "schema", "bad-argument"), "outcome.overflow-refused")
    if not picked:
        return expect_no_change(table, "contents.update-nothing")
    fill = generation_filler(table.schema, [name for name, _ in operation.assignments], table.zone)
    try:
        new = table.stored(fill(picked) if fill else picked)
        check_rules(table, new)
    except BrokenRule:
        return expect_refusal(table, "constraint", "outcome.broken-rule-refused")
    except (casts.Overflow, EvaluationError):
        return expect_refusal(table, ("overflow", "schema", "bad-argument"), "outcome.overflow-refused")
    expectation = expect_rewrite(table, table.with_rows((*kept, *new)), "contents.update")
    if fill:
        expectation = allow_refusal(expectation, table, ("constraint",), "outcome.generated-may-be-refused")
    return (
        allow_refusal(expectation, table, ("schema",), "outcome.casts-may-be-refused")
        if assign.casts
        else expectation
    )


@dataclass(frozen=True, slots=True)
class Assigner:
    """`assign` returns a row with its new values, computed from a row of a scope.

    `casts`: some value is cast to another type.
    """

    assign: Callable[[Row, Row], Row]
    casts: bool


def assigner(
    assignments: Assignments, table: Table, scope: Struct, pairing: casts.Pairing = casts.fields_by_name
) -> Assigner:
    """Return what assigns to rows of the table the values that are computed from rows of `scope`.

    Raises KeyError for an unknown column, RowMismatch for a column that is assigned twice or cannot be cast.
    """
    schema = table.schema
    targets: list[tuple[int, Callable[[Row], Value]]] = []
    changes_type = False
    for name, expression in assignments:
        position = schema.index(name)
        source, wanted = type_of(expression, scope), schema.fields[position].type
        value = compile_expression(expression, scope, table.zone)
        if plain_type(source) != plain_type(wanted):
            plain = plain_type(source, in_order=False), plain_type(wanted, in_order=False)
            changes_type = changes_type or plain[0] != plain[1]
            value = _cast(value, source, wanted, pairing, table.zone)
        targets.append((position, value))
    if len({position for position, _ in targets}) != len(targets):
        message = "a column is assigned twice"
        raise RowMismatch(message)
    if len(targets) == len(schema):
        in_order = [value for _, value in sorted(targets, key=itemgetter(0))]
        return Assigner(lambda _, context: tuple(value(context) for value in in_order), changes_type)

    def assign(row: Row, context: Row) -> Row:
        parts = list(row)
        for position, value in targets:
            parts[position] = value(context)
        return tuple(parts)

    return Assigner(assign, changes_type)


def _cast(
    value: Callable[[Row], Value], source: DataType, wanted: DataType, pairing: casts.Pairing, zone: tzinfo
) -> Callable[[Row], Value]:
    try:
        cast = casts.assigner(source, wanted, pairing, zone)
    except casts.NotAssignable as error:
        raise RowMismatch(str(error)) from error
    return lambda row: cast(value(row))
