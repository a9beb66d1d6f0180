"""Render the vocabulary for Spark: expressions as SQL, moments as text, merge clauses as calls of a builder."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from delta_adapters.dialects import render_sql
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_adapters.merge_clauses import builder_method
from delta_models.expressions import Expression
from delta_models.operations import MergeClause

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the text states UTC, whatever the session's zone is
SQL = SparkSqlDialect()


def sql(expression: Expression) -> str:
    """Return an expression as Spark's SQL."""
    return render_sql(expression, None, SQL)


def maybe_sql(expression: Expression | None) -> str | None:
    """Return an expression as Spark's SQL; None without an expression."""
    return None if expression is None else sql(expression)


def assignments(pairs: tuple[tuple[str, Expression], ...]) -> dict[str, str]:
    """Return columns and their new values, as the API takes them."""
    return {SQL.quote(name): sql(value) for name, value in pairs}


def moment(micros: int) -> str:
    """Return a moment as the API takes it: to the millisecond, as exact as the time of a commit."""
    return (EPOCH + timedelta(microseconds=micros)).isoformat(sep=" ", timespec="milliseconds") + "Z"


def with_clause(builder: Any, clause: MergeClause) -> Any:
    """Return a builder of a merge with one more clause."""
    method, takes_assignments = builder_method(clause)
    add = getattr(builder, re.sub(r"_(\w)", lambda letter: letter[1].upper(), method))
    values = (assignments(clause.assignments),) if takes_assignments else ()
    return add(maybe_sql(clause.condition), *values)
