"""The columns of a checkpoint that repeat statistics and partition values by their types.

A table asks for them by `delta.checkpoint.writeStatsAsStruct`. What a text says that its column's type can't hold is
null in the column: a bound may be missing, and must never be wrong.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    NumericType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_delta import partition_values
from pyspark_delta import schema as schemas
from pyspark_delta.exceptions import CorruptLog
from pyspark_delta.features import flag

if TYPE_CHECKING:
    from pyspark_delta.log.snapshot import Snapshot

__all__ = ["PARTITION_VALUES", "STATS", "columns_of", "parsed_fields"]

STATS, PARTITION_VALUES = "stats_parsed", "partitionValues_parsed"
_ASKED = "delta.checkpoint.writeStatsAsStruct"
_BOUNDED = (NumericType, StringType, DateType, TimestampType, TimestampNTZType)
_DAYS = (dt.date.min.toordinal() - 719_163, dt.date.max.toordinal() - 719_163)  # since 1970
_DAY_US = 86_400_000_000
_WIDE = Context(prec=100)  # more digits than any decimal type has

Tree = dict[str, Any]  # of columns by name: a type, or the tree of a struct


def parsed_fields(snapshot: Snapshot) -> list[pa.Field]:
    """The fields that the adds of a checkpoint have beside the usual ones; none unless the table asks for them."""
    if not flag(snapshot.properties, _ASKED):
        return []
    bounds, counts = _bounds(snapshot), _counts(snapshot)
    stats = [("numRecords", pa.int64())]
    if bounds:
        stats += [("minValues", _struct(bounds)), ("maxValues", _struct(bounds))]
    if counts:
        stats += [("nullCount", _struct(counts))]
    fields = [pa.field(STATS, pa.struct([*stats, ("tightBounds", pa.bool_())]))]
    if partitions := _partitions(snapshot):
        fields.append(
            pa.field(
                PARTITION_VALUES,
                pa.struct(
                    [(name, partition_values.arrow_type(data_type)) for name, data_type in partitions.items()]
                ),
            )
        )
    return fields


def columns_of(snapshot: Snapshot, adds: pa.Table, zone: str = "UTC") -> dict[str, pa.Array]:
    """The columns of `parsed_fields` for these adds; `zone` is that of partition values without one."""
    made: dict[str, pa.Array] = {}
    for field in parsed_fields(snapshot):
        if field.name == STATS:
            bounds, counts = _bounds(snapshot), _counts(snapshot)
            rows = [_stats(text, bounds, counts) for text in adds["stats"].to_pylist()]
            made[STATS] = pa.array(rows, field.type)
        else:
            values = adds["partitionValues"].to_pylist(maps_as_pydicts="strict")
            children = [
                partition_values.parse_column(
                    pa.array([(texts or {}).get(name) for texts in values], pa.string()), data_type, zone
                )
                for name, data_type in _partitions(snapshot).items()
            ]
            made[PARTITION_VALUES] = pa.StructArray.from_arrays(children, fields=list(field.type))
    return made


def _partitions(snapshot: Snapshot) -> dict[str, DataType]:
    """The types of the partition columns by their names in the log."""
    wanted = {name.lower() for name in snapshot.partition_columns}
    return {
        schemas.physical_name(field): field.dataType
        for field in snapshot.schema.fields
        if field.name.lower() in wanted
    }


def _leaves(snapshot: Snapshot) -> Iterable[tuple[tuple[str, ...], DataType]]:
    partitions = _partitions(snapshot)
    for path, field in schemas.leaves(schemas.physical_schema(snapshot.schema)):
        if path[0] not in partitions:
            yield path, field.dataType


def _bounds(snapshot: Snapshot) -> Tree:
    return _tree((path, kind) for path, kind in _leaves(snapshot) if isinstance(kind, _BOUNDED))


def _counts(snapshot: Snapshot) -> Tree:
    return _tree((path, None) for path, _ in _leaves(snapshot))


def _tree(leaves: Iterable[tuple[tuple[str, ...], DataType | None]]) -> Tree:
    tree: Tree = {}
    for path, kind in leaves:
        inside = tree
        for name in path[:-1]:
            inside = inside.setdefault(name, {})
        inside[path[-1]] = kind
    return tree


def _struct(tree: Tree) -> pa.StructType:
    return pa.struct([(name, _arrow(kind)) for name, kind in tree.items()])


def _arrow(kind: Tree | DataType | None) -> pa.DataType:
    if isinstance(kind, dict):
        return _struct(kind)
    return pa.int64() if kind is None else partition_values.arrow_type(kind)


def _stats(text: str | None, bounds: Tree, counts: Tree) -> dict[str, Any] | None:
    """The statistics of one file as the column's values; null if it has none that can be read."""
    if text is None:
        return None
    try:
        said = json.loads(text, parse_float=str)  # a decimal keeps its digits
    except ValueError:
        return None
    if not isinstance(said, dict):
        return None
    return {
        "numRecords": _count(said.get("numRecords")),
        "minValues": _values(said.get("minValues"), bounds),
        "maxValues": _values(said.get("maxValues"), bounds),
        "nullCount": _values(said.get("nullCount"), counts),
        "tightBounds": said["tightBounds"] if isinstance(said.get("tightBounds"), bool) else None,
    }


def _values(said: Any, tree: Tree) -> dict[str, Any] | None:
    if not isinstance(said, Mapping):
        return None
    return {
        name: _values(said.get(name), kind)
        if isinstance(kind, dict)
        else (_count(said.get(name)) if kind is None else _bound(said.get(name), kind))
        for name, kind in tree.items()
    }


def _count(said: Any) -> int | None:
    return said if isinstance(said, int) and not isinstance(said, bool) and said >= 0 else None


def _bound(said: Any, data_type: DataType) -> Any:
    """The bound in a form that Arrow takes for the type; None if it can't hold it."""
    if said is None or isinstance(said, bool | dict | list):
        return None
    if isinstance(data_type, StringType):
        return said if isinstance(said, str) else None
    try:
        value: Any = partition_values.internal(str(said), data_type)
    except CorruptLog:
        return None
    if isinstance(data_type, DateType):
        return int(value) if _DAYS[0] <= value <= _DAYS[1] else None
    if isinstance(data_type, TimestampType | TimestampNTZType):
        return int(value) if _DAYS[0] <= value // _DAY_US <= _DAYS[1] else None
    if isinstance(data_type, DecimalType):
        return _exact(value, data_type)
    if isinstance(data_type, FloatType | DoubleType):
        return value if math.isfinite(value) else None
    return value if _fits(value, data_type) else None


def _exact(value: Decimal, data_type: DecimalType) -> Decimal | None:
    try:
        scaled = value.quantize(Decimal((0, (1,), -data_type.scale)), context=_WIDE)
    except InvalidOperation:
        return None
    digits = len(scaled.as_tuple().digits)
    return scaled if scaled == value and digits <= data_type.precision else None


def _fits(value: Any, data_type: DataType) -> bool:
    if isinstance(data_type, BooleanType):
        return True
    width = partition_values.arrow_type(data_type).bit_width - 1
    return bool(-(2**width) <= value < 2**width)
