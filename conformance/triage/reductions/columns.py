"""Fewer columns and fewer rows, and plain names: each in the schema and everywhere else that it is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from conformance.histories import History, Step
from conformance.triage.reductions.base import Candidates, of_each_operation, shorter, with_steps
from conformance.triage.references import transformed, without
from delta_models.expressions import And, Column, Expression, Or, columns_of
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    Cluster,
    ConvertFromParquet,
    Create,
    CreateAs,
    DropColumn,
    Interleave,
    Merge,
    MergeClause,
    Operation,
    Overwrite,
    Read,
    RenameColumn,
    ReorderColumn,
    Replace,
    SetDefault,
    SetNullable,
    Update,
    WidenColumn,
    WriteStream,
    ZOrder,
)
from delta_models.schema import Field, Struct
from delta_models.values import Rows

OF_A_PATH = (DropColumn, RenameColumn, ReorderColumn, WidenColumn, SetNullable)
WITH_ROWS = (Append, Overwrite, WriteStream, CreateAs, ConvertFromParquet)
SIDES = frozenset({"source", "target"})


def _fewer_rows(operation: Operation) -> Iterator[Operation]:
    if isinstance(operation, WITH_ROWS):
        for rows in shorter(operation.rows.rows):
            yield replace(operation, rows=Rows(operation.rows.schema, rows))
    if isinstance(operation, Merge):
        for rows in shorter(operation.source.rows):
            yield replace(operation, source=Rows(operation.source.schema, rows))


fewer_rows = of_each_operation(_fewer_rows)


def columns_in(history: History) -> list[str]:
    """The names of all columns that the history's tables have or had, in the order in which they appear."""
    names: dict[str, str] = {}
    for operation in _operations(history):
        for schema in _schemas(operation):
            for name in schema.names:
                names.setdefault(name.casefold(), name)
        if isinstance(operation, AddColumn) and not operation.parent:
            names.setdefault(operation.field.name.casefold(), operation.field.name)
        if isinstance(operation, RenameColumn) and len(operation.path) == 1:
            names.setdefault(operation.name.casefold(), operation.name)
    return list(names.values())


def _operations(history: History) -> Iterator[Operation]:
    for step in history.steps:
        if isinstance(step.operation, Interleave):
            yield from step.operation.operations
        yield step.operation


def _schemas(operation: Operation) -> Iterator[Struct]:
    if isinstance(operation, Create | Replace):
        yield operation.schema
    if isinstance(operation, WITH_ROWS):
        yield operation.rows.schema
    if isinstance(operation, Merge):
        yield operation.source.schema


def fewer_columns(history: History) -> Candidates:
    """The history without some of its columns: many at once, then one by one, the last first."""
    names = columns_in(history)
    for chosen in shorter(names, 1):
        gone = [name for name in names if name not in chosen]
        if len(gone) > 1 and (taken := (yield without_columns(history, gone))) is not None:
            history = taken
            break
    for name in reversed(columns_in(history)):
        history = (yield without_columns(history, [name])) or history


def without_columns(history: History, names: Sequence[str]) -> History:
    """The history without columns of these names, and without what is about them alone.

    A column that is renamed goes under both names.
    """
    gone = {name.casefold() for name in names}
    for operation in _operations(history):
        if isinstance(operation, RenameColumn) and len(operation.path) == 1 and _first(operation) in gone:
            gone.add(operation.name.casefold())
    steps: list[Step] = []
    dropped = []
    for number, step in enumerate(history.steps):
        narrowed = _without_columns(step.operation, gone)
        if narrowed is None:
            dropped.append(number)
            steps.append(step)
        else:
            steps.append(replace(step, operation=narrowed))
    return with_steps(history, without(steps, dropped) or ())


def _first(operation: Any) -> str:
    first: str = operation.path[0]
    return first.casefold()


