"""What creating, replacing, cloning, converting and dropping a table mean."""

from __future__ import annotations

from dataclasses import replace

from delta_models.operations import CloneTo, ConvertFromParquet, Create, CreateAs, Drop, Replace
from delta_models.outcomes import Committed
from delta_models.table.expectation import (
    Expectation,
    allow_refusal,
    expect_change,
    expect_no_change,
    expect_refusal,
    expect_rewrite,
    refuse_losses_in_append_only,
)
from delta_models.table.row_conversion import BrokenRule, check_rules
from delta_models.table.state import NotModelled, Table
from delta_models.values import Rows


def create(table: Table, operation: Create) -> Expectation:
    """Expect a new empty table, unless the table exists."""
    if table.exists:
        if operation.if_not_exists:
            return expect_no_change(table, "contents.create-if-not-exists")
        return expect_refusal(table, "table-exists", "outcome.existing-table-refused")
    return _define(table, operation, "contents.create")


def replace_table(table: Table, operation: Replace) -> Expectation:
    """Expect an empty table with the new definition in place of the old table."""
    if not table.exists and not operation.or_create:
        return expect_refusal(table, "missing-table", "outcome.missing-table-refused")
    expectation = _define(table, operation, "contents.replace")
    if not table.exists or not isinstance(expectation.ordinary.outcome, Committed):
        return expectation
    expectation = expect_rewrite(table, expectation.ordinary.table, "contents.replace")
    return refuse_losses_in_append_only(table, expectation)


def create_as(table: Table, operation: CreateAs) -> Expectation:
    """Expect a new table with rows."""
    if table.exists and not operation.replace:
        return expect_refusal(table, "table-exists", "outcome.existing-table-refused")
    shape = Create(
        operation.rows.schema, operation.partition_by, operation.properties, table.name, managed=table.managed
    )
    expectation = _define(table, shape, "contents.create-as")
    return refuse_losses_in_append_only(table, _fill(table, expectation, operation.rows))


def convert(table: Table, operation: ConvertFromParquet) -> Expectation:
    """Expect a table with the rows of the Parquet files."""
    if table.exists:
        return allow_refusal(
            expect_no_change(table, "contents.convert-again"),
            table,
            ("table-exists",),
            "outcome.existing-table-refused",
        )
    expectation = _define(table, Create(operation.rows.schema, operation.partition_by), "contents.convert")
    return _fill(table, expectation, operation.rows)


def clone(table: Table, _: CloneTo) -> Expectation:
    """Expect no change: the clone is a table of its own."""
    return expect_change(table, "contents.clone-leaves-source", commits=(0, 0))


def _fill(table: Table, expectation: Expectation, rows: Rows) -> Expectation:
    """The same outcomes, with rows in the new table."""
    fresh = expectation.ordinary.table
    if not isinstance(expectation.ordinary.outcome, Committed):
        return expectation
    stored = fresh.stored(rows.rows)
    try:
        check_rules(fresh, stored)
    except BrokenRule:
        return expect_refusal(table, "constraint", "outcome.broken-rule-refused")
    return Expectation((replace(expectation.ordinary, table=fresh.with_rows(stored)),))


def _define(table: Table, operation: Create | Replace, requirement: str) -> Expectation:
    if not operation.schema.fields:
        message = "a table without columns"
        raise NotModelled(message)
    names = {name.casefold() for name in operation.schema.names}
    partitioning = [column.casefold() for column in operation.partition_by]
    clustering = {column.casefold() for column in operation.cluster_by}
    misfit = (
        len(names) != len(operation.schema)
        or len(set(partitioning)) != len(partitioning)
        or not set(partitioning) < names
        or not clustering <= names
        or (partitioning and clustering)
    )
    if misfit:
        return expect_refusal(table, ("schema", "bad-argument"), "outcome.misfit-refused")
    properties = tuple(sorted(operation.properties))
    fresh = Table(
        exists=True,
        schema=operation.schema,
        partition_by=operation.partition_by,
        properties=properties,
        name=operation.name if isinstance(operation, Create) else table.name,
        managed=operation.managed if isinstance(operation, Create) else table.managed,
        cluster_by=operation.cluster_by,
        transactions=table.transactions,
    )
    return expect_change(fresh, requirement)


def drop(table: Table, _: Drop) -> Expectation:
    """Expect the table gone from the catalogue; a table that is not managed still exists at its path."""
    if table.name is None:
        return expect_refusal(table, ("missing-table", "bad-argument"), "outcome.missing-table-refused")
    if table.managed:
        return expect_change(Table(), "contents.drop-managed", commits=(0, 0))
    return expect_change(replace(table, name=None), "contents.drop-external", commits=(0, 0))
