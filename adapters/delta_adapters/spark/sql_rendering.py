"""The vocabulary in Spark's words: expressions as SQL, moments as text, merge clauses as calls of a builder."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from delta_adapters.dialects import Inexpressible, render_sql
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_models.expressions import Expression
from delta_models.operations import MergeClause

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - said as UTC, whatever the session's zone is
SQL = SparkSqlDialect()


def sql(expression: Expression) -> str:
    """An expression as Spark's SQL."""
    return render_sql(expression, None, SQL)


def maybe_sql(expression: Expression | None) -> str | None:
    """An expression as Spark's SQL, if there is one."""
    return None if expression is None else sql(expression)


def assignments(pairs: tuple[tuple[str, Expression], ...]) -> dict[str, str]:
    """Columns and their new values, as the API takes them."""
    return {SQL.quote(name): sql(value) for name, value in pairs}


def moment(micros: int) -> str:
    """A moment as the API takes it: to the millisecond, which is what a commit's time has."""
    return (EPOCH + timedelta(microseconds=micros)).isoformat(sep=" ", timespec="milliseconds") + "Z"


def with_clause(builder: Any, clause: MergeClause) -> Any:
    """A builder of a merge with one clause more."""
    condition, values = maybe_sql(clause.condition), assignments(clause.assignments)
    match clause.when, clause.action, clause.everything:
        case "matched", "update", True:
            return builder.whenMatchedUpdateAll(condition)
        case "matched", "update", False:
            return builder.whenMatchedUpdate(condition, values)
        case "matched", "delete", _:
            return builder.whenMatchedDelete(condition)
        case "not-matched", "insert", True:
            return builder.whenNotMatchedInsertAll(condition)
        case "not-matched", "insert", False:
            return builder.whenNotMatchedInsert(condition, values)
        case "not-matched-by-source", "update", False:
            return builder.whenNotMatchedBySourceUpdate(condition, values)
        case "not-matched-by-source", "delete", _:
            return builder.whenNotMatchedBySourceDelete(condition)
    raise Inexpressible(f"a merge clause {clause.when}, {clause.action}{' *' if clause.everything else ''}")
