"""Skip many files at once by their bounds: find those that certainly have no row for a predicate.

Statistics are one JSON text for each file, and parsing each in Python takes several microseconds. Here Arrow parses the
bounds of the predicate's columns into columns, and plain comparisons on those exclude most files. Other conditions
exclude nothing here; `exact` then checks the remaining files one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_delta.predicates import And, Comparison, In, Or, Path, Predicate

__all__ = ["certainly_excluded"]

Mask = np.ndarray[Any, np.dtype[np.bool_]]
# The path of a column's bounds in the statistics, and its type; None for partition columns and unknown columns.
Place = Callable[[Path], tuple[Path, DataType] | None]

_CHUNK = 100_000
_SLACK_US = 999  # a writer may have truncated a time to milliseconds
_FEW_VALUES = 16


def certainly_excluded(stats: pa.Array, predicate: Predicate, place: Place) -> Mask:
    """A mask that is true for the files whose statistics prove that no row makes the predicate true."""
    wanted: dict[Path, DataType] = {}
    for column in _compared_columns(predicate):
        if (location := place(column)) is not None and _read_as(location[1]) is not None:
            wanted[location[0]] = location[1]
    if not wanted:
        return np.zeros(len(stats), dtype=bool)
    masks = []
    for start in range(0, len(stats), _CHUNK):
        part = stats.slice(start, _CHUNK)
        bounds = _parse_bounds(part, wanted)
        masks.append(
            np.zeros(len(part), dtype=bool)
            if bounds is None
            else _BoundsEvaluator(bounds, place, len(part)).excluded(predicate)
        )
    return np.concatenate(masks)


@dataclass(frozen=True, slots=True)
class _Bounds:
    low: pa.Array
    high: pa.Array


class _BoundsEvaluator:
    """Evaluates a predicate on the bounds of a chunk of files."""

    def __init__(self, bounds: Mapping[Path, _Bounds], place: Place, count: int) -> None:
        self._bounds = bounds
        self._place = place
        self._count = count

    def excluded(self, predicate: Predicate) -> Mask:
        if isinstance(predicate, And):
            return reduce(
                np.logical_or, (self.excluded(part) for part in predicate.parts), self._nothing_excluded()
            )
        if isinstance(predicate, Or):
            return reduce(
                np.logical_and, (self.excluded(part) for part in predicate.parts), ~self._nothing_excluded()
            )
        if isinstance(predicate, Comparison):
            return self._compared(predicate.column, predicate.operator, predicate.value)
        if isinstance(predicate, In):
            values = [value for value in predicate.values if value is not None]
            if not values:
                return self._nothing_excluded()
            if len(values) > _FEW_VALUES:
                try:
                    low, high = min(values), max(values)
                except TypeError:
                    return self._nothing_excluded()
                return self._compared(predicate.column, ">=", low) | self._compared(
                    predicate.column, "<=", high
                )
            masks = (self._compared(predicate.column, "=", value) for value in values)
            return reduce(np.logical_and, masks, ~self._nothing_excluded())
        return self._nothing_excluded()

    def _nothing_excluded(self) -> Mask:
        return np.zeros(self._count, dtype=bool)

    def _compared(self, column: Path, operator: str, value: Any) -> Mask:
        location = self._place(column)
        if location is None or value is None or location[0] not in self._bounds:
            return self._nothing_excluded()
        kind, bounds = location[1], self._bounds[location[0]]
        if not _fits(value, kind):
            return self._nothing_excluded()
        below, above = _sides(bounds, value, kind)
        if operator in {"=", "<=>"}:
            return below(strictly=True) | above(strictly=True)
        if operator in {"<", "<="}:
            return below(strictly=operator == "<=")
        return above(strictly=operator == ">=")


def _sides(bounds: _Bounds, value: Any, kind: DataType) -> tuple[Callable[..., Mask], Callable[..., Mask]]:
    """Two functions: whether all values are (strictly) above the value, and whether all are (strictly) below it."""

    def below(*, strictly: bool) -> Mask:
        return _mask((pc.greater if strictly else pc.greater_equal)(bounds.low, value))

    def above(*, strictly: bool) -> Mask:
        if isinstance(kind, FloatType | DoubleType):  # NaN is above every maximum
            return np.zeros(len(bounds.high), dtype=bool)
        under = _mask((pc.less if strictly else pc.less_equal)(bounds.high, value))
        if isinstance(value, str):  # a maximum may be a truncated text
            begins = [value[:end] for end in range(len(value) + 1)]
            under &= ~_mask(pc.is_in(bounds.high, value_set=pa.array(begins, pa.string())))
        return under

    return below, above


def _mask(array: pa.Array) -> Mask:
    mask: Mask = pc.fill_null(array, False).to_numpy(zero_copy_only=False)
    return mask


def _fits(value: Any, kind: DataType) -> bool:
    """Whether the value has the type as which the bounds are read."""
    if isinstance(kind, StringType):
        return isinstance(value, str)
    if isinstance(kind, FloatType | DoubleType):
        return isinstance(value, int | float) and value == value  # noqa: PLR0124 - NaN is above every bound
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**62


def _compared_columns(predicate: Predicate) -> list[Path]:
    if isinstance(predicate, And | Or):
        return [column for part in predicate.parts for column in _compared_columns(part)]
    return [predicate.column] if isinstance(predicate, Comparison | In) else []


def _read_as(kind: DataType) -> pa.DataType | None:
    """The Arrow type for a column's bounds; None for columns that are left to `exact`."""
    if isinstance(kind, ByteType | ShortType | IntegerType | LongType):
        return pa.int64()
    if isinstance(kind, FloatType | DoubleType):
        return pa.float64()
    if isinstance(kind, StringType) and getattr(kind, "collation", "UTF8_BINARY") not in {
        "UTF8_BINARY",
        None,
    }:
        return None
    return pa.string() if isinstance(kind, StringType | DateType | TimestampType | TimestampNTZType) else None


