"""Engines with a planted fault, for the benchmark `findings`. Hosts load them by their path."""

from __future__ import annotations

from typing import Any

from delta_adapters.delta_spark import DeltaSpark
from delta_adapters.pyspark_engine import PysparkEngine
from delta_models.expressions import IsNull
from delta_models.operations import Delete, Operation
from delta_models.outcomes import NoChange, Outcome


def is_hit(operation: Operation) -> bool:
    """Whether the fault concerns an operation: a delete that asks for nulls."""
    return isinstance(operation, Delete) and _asks_for_nulls(operation.where)


def _asks_for_nulls(expression: Any) -> bool:
    if isinstance(expression, IsNull):
        return True
    parts = (getattr(expression, name, ()) for name in ("operands", "arguments", "options"))
    inner = [part for group in parts for part in group]
    inner += [getattr(expression, name, None) for name in ("operand", "left", "right", "low", "high")]
    return any(_asks_for_nulls(part) for part in inner if part is not None)


class SparkKeepsNulls(DeltaSpark):
    """delta-spark, but a delete that asks for nulls deletes nothing."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        """Delete nothing where nulls are asked for."""
        return NoChange() if is_hit(operation) else super().execute(operation, tag)


class PysparkKeepsNulls(PysparkEngine):
    """The in-house engine with the same fault."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        """Delete nothing where nulls are asked for."""
        return NoChange() if is_hit(operation) else super().execute(operation, tag)
