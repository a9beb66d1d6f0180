"""Statistics of data files for the log, from the footers that Spark's Parquet writer leaves, without a second pass.

A footer's bound follows Parquet's rules, but the log promises a bound by SQL's rules. So NaN, signed zeros, truncated
texts and times finer than a millisecond are treated here. A bound that can't be guaranteed is left out.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import orjson
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.types import (
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

from pyspark_delta import parallel
from pyspark_delta.exceptions import InvalidArgument
from pyspark_delta.schema import leaves
from pyspark_delta.storage import storage_of

__all__ = ["FileStatistics", "indexed_columns", "of_file", "of_files", "truncated_max", "truncated_min"]

COUNT_PROPERTY = "delta.dataSkippingNumIndexedCols"
NAMES_PROPERTY = "delta.dataSkippingStatsColumns"
DEFAULT_COUNT = 32
TEXT_LENGTH = 32

_INTEGRAL = (ByteType, ShortType, IntegerType, LongType)
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock; UTC is said by the text's Z

Column = tuple[tuple[str, ...], DataType]


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """The number of rows of a file and the statistics text for the log."""

    rows: int
    text: str


def indexed_columns(
    schema: StructType, partition_columns: Iterable[str], configuration: Mapping[str, str]
) -> list[Column]:
    """The columns that get statistics: those that the table's properties choose, else the first 32."""
    partitioned = set(partition_columns)
    data = StructType([field for field in schema.fields if field.name not in partitioned])
    columns = [(path, field.dataType) for path, field in leaves(data)]
    names = configuration.get(NAMES_PROPERTY)
    if names is not None:
        chosen = [tuple(part.lower() for part in path) for path in _names(names)]
        return [
            (path, kind)
            for path, kind in columns
            if any(tuple(part.lower() for part in path[: len(prefix)]) == prefix for prefix in chosen)
        ]
    count = _count(configuration.get(COUNT_PROPERTY))
    return columns if count < 0 else columns[:count]


def of_files(
    paths: Sequence[str], columns: Sequence[Column], spark: SparkSession | None = None
) -> list[FileStatistics]:
    """The statistics of files, in their order."""
    return parallel.map_items(spark, paths, partial(of_file, columns=columns))


def of_file(path: str, columns: Sequence[Column]) -> FileStatistics:
    """The statistics of one file."""
    with storage_of(path).open(path) as opened:
        return of_footer(pq.read_metadata(opened), columns)


def of_footer(
    footer: Any, columns: Sequence[Column], without_nan: Collection[tuple[str, ...]] = ()
) -> FileStatistics:
    """The statistics of a file from its footer as pyarrow reads it.

    For columns in `without_nan` the maximum is used even if another writer made the file.
    """
    places = _leaf_positions(footer)
    trusts_nan = str(footer.created_by).startswith("parquet-mr")
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    groups = [group for group in groups if group.num_rows]
    lows: dict[str, Any] = {}
    highs: dict[str, Any] = {}
    nulls: dict[str, Any] = {}
    for path, data_type in columns:
        index = places.get(".".join(path))
        if index is None or footer.schema.column(index).max_repetition_level:
            continue
        chunks = [(group.num_rows, group.column(index)) for group in groups]
        missing = _null_count(chunks)
        if missing is not None:
            _put(nulls, path, missing)
        convert = _BOUNDS.get(type(data_type))
        if convert is None:
            continue
        bounds = _raw_bounds(chunks)
        if bounds is None:
            continue
        low, high = convert(bounds, data_type, footer.schema.column(index), trusts_nan or path in without_nan)
        if low is not None:
            _put(lows, path, low)
        if high is not None:
            _put(highs, path, high)
    trees = {"minValues": lows, "maxValues": highs, "nullCount": nulls}
    body = {"numRecords": footer.num_rows, **{name: tree for name, tree in trees.items() if tree}}
    return FileStatistics(footer.num_rows, orjson.dumps(body).decode())


def truncated_min(text: str) -> str:
    """At most 32 characters that do not sort after the text."""
    return text[:TEXT_LENGTH]


def truncated_max(text: str) -> str | None:
    """At most 32 characters that do not sort before the text; None if there are none."""
    if len(text) <= TEXT_LENGTH:
        return text
    for end in range(TEXT_LENGTH - 1, -1, -1):
        raised = ord(text[end]) + 1
        if raised == 0xD800:  # skip the surrogates, which are no characters
            raised = 0xE000
        if raised <= 0x10FFFF:
            return text[:end] + chr(raised)
    return None


def _names(text: str) -> list[tuple[str, ...]]:
    """The columns in a list of names, which may be quoted and nested."""
    paths: list[tuple[str, ...]] = []
    parts: list[str] = []
    current: list[str] = []
    quoted = False
    position = 0
    while position < len(text):
        character = text[position]
        if quoted:
            if character != "`":
                current.append(character)
            elif text[position + 1 : position + 2] == "`":
                current.append("`")
                position += 1
            else:
                quoted = False
        elif character == "`":
            quoted = True
        elif character == ".":
            parts.append("".join(current).strip())
            current = []
        elif character == ",":
            paths.append((*parts, "".join(current).strip()))
            parts, current = [], []
        else:
            current.append(character)
        position += 1
    last = (*parts, "".join(current).strip())
    return [path for path in (*paths, last) if any(path)]


