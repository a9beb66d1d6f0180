"""A table of two rows with a struct, and helpers to write operations on it."""

from __future__ import annotations

from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Expression, Literal
from delta_models.outcomes import Rejected
from delta_models.schema import (
    INTEGER,
    LONG,
    STRING,
    struct,
)  # fmt: skip
from delta_models.table import ModelHistory
from delta_models.values import Row, Rows
from delta_models.wire_names import name_of

INNER = struct(("x", LONG), ("y", STRING))


SCHEMA = struct(("id", INTEGER), ("part", STRING), ("inner", INNER))


A: Row = (1, "p", (10, "a"))


B: Row = (2, None, None)


MAPPED = (("delta.columnMapping.mode", "name"),)


WIDENING = (("delta.enableTypeWidening", "true"),)


DEFAULTS = (("delta.feature.allowColumnDefaults", "supported"),)


def model_history(
    *operations: ops.Operation, properties: ops.Properties = (), partition_by: tuple[str, ...] = ()
) -> ModelHistory:
    now = (
        ModelHistory()
        .after(ops.Create(SCHEMA, partition_by, properties))
        .after(ops.Append(Rows(SCHEMA, (A, B))))
    )
    for operation in operations:
        now = now.after(operation)
    return now


def kinds(now: ModelHistory, operation: ops.Operation) -> set[str]:
    return {
        allowed.outcome.kind if isinstance(allowed.outcome, Rejected) else name_of(allowed.outcome)
        for allowed in now.expect(operation).allowed_outcomes
    }


def positive(name: str = "id") -> Expression:
    return Compare(">", Column((name,)), Literal(INTEGER, 0))
