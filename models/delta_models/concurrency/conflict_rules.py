"""Decide which pairs of operations may conflict, by Delta Lake's documentation of concurrency control.

A table is Serializable unless its property says otherwise. The rules of WriteSerializable are unconfirmed: delta-spark
refuses to set that level, so no implementation could be tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from delta_models.concurrency.serializability import COMPACTS, PASSES_BY
from delta_models.expressions import And, Column, Compare, Expression, Literal
from delta_models.operations import (
    Append,
    Delete,
    Merge,
    Operation,
    Overwrite,
    Restore,
    SetProperties,
    Update,
)
from delta_models.table.history_model import ModelHistory
from delta_models.table.state import Table

CAN, CANNOT = "can conflict", "cannot conflict"
SERIALIZABLE, WRITE_SERIALIZABLE = "Serializable", "WriteSerializable"
UNCONFIRMED = frozenset({WRITE_SERIALIZABLE})
SAME, ANY, APART = "same", "table", "apart"
REWRITES = (Update, Delete, Merge, Overwrite, Restore)


def isolation_of(table: Table) -> str:
    """Return the isolation level that a table asks of its writers."""
    return table.property("delta.isolationLevel") or SERIALIZABLE


def documented_conflict(
    first: Operation, second: Operation, overlap: str, isolation: str = SERIALIZABLE
) -> str:
    """Return CAN if two operations may conflict by the documentation, else CANNOT.

    `overlap` is "apart" if both operations name their partitions, and have none in common. A rewrite may conflict with
    an earlier append only under Serializable, because the append could have come after it.
    """
    pair = (first, second)
    if any(isinstance(operation, PASSES_BY) for operation in pair) or overlap == APART:
        return CANNOT
    if any(isinstance(operation, Append) for operation in pair):
        other = second if isinstance(first, Append) else first
        if isinstance(other, (Append, *COMPACTS)):
            return CANNOT
        if isolation == WRITE_SERIALIZABLE and isinstance(other, REWRITES):
            return CANNOT
    return CAN


def overlap_of(model_history: ModelHistory, operations: Sequence[Operation]) -> str:
    """Return how operations overlap: SAME rows, partitions that they name and that are APART, or ANY part."""
    touched = [_touched_rows(model_history, operation) for operation in operations]
    if any(one & other for index, one in enumerate(touched) for other in touched[index + 1 :]):
        return SAME
    if not model_history.table.partition_by:
        return ANY
    places = [_named_partitions(model_history.table, operation) for operation in operations]
    named = [place for place in places if place is not None]
    apart = not any(one & other for index, one in enumerate(named) for other in named[index + 1 :])
    return APART if len(named) == len(places) and apart else ANY


def _touched_rows(model_history: ModelHistory, operation: Operation) -> set[object]:
    """The rows that an operation removes, or may move to other files."""
    if isinstance(operation, (*PASSES_BY, SetProperties)):
        return set()
    if isinstance(operation, COMPACTS):
        return set(model_history.table.bag)
    return set(model_history.table.bag - model_history.after(operation).table.bag)


def _named_partitions(table: Table, operation: Operation) -> frozenset[object] | None:
    """The partitions that an operation names, by the value of the first partition column; None if it names none."""
    column = table.partition_by[0]
    match operation:
        case Append(rows=rows, by_name=by_name):
            names = (rows.schema if by_name else table.schema).names
            places = [place for place, name in enumerate(names) if name.casefold() == column.casefold()]
            return frozenset(row[places[0]] for row in rows.rows) if places else None
        case Delete(where=where):
            return _partition_named(where, column)
        case Update(where=where, assignments=assignments):
            named, assigned = _partition_named(where, column), dict(assignments)
            if named is None or column not in assigned:
                return named
            return named | {assigned[column].value} if isinstance(assigned[column], Literal) else None  # type: ignore[union-attr]
    return None


def _partition_named(where: Expression | None, column: str) -> frozenset[object] | None:
    match where:
        case Compare(op="=", left=Column(path=(name,)), right=Literal(value=value)) if name == column:
            return frozenset({value})
        case And(operands=operands):
            return next(filter(None, (_partition_named(operand, column) for operand in operands)), None)
    return None


LEVELS: Mapping[str, str] = {
    SERIALIZABLE: "The versions, one after another, are those of the writers one by one.",
    WRITE_SERIALIZABLE: "Some order of the writers explains the rows; it need not be that of the versions.",
}
