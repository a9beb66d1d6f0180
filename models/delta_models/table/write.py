"""What appending and overwriting mean."""

from __future__ import annotations

from collections.abc import Callable

from delta_models.expressions import compiled
from delta_models.operations import Append, Overwrite
from delta_models.outcomes import Committed, NoChange
from delta_models.table.expectation import (
    Branch,
    Expectation,
    changed,
    or_refused,
    refused,
    rewritten,
)
from delta_models.table.fit import BrokenRule, Fitted, Misfit, fit
from delta_models.table.state import NotModelled, Table
from delta_models.values import Row, Rows, row_keyer


def append(table: Table, operation: Append) -> Expectation:
    """The table's rows and the new ones."""
    if operation.transaction is not None:
        message = "transaction ids"
        raise NotModelled(message)

    def finish(old: tuple[Row, ...], fitted: Fitted) -> Expectation:
        if not fitted.rows and fitted.table is table:
            return Expectation(
                (
                    Branch(Committed(), (0, 1), table, "contents.append-nothing"),
                    Branch(NoChange(), (0, 0), table, "contents.append-nothing"),
                )
            )
        return changed(fitted.table.with_rows(old + fitted.rows), "contents.append")

    if operation.schema_mode == "overwrite":
        return refused(table, "bad-argument", "outcome.misfit-refused")
    return _write(table, operation.rows, operation.schema_mode, by_name=operation.by_name, finish=finish)


def overwrite(table: Table, operation: Overwrite) -> Expectation:
    """The new rows in place of the whole table, of the rows a predicate picks, or of the partitions they touch."""
    if operation.transaction is not None:
        message = "transaction ids"
        raise NotModelled(message)
    if table.property("delta.appendOnly") == "true":
        return refused(table, "append-only", "outcome.append-only")
    if operation.where is not None and operation.dynamic:
        return refused(table, "bad-argument", "outcome.bad-argument-refused")

    def finish(old: tuple[Row, ...], fitted: Fitted) -> Expectation:
        target = fitted.table
        if operation.where is not None:
            picks = compiled(operation.where, target.schema)
            if any(picks(row) is not True for row in fitted.rows):
                return refused(table, ("constraint", "bad-argument"), "outcome.replace-where-mismatch")
            kept = tuple(row for row in old if picks(row) is not True)
            requirement = "contents.replace-where"
        elif operation.dynamic and table.partition_by:
            partition = _partition_of(target)
            touched = {partition(row) for row in fitted.rows}
            kept = tuple(row for row in old if partition(row) not in touched)
            requirement = "contents.overwrite-partitions"
        else:
            kept, requirement = (), "contents.overwrite"
        return rewritten(table, target.with_rows(kept + fitted.rows), requirement)

    return _write(table, operation.rows, operation.schema_mode, by_name=operation.by_name, finish=finish)


def _write(
    table: Table,
    rows: Rows,
    schema_mode: str,
    *,
    by_name: bool,
    finish: Callable[[tuple[Row, ...], Fitted], Expectation],
) -> Expectation:
    try:
        fitted = fit(table, rows, schema_mode, by_name=by_name)
    except Misfit:
        return refused(table, "schema", "outcome.misfit-refused")
    except BrokenRule:
        return refused(table, "constraint", "outcome.broken-rule-refused")
    old = table.rows if fitted.table is table else _under(fitted.table, table)
    try:
        expectation = finish(old, fitted)
    except KeyError:
        return refused(table, ("schema", "bad-argument"), "outcome.unknown-column-refused")
    if fitted.lenient:
        return or_refused(expectation, table, ("schema",), "outcome.missing-columns-may-be-refused")
    return expectation


def _under(target: Table, table: Table) -> tuple[Row, ...]:
    """The table's rows under a new schema: columns that they lack are null."""
    places = {each.name.casefold(): at for at, each in enumerate(table.schema.fields)}
    sources = [places.get(each.name.casefold()) for each in target.schema]
    return tuple(tuple(None if at is None else row[at] for at in sources) for row in table.rows)


def _partition_of(table: Table) -> Callable[[Row], object]:
    positions = [table.schema.index(name) for name in table.partition_by]
    key = row_keyer(table.schema)

    def partition(row: Row) -> object:
        keyed = key(row)
        assert isinstance(keyed, tuple)  # noqa: S101 - narrows the type: a row's key is a tuple of its values' keys
        return tuple(keyed[at] for at in positions)

    return partition
