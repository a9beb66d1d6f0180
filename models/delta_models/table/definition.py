"""What creating and dropping a table mean."""

from __future__ import annotations

from dataclasses import replace

from delta_models.operations import Create, Drop
from delta_models.table.expectation import Expectation, changed, refused, unchanged
from delta_models.table.state import NotModelled, Table


def create(table: Table, operation: Create) -> Expectation:
    """A new empty table, unless there is one."""
    if table.exists:
        if operation.if_not_exists:
            return unchanged(table, "contents.create-if-not-exists")
        return refused(table, "table-exists", "outcome.existing-table-refused")
    if not operation.schema.fields:
        message = "a table without columns"
        raise NotModelled(message)
    names = {each.casefold() for each in operation.schema.names}
    partitioning = {each.casefold() for each in operation.partition_by}
    if len(names) != len(operation.schema) or not partitioning < names:
        return refused(table, ("schema", "bad-argument"), "outcome.misfit-refused")
    fresh = Table(
        exists=True,
        schema=operation.schema,
        partition_by=operation.partition_by,
        properties=tuple(sorted(operation.properties)),
        name=operation.name,
        managed=operation.managed,
    )
    return changed(fresh, "contents.create")


def drop(table: Table, _: Drop) -> Expectation:
    """The catalogue forgets the table; one that it manages is gone, any other still stands at its path."""
    if table.name is None:
        return refused(table, ("missing-table", "bad-argument"), "outcome.missing-table-refused")
    if table.managed:
        return changed(Table(), "contents.drop-managed", commits=(0, 0))
    return changed(replace(table, name=None), "contents.drop-external", commits=(0, 0))