def _without_columns(operation: Operation, gone: set[str]) -> Operation | None:  # noqa: PLR0912 - one case a kind
    """The operation without these columns; None if nothing of it is left."""
    match operation:
        case Interleave():
            parts = tuple(_without_columns(part, gone) for part in operation.operations)
            return (
                replace(operation, operations=tuple(part for part in parts if part is not None))
                if None not in parts
                else None
            )
        case Create() | Replace():
            return replace(
                operation,
                schema=_narrowed(operation.schema, gone),
                partition_by=_left(operation.partition_by, gone),
                cluster_by=_left(operation.cluster_by, gone),
            )
        case CreateAs() | ConvertFromParquet():
            return replace(
                operation,
                rows=_narrowed_rows(operation.rows, gone),
                partition_by=_left(operation.partition_by, gone),
            )
        case Append() | WriteStream():
            return replace(operation, rows=_narrowed_rows(operation.rows, gone))
        case Overwrite():
            return replace(
                operation, rows=_narrowed_rows(operation.rows, gone), where=_pruned(operation.where, gone)
            )
        case Update():
            assignments = _assigned(operation.assignments, gone)
            where = _pruned(operation.where, gone)
            return replace(operation, assignments=assignments, where=where) if assignments else None
        case Merge():
            return _merge_without(operation, gone)
        case AddColumn():
            named = operation.parent[0] if operation.parent else operation.field.name
            if named.casefold() in gone:
                return None
            after = operation.after
            return replace(operation, after=None) if after and after.casefold() in gone else operation
        case AddConstraint():
            check = _pruned(operation.check, gone)
            return replace(operation, check=check) if check is not None else None
        case SetDefault():
            return None if operation.column.casefold() in gone else operation
        case ZOrder() | Cluster():
            columns = _left(operation.columns, gone)
            return replace(operation, columns=columns) if columns or not operation.columns else None
        case Read():
            kept = None if operation.columns is None else _left(operation.columns, gone) or None
            return replace(operation, columns=kept, where=_pruned(operation.where, gone))
    if isinstance(operation, OF_A_PATH):
        return None if _first(operation) in gone else operation
    where = getattr(operation, "where", None)
    if where is not None:
        changed: Any = operation
        pruned: Operation = replace(changed, where=_pruned(where, gone))
        return pruned
    return operation


def _merge_without(merge: Merge, gone: set[str]) -> Merge | None:
    on = _pruned(merge.on, gone)
    clauses = []
    for clause in merge.clauses:
        assignments = _assigned(clause.assignments, gone)
        if assignments or clause.everything or clause.action == "delete":
            condition = _pruned(clause.condition, gone)
            clauses.append(replace(clause, assignments=assignments, condition=condition))
    if on is None or not clauses:
        return None
    return replace(merge, source=_narrowed_rows(merge.source, gone), on=on, clauses=tuple(clauses))


def _assigned(
    assignments: tuple[tuple[str, Expression], ...], gone: set[str]
) -> tuple[tuple[str, Expression], ...]:
    return tuple(
        (name, value)
        for name, value in assignments
        if name.casefold() not in gone and not _names_one(value, gone)
    )


def _narrowed(schema: Struct, gone: set[str]) -> Struct:
    return Struct(tuple(field for field in schema if field.name.casefold() not in gone))


def _narrowed_rows(rows: Rows, gone: set[str]) -> Rows:
    places = [place for place, field in enumerate(rows.schema) if field.name.casefold() not in gone]
    if len(places) == len(rows.schema):
        return rows
    return Rows(
        _narrowed(rows.schema, gone), tuple(tuple(row[place] for place in places) for row in rows.rows)
    )


def _left(names: tuple[str, ...], gone: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name.casefold() not in gone)


def _names_one(expression: Expression | None, gone: set[str]) -> bool:
    return any(top_of(column).casefold() in gone for column in columns_of(expression))


def top_of(column: Column) -> str:
    """The table's column that an expression names; in a merge it stands behind its side."""
    return column.path[1] if column.path[0] in SIDES and len(column.path) > 1 else column.path[0]


def _pruned(expression: Expression | None, gone: set[str]) -> Expression | None:
    """The expression without its parts about these columns; None if nothing is left."""
    if not _names_one(expression, gone):
        return expression
    if isinstance(expression, And | Or):
        parts = [part for part in (_pruned(operand, gone) for operand in expression.operands) if part]
        if parts:
            return parts[0] if len(parts) == 1 else replace(expression, operands=tuple(parts))
    return None


