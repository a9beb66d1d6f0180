"""`Merge` on deltalake's builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deltalake import CommitProperties, DeltaTable

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.dialects import Dialect, render_sql
from delta_models.operations import Merge, MergeClause
from delta_models.schema import Struct, struct

SOURCE, TARGET = "source", "target"


def merge(
    operation: Merge, table: DeltaTable, schema: Struct, dialect: Dialect
) -> Callable[[CommitProperties], object]:
    """The merge, ready to be executed; clauses are added in their order."""
    both = struct((SOURCE, operation.source.schema), (TARGET, schema))

    def act(properties: CommitProperties) -> object:
        merger: Any = table.merge(
            to_arrow(operation.source),
            render_sql(operation.on, both, dialect),
            source_alias=SOURCE,
            target_alias=TARGET,
            merge_schema=operation.schema_evolution,
            commit_properties=properties,
        )
        for clause in operation.clauses:
            merger = _add(merger, clause, both, dialect)
        return merger.execute()

    return act


def _add(merger: Any, clause: MergeClause, both: Struct, dialect: Dialect) -> Any:
    condition = None if clause.condition is None else render_sql(clause.condition, both, dialect)
    values = {dialect.quote(name): render_sql(value, both, dialect) for name, value in clause.assignments}
    match clause.when, clause.action, clause.everything:
        case "matched", "update", True:
            return merger.when_matched_update_all(condition)
        case "matched", "update", False:
            return merger.when_matched_update(values, condition)
        case "matched", "delete", _:
            return merger.when_matched_delete(condition)
        case "not-matched", "insert", True:
            return merger.when_not_matched_insert_all(condition)
        case "not-matched", "insert", False:
            return merger.when_not_matched_insert(values, condition)
        case "not-matched-by-source", "update", False:
            return merger.when_not_matched_by_source_update(values, condition)
        case "not-matched-by-source", "delete", _:
            return merger.when_not_matched_by_source_delete(condition)
    raise ValueError(f"no merge has the clause {clause.when} {clause.action}")
