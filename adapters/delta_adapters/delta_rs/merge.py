"""The `Merge` operation as calls of deltalake's merge builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deltalake import CommitProperties, DeltaTable

from delta_adapters.arrow_rows import as_held, to_arrow
from delta_adapters.dialects import Dialect, render_sql
from delta_adapters.merge_clauses import builder_method
from delta_models.operations import Merge, MergeClause
from delta_models.schema import Struct, struct

SOURCE, TARGET = "source", "target"


def merge(
    operation: Merge, table: DeltaTable, schema: Struct, dialect: Dialect
) -> Callable[[CommitProperties], object]:
    """Return the call that performs the merge, with its clauses in their order."""
    joined_schema = struct((SOURCE, operation.source.schema), (TARGET, schema))

    def perform(properties: CommitProperties) -> object:
        merger: Any = table.merge(
            to_arrow(as_held(operation.source)),
            render_sql(operation.on, joined_schema, dialect),
            source_alias=SOURCE,
            target_alias=TARGET,
            merge_schema=operation.schema_evolution,
            commit_properties=properties,
        )
        for clause in operation.clauses:
            merger = _with_clause(merger, clause, joined_schema, dialect)
        return merger.execute()

    return perform


def _with_clause(merger: Any, clause: MergeClause, joined_schema: Struct, dialect: Dialect) -> Any:
    condition = None if clause.condition is None else render_sql(clause.condition, joined_schema, dialect)
    values = {
        dialect.quote(name): render_sql(value, joined_schema, dialect) for name, value in clause.assignments
    }
    method, takes_assignments = builder_method(clause)
    return getattr(merger, method)(*((values,) if takes_assignments else ()), condition)
