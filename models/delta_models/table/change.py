"""What deleting and updating rows means."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from delta_models.expressions import compiled, type_of
from delta_models.operations import Assignments, Delete, Update
from delta_models.schema import Struct
from delta_models.table.expectation import Expectation, changed, refused, rewritten, unchanged
from delta_models.table.fit import BrokenRule, Misfit, bare, check_rules
from delta_models.table.state import Table
from delta_models.values import Row, Value


def delete(table: Table, operation: Delete) -> Expectation:
    """The rows that the predicate picks go."""
    if table.property("delta.appendOnly") == "true":
        return refused(table, "append-only", "outcome.append-only")
    if operation.where is None:
        kept: tuple[Row, ...] = ()
    else:
        try:
            picks = compiled(operation.where, table.schema)
        except KeyError:
            return refused(table, ("schema", "bad-argument"), "outcome.unknown-column-refused")
        kept = tuple(row for row in table.rows if picks(row) is not True)
    if len(kept) == len(table.rows):
        return unchanged(table, "contents.delete-nothing")
    return changed(
        table.with_rows(kept), "contents.delete" if operation.where is not None else "contents.delete-all"
    )


def update(table: Table, operation: Update) -> Expectation:
    """The rows that the predicate picks take new values, each computed from the old row."""
    if table.property("delta.appendOnly") == "true":
        return refused(table, "append-only", "outcome.append-only")
    try:
        picks = compiled(operation.where, table.schema) if operation.where is not None else None
        assign = assigner(operation.assignments, table.schema, table.schema)
    except KeyError:
        return refused(table, ("schema", "bad-argument"), "outcome.unknown-column-refused")
    except Misfit:
        return refused(table, ("schema", "bad-argument"), "outcome.misfit-refused")
    kept: list[Row] = []
    picked: list[Row] = []
    for row in table.rows:
        if picks is None or picks(row) is True:
            picked.append(assign(row, row))
        else:
            kept.append(row)
    if not picked:
        return unchanged(table, "contents.update-nothing")
    new = table.stored(picked)
    try:
        check_rules(table, new)
    except BrokenRule:
        return refused(table, "constraint", "outcome.broken-rule-refused")
    return rewritten(table, table.with_rows((*kept, *new)), "contents.update")


def assigner(assignments: Assignments, schema: Struct, scope: Struct) -> Callable[[Row, Row], Row]:
    """A function that gives a row of `schema` its new values, computed from a row of `scope`."""
    targets: list[tuple[int, Callable[[Row], Value]]] = []
    for name, expression in assignments:
        position = schema.index(name)
        found, wanted = type_of(expression, scope), schema.fields[position].type
        if bare(found) != bare(wanted):
            message = f"{name} is {wanted}, not {found}"
            raise Misfit(message)
        targets.append((position, compiled(expression, scope)))
    if len({position for position, _ in targets}) != len(targets):
        message = "a column is assigned twice"
        raise Misfit(message)
    if not targets:
        return lambda row, _: row
    if len(targets) == len(schema):
        in_order = [value for _, value in sorted(targets, key=itemgetter(0))]
        return lambda _, context: tuple(value(context) for value in in_order)

    def assign(row: Row, context: Row) -> Row:
        parts = list(row)
        for position, value in targets:
            parts[position] = value(context)
        return tuple(parts)

    return assign
