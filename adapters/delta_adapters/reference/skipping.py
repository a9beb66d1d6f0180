"""Skip files that a filter need not read, by partition values and statistics.

Only comparisons of a column with a literal skip files; in doubt a file is read. A predicate picks a row only if it is
true, so unknown counts as false here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Any

from delta_models.expressions import (
    And,
    Between,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Or,
)
from delta_models.log import Add, Snapshot
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.partitions import parse_date, parse_partition_value
from delta_models.schema import DataType, Primitive, Struct
from delta_models.values import Value, order_key

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_SKIPPABLE = ("byte", "short", "integer", "long", "string", "date")


def may_match(predicate: Expression | None, snapshot: Snapshot, add: Add, zone: tzinfo = UTC) -> bool:
    """Whether a file may hold a row that the predicate picks."""
    if predicate is None:
        return True
    try:
        stats = add.statistics or {}
    except ValueError:
        stats = {}
    return _may(predicate, _Bounds(snapshot.schema, snapshot.partition_by, add, stats, zone))


class _Bounds:
    """The known bounds of the values of a column in one file."""

    def __init__(
        self, schema: Struct, partition_by: tuple[str, ...], add: Add, stats: Mapping[str, Any], zone: tzinfo
    ) -> None:
        self.schema = schema
        self.partition_by = partition_by
        self.add = add
        self.stats = stats
        self.zone = zone

    def of(self, column: Column) -> tuple[DataType, Value, Value] | None:
        """Return the type of a column and the least and the greatest value that it can have; None if unknown."""
        if len(column.path) != 1:
            return None
        field = self.schema[column.name]
        if field.name in self.partition_by:
            try:
                value = parse_partition_value(
                    field.type, self.add.partition_values.get(physical_name(field)), self.zone
                )
            except ValueError:
                return None
            return field.type, value, value
        if not isinstance(field.type, Primitive) or field.type.name not in _SKIPPABLE:
            return None
        low, high = (
            (self.stats.get(part) or {}).get(physical_name(field)) for part in ("minValues", "maxValues")
        )
        if low is None or high is None:
            return None
        if field.type.name == "date":
            try:
                return field.type, parse_date(low), parse_date(high)
            except ValueError:
                return None
        return field.type, low, high

    def nulls(self, column: Column) -> int | None:
        """Return how many nulls the column has; None if unknown."""
        if len(column.path) != 1 or self.schema[column.name].name in self.partition_by:
            return None
        count = (self.stats.get("nullCount") or {}).get(physical_name(self.schema[column.name]))
        exact = self.stats.get("tightBounds") is not False
        return count if isinstance(count, int) and (exact or count == 0) else None

    def rows(self) -> int | None:
        """Return how many rows the file holds; None if unknown."""
        count = self.stats.get("numRecords")
        return count if isinstance(count, int) else None


def _may(predicate: Expression, bounds: _Bounds) -> bool:
    match predicate:
        case And(operands=operands):
            return all(_may(operand, bounds) for operand in operands)
        case Or(operands=operands):
            return any(_may(operand, bounds) for operand in operands)
        case Compare(op=op, left=Column() as column, right=Literal(value=value)) if op in _FLIPPED:
            return _compare(op, column, value, bounds)
        case Compare(op=op, left=Literal(value=value), right=Column() as column) if op in _FLIPPED:
            return _compare(_FLIPPED[op], column, value, bounds)
        case Between(operand=Column() as column, low=Literal(value=low), high=Literal(value=high)):
            return _compare(">=", column, low, bounds) and _compare("<=", column, high, bounds)
        case In(operand=Column() as column, options=options):
            return any(
                _compare("=", column, option.value, bounds) if isinstance(option, Literal) else True
                for option in options
            )
        case IsNull(operand=Column() as column):
            return bounds.nulls(column) != 0
        case IsNotNull(operand=Column() as column):
            count = bounds.rows()
            return count is None or bounds.nulls(column) != count or bounds.stats.get("tightBounds") is False
    return True


def _compare(op: str, column: Column, value: Value, bounds: _Bounds) -> bool:
    if value is None:
        return False
    known = bounds.of(column)
    if known is None:
        return True
    data_type, low, high = known
    if low is None or high is None:
        return False  # a partition whose value is null
    least, literal, most = (order_key(data_type, bound) for bound in (low, value, high))
    return bool({
        "=": least <= literal <= most, "<": least < literal, "<=": least <= literal,
        ">": most > literal, ">=": most >= literal,
    }[op])  # fmt: skip
