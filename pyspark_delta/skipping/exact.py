"""Find the files that can have rows for a predicate: exactly by partition values, safely by statistics.

A file is skipped only if no row of it can make the predicate true. Statistics of other writers may have lost something:
the end of a long text, the last digits of a decimal, microseconds, NaN beyond the maximum. Bounds are widened by that
before they are compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_delta import schema as schemas
from pyspark_delta.exceptions import CorruptLog
from pyspark_delta.expressions import predicate_of
from pyspark_delta.log.actions import load
from pyspark_delta.partition_values import Internal, internal
from pyspark_delta.predicates import (
    FALSE,
    NULL,
    TRUE,
    And,
    Comparison,
    Constant,
    In,
    IsNull,
    Not,
    Or,
    Path,
    Predicate,
    StartsWith,
    both,
    columns,
    either,
    negated,
)
from pyspark_delta.skipping.vectorized import certainly_excluded

if TYPE_CHECKING:
    from pyspark_delta.log.file_set import Files

__all__ = ["Pruner", "predicate_of"]

_ANY = TRUE | FALSE | NULL
_MILLISECOND_US = 1000
_MANY = 256  # from this many files on, parsing all statistics at once is worth it


@dataclass(frozen=True, slots=True)
class _Range:
    """A column's values in a file: lowest and highest (None is unbounded), and whether there are nulls or values."""

    low: Internal | None = None
    high: Internal | None = None
    nulls: bool = True
    values: bool = True
    exact: bool = False


_ANYTHING = _Range()
_NOTHING_BUT_NULL = _Range(values=False)


