"""What sets off a known deviation: predicates over the table as the model has it and the next operation.

A trigger may be wider than its deviation, never narrower: in guarded histories nothing of it may be left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from delta_models.operations import Operation, Properties
from delta_models.schema import Struct
from delta_models.values import Row


class TableLike(Protocol):
    """What a trigger may look at of the model's table."""

    @property
    def exists(self) -> bool:
        """Whether there is a table."""

    @property
    def schema(self) -> Struct:
        """Its columns."""

    @property
    def partition_by(self) -> tuple[str, ...]:
        """Its partition columns."""

    @property
    def properties(self) -> Properties:
        """Its properties."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Its rows."""


Trigger = Callable[[TableLike, Operation], bool]

TRIGGERS: Mapping[str, Trigger] = {}


def guarded(table: TableLike, operation: Operation) -> str | None:
    """The name of the first trigger that the operation would set off on the table, None if it is free of all."""
    return next((name for name, trigger in TRIGGERS.items() if trigger(table, operation)), None)