def _count(text: str | None) -> int:
    if text is None:
        return DEFAULT_COUNT
    try:
        count = int(text)
    except ValueError:
        count = -2
    if count < -1:
        raise InvalidArgument(
            f"the property {COUNT_PROPERTY} is {text!r}", "Set it to a number of columns, or to -1 for all."
        )
    return count


def _leaf_positions(footer: Any) -> dict[str, int]:
    """The positions of the leaf columns by name; ambiguous names are left out."""
    places: dict[str, int] = {}
    twice: set[str] = set()
    for index in range(footer.num_columns):
        path = footer.schema.column(index).path
        if path in places:
            twice.add(path)
        places[path] = index
    for path in twice:
        del places[path]
    return places


def _null_count(chunks: Sequence[tuple[int, Any]]) -> int | None:
    total = 0
    for _, chunk in chunks:
        statistics = chunk.statistics if chunk.is_stats_set else None
        if statistics is None or not statistics.has_null_count:
            return None
        total += statistics.null_count
    return total


def _raw_bounds(chunks: Sequence[tuple[int, Any]]) -> list[tuple[Any, Any]] | None:
    """The bounds of the row groups that have values; None if one of them has no bounds."""
    bounds: list[tuple[Any, Any]] = []
    for rows, chunk in chunks:
        statistics = chunk.statistics if chunk.is_stats_set else None
        if statistics is None:
            return None
        if statistics.has_min_max:
            bounds.append((statistics.min_raw, statistics.max_raw))
        elif not statistics.has_null_count or statistics.null_count < rows:
            return None
    return bounds or None


def _put(tree: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = value


Raw = Sequence[tuple[Any, Any]]
Bounds = tuple[Any, Any]


def _integers(bounds: Raw, _type: DataType, column: Any, _nan: bool) -> Bounds:
    logical = json.loads(column.logical_type.to_json())
    if column.physical_type not in {"INT32", "INT64"} or logical.get("isSigned") is False:
        return None, None
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _floats(bounds: Raw, _type: DataType, _column: Any, trusts_nan: bool) -> Bounds:
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    if any(math.isnan(value) for pair in bounds for value in pair):
        return None, None  # Parquet does not order NaN; SQL puts it last
    # Writers other than parquet-mr ignore NaN, so their maximum is no bound.
    return _finite(-0.0 if low == 0 else low), _finite(0.0 if high == 0 else high) if trusts_nan else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _texts(bounds: Raw, _type: DataType, _column: Any, _nan: bool) -> Bounds:
    low, high = min(bytes(low) for low, _ in bounds), max(bytes(high) for _, high in bounds)
    try:
        return truncated_min(low.decode()), truncated_max(high.decode())
    except UnicodeDecodeError:
        return None, None


def _decimals(bounds: Raw, data_type: DataType, column: Any, _nan: bool) -> Bounds:
    assert isinstance(data_type, DecimalType)  # noqa: S101 - chosen by this type
    if json.loads(column.logical_type.to_json()).get("scale") != data_type.scale:
        return None, None
    unscaled = [(_unscaled(low), _unscaled(high)) for low, high in bounds]
    low, high = min(low for low, _ in unscaled), max(high for _, high in unscaled)
    return _number(low, data_type.scale), _number(high, data_type.scale)


def _unscaled(raw: int | bytes) -> int:
    return raw if isinstance(raw, int) else int.from_bytes(raw, "big", signed=True)


def _number(unscaled: int, scale: int) -> orjson.Fragment:
    """A decimal as a JSON number with all its digits."""
    sign, digits = int(unscaled < 0), tuple(int(digit) for digit in str(abs(unscaled)))
    return orjson.Fragment(format(Decimal((sign, digits, -scale)), "f").encode())


def _dates(bounds: Raw, _type: DataType, column: Any, _nan: bool) -> Bounds:
    if column.physical_type != "INT32":
        return None, None
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    return _date(low), _date(high)


def _date(days: int) -> str | None:
    try:
        return (_EPOCH + dt.timedelta(days=days)).date().isoformat()
    except OverflowError:
        return None


def _times(bounds: Raw, data_type: DataType, column: Any, _nan: bool) -> Bounds:
    logical = json.loads(column.logical_type.to_json())
    per_ms = {"milliseconds": 1, "microseconds": 1_000, "nanoseconds": 1_000_000}.get(logical.get("timeUnit"))
    utc = isinstance(data_type, TimestampType)
    if column.physical_type != "INT64" or per_ms is None or bool(logical.get("isAdjustedToUTC")) != utc:
        return None, None
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    return _time(low // per_ms, utc), _time(-(-high // per_ms), utc)


def _time(milliseconds: int, utc: bool) -> str | None:
    try:
        moment = _EPOCH + dt.timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds") + ("Z" if utc else "")


_BOUNDS: dict[type[DataType], Callable[[Raw, DataType, Any, bool], Bounds]] = {
    **dict.fromkeys(_INTEGRAL, _integers),
    FloatType: _floats,
    DoubleType: _floats,
    StringType: _texts,
    DecimalType: _decimals,
    DateType: _dates,
    TimestampType: _times,
    TimestampNTZType: _times,
}