class Pruner:
    """Checks the files of one table against predicates on the table's columns."""

    def __init__(self, schema: StructType, partition_columns: Sequence[str], zone: str = "UTC") -> None:
        self.schema = schema
        self.partition_columns = {name.lower() for name in partition_columns}
        self.zone = zone
        self._columns: dict[Path, tuple[Path, DataType, bool] | None] = {}

    def only_partitions(self, predicate: Predicate) -> bool:
        """Whether the predicate uses partition columns only."""
        return all(
            len(column) == 1 and column[0].lower() in self.partition_columns for column in columns(predicate)
        )

    def may_match(
        self, predicate: Predicate, partition_values: Mapping[str, str | None], stats: str | None = None
    ) -> bool:
        """Whether a row of a file with these values can make the predicate true."""
        return bool(self.outcomes(predicate, partition_values, stats) & TRUE)

    def outcomes(
        self, predicate: Predicate, partition_values: Mapping[str, str | None], stats: str | None = None
    ) -> int:
        """The outcomes that rows of such a file can have. The set may be too large, never too small."""
        return self._outcomes(predicate, _File(partition_values, stats))

    def matching(self, files: Files, predicate: Predicate | None) -> Files:
        """The files that can have rows for which the predicate is true."""
        if predicate is None or len(files) == 0:
            return files
        outcomes = self.classify(files, predicate)
        kept = (outcomes & TRUE) != 0
        return files if bool(kept.all()) else files.filter(kept)

    def classify(self, files: Files, predicate: Predicate) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The outcomes of each file as bits; TRUE alone means that the predicate picks every row."""
        count = len(files)
        outcomes = np.full(count, _ANY, dtype=np.uint8)
        table = files.arrow()
        named = list(dict.fromkeys(columns(predicate)))
        partitions = [self.column(column) for column in named]
        by_value = [entry[0][0] for entry in partitions if entry is not None and entry[2]]
        texts = [files.partition_values(name).to_pylist() for name in by_value]
        needs_stats = any(entry is not None and not entry[2] for entry in partitions)
        known: dict[tuple[str | None, ...], int] = {}
        if not by_value:
            outcomes[:] = self._outcomes(predicate, _File({}, None))
        for row in range(count if by_value else 0):
            values = tuple(column[row] for column in texts)
            if values not in known:
                known[values] = self._outcomes(
                    predicate, _File(dict(zip(by_value, values, strict=True)), None)
                )
            outcomes[row] = known[values]
        if not needs_stats:
            return outcomes
        open_ones = np.flatnonzero((outcomes & TRUE != 0) & (outcomes != TRUE))
        stats = table["stats"].take(pa.array(open_ones)).combine_chunks()
        if len(stats) >= _MANY:
            excluded = certainly_excluded(stats, predicate, self._bounds_of)
            outcomes[open_ones[excluded]] = _ANY & ~TRUE
            open_ones, stats = open_ones[~excluded], stats.filter(pa.array(~excluded))
        for row, text in zip(open_ones.tolist(), stats.to_pylist(), strict=True):
            if text is not None:
                values = tuple(column[row] for column in texts)
                outcomes[row] = self._outcomes(
                    predicate, _File(dict(zip(by_value, values, strict=True)), text)
                )
        return outcomes

    def _bounds_of(self, column: Path) -> tuple[Path, DataType] | None:
        entry = self.column(column)
        return None if entry is None or entry[2] else entry[:2]

    def _outcomes(self, predicate: Predicate, file: _File) -> int:
        if isinstance(predicate, And):
            outcomes = TRUE
            for part in predicate.parts:
                outcomes = both(outcomes, self._outcomes(part, file))
            return outcomes
        if isinstance(predicate, Or):
            outcomes = FALSE
            for part in predicate.parts:
                outcomes = either(outcomes, self._outcomes(part, file))
            return outcomes
        if isinstance(predicate, Not):
            return negated(self._outcomes(predicate.part, file))
        if isinstance(predicate, Constant):
            return NULL if predicate.value is None else TRUE if predicate.value else FALSE
        if isinstance(predicate, Comparison | In | IsNull | StartsWith):
            try:
                return _outcomes_of(predicate, self._range(predicate.column, file))
            except TypeError:  # a value of another type says nothing about files
                return _ANY
        return _ANY

    def _range(self, column: Path, file: _File) -> _Range:
        entry = self.column(column)
        if entry is None:
            return _ANYTHING
        physical, data_type, partition = entry
        if partition:
            value = internal(file.partition_values.get(physical[0]), data_type, self.zone)
            if value is None:
                return _NOTHING_BUT_NULL
            return _Range(value, value, nulls=False, exact=True)
        return _statistics_range(file.statistics, physical, data_type)

    def column(self, column: Path) -> tuple[Path, DataType, bool] | None:
        """Physical path, type, and whether it is a partition column; None if nothing is known about it."""
        if column not in self._columns:
            self._columns[column] = self._look_up(column)
        return self._columns[column]

    def _look_up(self, column: Path) -> tuple[Path, DataType, bool] | None:
        inside: DataType = self.schema
        physical: list[str] = []
        for name in column:
            field = schemas.find(inside, name) if isinstance(inside, StructType) else None
            if field is None:
                return None
            physical.append(schemas.physical_name(field))
            inside = field.dataType
        if not _orderable(inside):
            return (tuple(physical), inside, False) if not isinstance(inside, StructType) else None
        return tuple(physical), inside, len(column) == 1 and column[0].lower() in self.partition_columns


class _File:
    """One file as a predicate sees it; its statistics are parsed when they are first needed."""

    def __init__(self, partition_values: Mapping[str, str | None], stats: str | None) -> None:
        self.partition_values = partition_values
        self._stats = stats

    @cached_property
    def statistics(self) -> Mapping[str, Any]:
        if not self._stats:
            return {}
        try:
            parsed = load(self._stats)
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}


def _orderable(data_type: DataType) -> bool:
    if isinstance(data_type, StringType):
        return getattr(data_type, "collation", "UTF8_BINARY") in {"UTF8_BINARY", None}
    return isinstance(data_type, _ORDERABLE)


_ORDERABLE = (
    BinaryType,
    BooleanType,
    ByteType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    TimestampNTZType,
    TimestampType,
)


def _statistics_range(statistics: Mapping[str, Any], path: Path, data_type: DataType) -> _Range:
    if not statistics:
        return _ANYTHING
    records, nulls = statistics.get("numRecords"), _inside(statistics.get("nullCount"), path)
    if isinstance(nulls, int) and nulls == records:
        return _NOTHING_BUT_NULL
    # Even bounds that are not tight can prove that there is no null.
    has_nulls = nulls != 0
    if not _orderable(data_type) or isinstance(data_type, BinaryType):
        return _Range(nulls=has_nulls)
    low = _bound(_inside(statistics.get("minValues"), path), data_type, -1)
    high = _bound(_inside(statistics.get("maxValues"), path), data_type, 1)
    return _Range(low, high, has_nulls)


def _inside(value: Any, path: Path) -> Any:
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _bound(value: Any, data_type: DataType, side: int) -> Internal | None:
    """A bound of a file's values, widened by what the text of a statistic can have lost."""
    if value is None:
        return None
    try:
        if isinstance(data_type, FloatType | DoubleType):
            # NaN is greater than all values, and a writer's maximum may not cover it.
            number = float(value)
            return number if side < 0 and not math.isnan(number) else None
        if isinstance(data_type, DecimalType):
            exact = Decimal(str(value))
            return exact + side * abs(exact) * Decimal("1e-14")
        if isinstance(data_type, TimestampType | TimestampNTZType):
            moment = internal(str(value), data_type)
            return None if moment is None else int(moment) + side * (_MILLISECOND_US - 1)
        if isinstance(data_type, DateType):
            return internal(str(value), data_type)
        if isinstance(data_type, BooleanType):
            return bool(value)
        if isinstance(data_type, StringType):
            return str(value)
        return int(value)
    except (CorruptLog, ValueError, TypeError, ArithmeticError):
        return None