def plainer_names(history: History) -> Candidates:
    """Columns called c0, c1 and so on, in the order in which they appear: all at once, then one by one."""
    names = columns_in(history)
    wanted = {name.casefold(): f"c{number}" for number, name in enumerate(names)}
    if all(wanted[name.casefold()] == name for name in names):
        return
    taken = yield renamed(history, wanted)
    if taken is not None:
        return
    for name in names:
        if wanted[name.casefold()] != name:
            history = (yield renamed(history, {name.casefold(): wanted[name.casefold()]})) or history


def renamed(history: History, names: dict[str, str]) -> History:
    """The history with other names for the table's columns, by folded name. Fields inside structs keep theirs."""
    steps = [replace(step, operation=_renamed(step.operation, names)) for step in history.steps]
    return with_steps(history, steps)


def _renamed(operation: Operation, names: dict[str, str]) -> Operation:
    def new(name: str) -> str:
        return names.get(name.casefold(), name)

    if isinstance(operation, Interleave):
        return replace(operation, operations=tuple(_renamed(part, names) for part in operation.operations))
    changes: dict[str, Any] = {}
    for key in ("partition_by", "cluster_by", "columns"):
        part = getattr(operation, key, None)
        if part is not None:
            changes[key] = tuple(map(new, part))
    path = getattr(operation, "path", None)
    if path:
        changes["path"] = (new(path[0]), *path[1:])
    match operation:
        case Create() | Replace():
            changes["schema"] = _renamed_schema(operation.schema, new)
        case Append() | Overwrite() | WriteStream() | CreateAs() | ConvertFromParquet():
            changes["rows"] = Rows(_renamed_schema(operation.rows.schema, new), operation.rows.rows)
        case Update():
            changes["assignments"] = tuple((new(name), value) for name, value in operation.assignments)
        case Merge():
            changes["source"] = Rows(_renamed_schema(operation.source.schema, new), operation.source.rows)
            changes["clauses"] = tuple(_renamed_clause(clause, new) for clause in operation.clauses)
        case AddColumn():
            changes |= _renamed_addition(operation, new)
        case RenameColumn() if len(operation.path) == 1:
            changes["name"] = new(operation.name)
        case ReorderColumn() if len(operation.path) == 1 and operation.after is not None:
            changes["after"] = new(operation.after)
        case SetDefault():
            changes["column"] = new(operation.column)
    changed: Any = operation
    renamed_operation: Operation = transformed(
        replace(changed, **changes), lambda value: _renamed_column(value, new)
    )
    return renamed_operation


def _renamed_addition(operation: AddColumn, new: Callable[[str], str]) -> dict[str, Any]:
    if operation.parent:
        return {"parent": (new(operation.parent[0]), *operation.parent[1:])}
    field = replace(operation.field, name=new(operation.field.name))
    return {"field": field, "after": None if operation.after is None else new(operation.after)}


def _renamed_clause(clause: MergeClause, new: Callable[[str], str]) -> MergeClause:
    return replace(clause, assignments=tuple((new(name), value) for name, value in clause.assignments))


def _renamed_schema(schema: Struct, new: Callable[[str], str]) -> Struct:
    return Struct(tuple(replace(field, name=new(field.name)) for field in schema))


def _renamed_column(value: Any, new: Callable[[str], str]) -> Any:
    if not isinstance(value, Column):
        return value
    if value.path[0] in SIDES and len(value.path) > 1:
        return Column((value.path[0], new(value.path[1]), *value.path[2:]))
    return Column((new(value.path[0]), *value.path[1:]))


def fields_of(history: History) -> list[Field]:
    """The fields of all columns that the history's tables have, the first of each name."""
    fields: dict[str, Field] = {}
    for operation in _operations(history):
        for schema in _schemas(operation):
            for field in schema:
                fields.setdefault(field.name.casefold(), field)
    return list(fields.values())