def _parse_bounds(stats: pa.Array, wanted: Mapping[Path, DataType]) -> dict[Path, _Bounds] | None:
    """The bounds of the columns; None if Arrow can't parse a text."""
    plain = pc.fill_null(stats, "{}")
    plain = pc.if_else(pc.equal(plain, ""), "{}", plain)
    if pc.any(pc.match_substring_regex(plain, r"[\n\r]")).as_py():
        return None
    tree = _schema(wanted)
    all_texts = pa.LargeListArray.from_arrays([0, len(plain)], plain.cast(pa.large_string()))
    try:
        text = pc.binary_join(all_texts, pa.scalar("\n", pa.large_string()))
        longest = int(pc.max(pc.binary_length(plain)).as_py())
        table = pj.read_json(
            pa.BufferReader(text.buffers()[2]),
            read_options=pj.ReadOptions(block_size=max(1 << 20, 2 * longest + 2)),
            parse_options=pj.ParseOptions(explicit_schema=tree, unexpected_field_behavior="ignore"),
        )
        if len(table) != len(stats):
            return None
        return {
            path: _Bounds(
                _bound(_inside(table["minValues"], path), kind, -1),
                _bound(_inside(table["maxValues"], path), kind, 1),
            )
            for path, kind in wanted.items()
        }
    except (pa.ArrowException, KeyError):
        return None


def _schema(wanted: Mapping[Path, DataType]) -> pa.Schema:
    tree: dict[str, Any] = {}
    for path, kind in wanted.items():
        inside = tree
        for name in path[:-1]:
            inside = inside.setdefault(name, {})
        inside[path[-1]] = _read_as(kind)

    def typed(inside: Any) -> pa.DataType:
        if not isinstance(inside, dict):
            return inside
        return pa.struct([(name, typed(part)) for name, part in inside.items()])

    return pa.schema([("minValues", typed(tree)), ("maxValues", typed(tree))])


def _inside(column: pa.ChunkedArray, path: Path) -> pa.Array:
    field: pa.Array = pc.struct_field(column, list(path))
    return field.combine_chunks() if isinstance(field, pa.ChunkedArray) else field


def _bound(texts: pa.Array, kind: DataType, side: int) -> pa.Array:
    """Bounds as numbers (days, microseconds) or texts, widened by what a text can have lost."""
    if isinstance(kind, DateType):
        return texts.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
    if isinstance(kind, TimestampType | TimestampNTZType):
        zone = "UTC" if isinstance(kind, TimestampType) else None
        micros = texts.cast(pa.timestamp("us", zone)).cast(pa.int64())
        return pc.add(micros, side * _SLACK_US)
    return texts
