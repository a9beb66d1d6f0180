"""A table of three rows, and helpers to write operations on it."""

from __future__ import annotations

from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Expression, Literal
from delta_models.outcomes import Rejected
from delta_models.schema import LONG, STRING, DataType, struct
from delta_models.table import ModelHistory
from delta_models.values import Row, Rows
from delta_models.wire_names import name_of

SCHEMA = struct(("id", LONG), ("name", STRING), ("part", STRING))


def col(*path: str) -> Column:
    return Column(path)


def lit(data_type: DataType, value: object) -> Literal:
    return Literal(data_type, value)


def equals(name: str, value: object, data_type: DataType = LONG) -> Expression:
    return Compare("=", col(name), lit(data_type, value))


def rows(*values: Row) -> Rows:
    return Rows(SCHEMA, values)


def model_history(*operations: ops.Operation, partition_by: tuple[str, ...] = ()) -> ModelHistory:
    now = ModelHistory().after(ops.Create(SCHEMA, partition_by))
    for operation in operations:
        now = now.after(operation)
    return now


def kinds(now: ModelHistory, operation: ops.Operation) -> set[str]:
    return {
        allowed.outcome.kind if isinstance(allowed.outcome, Rejected) else name_of(allowed.outcome)
        for allowed in now.expect(operation).allowed_outcomes
    }


A, B, C = (1, "a", "x"), (2, "b", "y"), (None, None, None)


THREE = ops.Append(rows(A, B, C))


def bag_of(now: ModelHistory) -> list[Row]:
    return sorted(now.table.rows, key=repr)


def bagged(*values: Row) -> list[Row]:
    return sorted(values, key=repr)


def equals_source(name: str, value: object, data_type: DataType = STRING) -> Expression:
    return Compare("=", col("source", name), lit(data_type, value))


def equals_target(name: str, value: object, data_type: DataType = STRING) -> Expression:
    return Compare("=", col("target", name), lit(data_type, value))
