"""Convert rows to Arrow exactly, for adapters to hand to their engines. Only the oracle converts back."""

from __future__ import annotations

import decimal
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from delta_models.schema import Array, DataType, DecimalType, Field, Map, Primitive, Struct
from delta_models.values import Decimal, Rows, Value

ARROW_TYPES: dict[str, pa.DataType] = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
    "variant": pa.struct(
        [pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary(), nullable=False)]
    ),
}
_WIDE = decimal.Context(prec=60)


def to_arrow(rows: Rows, *, with_metadata: bool = False) -> pa.Table:
    """Return the rows as a table. Its schema also states the nullability, and the metadata of columns if wanted."""
    columns: list[Sequence[Value]] = (
        list(zip(*rows.rows, strict=True)) if rows.rows else [()] * len(rows.schema)
    )
    arrays = [_array(field.type, column) for field, column in zip(rows.schema, columns, strict=True)]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(rows.schema, with_metadata=with_metadata))


def as_held(rows: Rows) -> Rows:
    """Return the rows with each column that holds a null declared as one that may. Else the Arrow data are broken."""
    fields = tuple(
        _field_as_held(field, [row[place] for row in rows.rows]) for place, field in enumerate(rows.schema)
    )
    return Rows(Struct(fields), rows.rows)


def arrow_schema(schema: Struct, *, with_metadata: bool = False) -> pa.Schema:
    """Return the Arrow schema of a table's schema. Metadata that is no text becomes JSON, as Arrow has texts only."""
    return pa.schema(
        [
            pa.field(
                field.name,
                arrow_type(field.type),
                field.nullable,
                _texts(field.metadata) if with_metadata else None,
            )
            for field in schema
        ]
    )


def _field_as_held(field: Field, values: Sequence[Value]) -> Field:
    held = [value for value in values if value is not None]
    return replace(
        field, type=_type_as_held(field.type, held), nullable=field.nullable or len(held) < len(values)
    )


def _type_as_held(data_type: DataType, values: Sequence[Value]) -> DataType:
    """The type with what is null in its values, none of which is null itself."""
    match data_type:
        case Struct(fields=fields):
            parts = (
                _field_as_held(field, [value[place] for value in values])
                for place, field in enumerate(fields)
            )
            return Struct(tuple(parts))
        case Array():
            items = [item for value in values for item in value]
            held = [item for item in items if item is not None]
            nulls = data_type.contains_null or len(held) < len(items)
            return replace(data_type, element=_type_as_held(data_type.element, held), contains_null=nulls)
        case Map():
            keys = [key for value in values for key, _ in value]
            items = [item for value in values for _, item in value]
            held = [item for item in items if item is not None]
            return Map(
                _type_as_held(data_type.key, keys),
                _type_as_held(data_type.value, held),
                data_type.value_contains_null or len(held) < len(items),
            )
    return data_type


def _texts(metadata: Mapping[str, object]) -> dict[str, str] | None:
    return {
        key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()
    } or None


def arrow_type(data_type: DataType) -> pa.DataType:
    """Return the Arrow type of a Delta type. Raises TypeError if there is none."""
    match data_type:
        case Primitive(name=name) if name in ARROW_TYPES:
            return ARROW_TYPES[name]
        case DecimalType(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case Array(element=element, contains_null=contains_null):
            return pa.list_(pa.field("element", arrow_type(element), contains_null))
        case Map(key=key, value=value, value_contains_null=value_contains_null):
            return pa.map_(arrow_type(key), pa.field("value", arrow_type(value), value_contains_null))
        case Struct(fields=fields):
            return pa.struct(
                [pa.field(field.name, arrow_type(field.type), field.nullable) for field in fields]
            )
    raise TypeError(f"Arrow has no type for Delta's {data_type}")


def _array(data_type: DataType, column: Sequence[Value]) -> pa.Array:
    target = arrow_type(data_type)
    match data_type:
        case Primitive(name="date"):
            return pa.array(column, pa.int32()).cast(target)
        case Primitive(name="timestamp" | "timestamp_ntz"):
            return pa.array(column, pa.int64()).cast(target)
        case Primitive(name="string"):
            encoded = pa.array(
                [None if text is None else text.encode("utf-8", "surrogateescape") for text in column],
                pa.binary(),
            )
            return encoded.cast(options=pc.CastOptions(target, allow_invalid_utf8=True))
        case Primitive(name="variant"):
            parts = [
                pa.array([b"" if value is None else value[part] for value in column], pa.binary())
                for part in (0, 1)
            ]
            return pa.StructArray.from_arrays(parts, fields=list(target), mask=_mask(column))
        case DecimalType():
            return pa.array([None if value is None else _decimal(value) for value in column], target)
        case Struct(fields=fields):
            parts = [
                _array(field.type, [None if row is None else row[index] for row in column])
                for index, field in enumerate(fields)
            ]
            return pa.StructArray.from_arrays(parts, fields=list(target), mask=_mask(column))
        case Array(element=element):
            values = _array(element, [part for items in column if items is not None for part in items])
            return pa.ListArray.from_arrays(_offsets(column), values, type=target, mask=_mask(column))
        case Map(key=key, value=value):
            pairs = [pair for entries in column if entries is not None for pair in entries]
            keys, items = _array(key, [pair[0] for pair in pairs]), _array(value, [pair[1] for pair in pairs])
            return pa.MapArray.from_arrays(_offsets(column), keys, items, type=target, mask=_mask(column))
    return pa.array(column, target)


def _decimal(value: Decimal) -> decimal.Decimal:
    return decimal.Decimal(value[0]).scaleb(-value[1], _WIDE)


def _offsets(column: Sequence[Value]) -> pa.Array:
    lengths = (0 if value is None else len(value) for value in column)
    return pa.array(list(itertools.accumulate(lengths, initial=0)), pa.int32())


def _mask(column: Sequence[Value]) -> pa.Array:
    return pa.array([value is None for value in column], pa.bool_())