def _outcomes_of(predicate: Comparison | In | IsNull | StartsWith, rows: _Range) -> int:
    if isinstance(predicate, IsNull):
        return (TRUE if rows.nulls else 0) | (FALSE if rows.values else 0)
    outcomes = 0
    if isinstance(predicate, Comparison):
        if predicate.operator == "<=>":
            return _outcomes_null_safe(predicate, rows)
        if predicate.value is None:
            return NULL
        outcomes = _compare(predicate.operator, predicate.value, rows) if rows.values else 0
    elif isinstance(predicate, In):
        outcomes = _outcomes_in(predicate.values, rows) if rows.values else 0
    elif rows.values:
        outcomes = _outcomes_starts_with(predicate.text, rows)
    return outcomes | (NULL if rows.nulls else 0)


def _outcomes_null_safe(predicate: Comparison, rows: _Range) -> int:
    if predicate.value is None:
        return (TRUE if rows.nulls else 0) | (FALSE if rows.values else 0)
    outcomes = FALSE if rows.nulls else 0
    return outcomes | (_compare("=", predicate.value, rows) if rows.values else 0)


def _outcomes_in(values: Sequence[Internal | None], rows: _Range) -> int:
    outcomes = FALSE
    for value in values:
        outcomes = either(outcomes, NULL if value is None else _compare("=", value, rows))
    return outcomes


def _compare(operator: str, value: Internal, rows: _Range) -> int:
    """The outcomes of `column operator value` for the values of a range, without its nulls."""
    low, high = rows.low, rows.high
    below = low is None or _order(low, value) < 0  # some row can be less
    above = high is None or _order(high, value) > 0 or (not rows.exact and _may_be_truncated(high, value))
    if operator == "=":
        reaches = (low is None or _order(low, value) <= 0) and (above or _order_to(high, value) >= 0)
        return (TRUE if reaches else 0) | (0 if rows.exact and reaches else FALSE)
    equal = (low is None or _order(low, value) <= 0) and (above or _order_to(high, value) >= 0)
    if operator in {"<", "<="}:
        true = below or (operator == "<=" and equal)
        false = above or (operator == "<" and equal)
    else:
        true = above or (operator == ">=" and equal)
        false = below or (operator == ">" and equal)
    return (TRUE if true else 0) | (FALSE if false else 0)


def _outcomes_starts_with(text: str, rows: _Range) -> int:
    low, high = rows.low, rows.high
    if rows.exact:
        return TRUE if isinstance(low, str) and low.startswith(text) else FALSE
    if isinstance(low, str) and low > text and not low.startswith(text):
        return FALSE
    if isinstance(high, str) and high < text and not text.startswith(high):
        return FALSE
    return TRUE | FALSE


def _order(left: Internal, right: Internal) -> int:
    """Compare as Spark orders: NaN equals itself and is greater than every number, and both zeros are equal."""
    if isinstance(left, float) and isinstance(right, float) and (math.isnan(left) or math.isnan(right)):
        return int(math.isnan(left)) - int(math.isnan(right))
    if left == right:
        return 0
    return -1 if left < right else 1  # type: ignore[operator]


def _order_to(high: Internal | None, value: Internal) -> int:
    return 1 if high is None else _order(high, value)


def _may_be_truncated(high: Internal, value: Internal) -> bool:
    """Whether the maximum may be a truncated text, so that actual values are greater than the value."""
    return isinstance(high, str) and isinstance(value, str) and value.startswith(high)
