"""Read variant columns of Parquet files, plain or shredded into typed columns, as canonical variants.

A shredded variant is a group of `metadata`, `value` and `typed_value`. Values of the column's type are in
`typed_value`, others in `value`. Single fields of an object may be shredded; each is again a group of `value` and
`typed_value`. The feature variantShredding refers to the specification, the Parquet project's "Variant Shredding".
"""

from __future__ import annotations

import datetime as dt
import decimal
import struct
import uuid
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds

from delta_models import variants
from delta_models.values import Decimal, Value, Variant

_MISSING = object()
_UUID = 20


def variant_values(array: Any) -> list[Value] | None:
    """Return the variants in an Arrow struct array; None if its fields are not those of variants."""
    names = {array.type.field(index).name for index in range(array.type.num_fields)}
    if "metadata" not in names or not names <= {"metadata", "value", "typed_value"}:
        return None
    return [None if group is None else _variant(group, array.type) for group in array.to_pylist()]


def _variant(group: dict[str, Any], group_type: pa.StructType) -> Variant:
    metadata = group["metadata"] or b""
    plain = Variant(metadata, group.get("value") or b"\0")
    try:
        if group.get("typed_value") is None:
            return variants.canonical(plain)
        tree = _tree(group, group_type, metadata)
        return variants.encode(None if tree is _MISSING else tree)
    except variants.MalformedVariant:
        return plain  # compared by its bytes


def _tree(group: dict[str, Any], group_type: pa.StructType, metadata: bytes) -> Any:
    """The tree of a group of `value` and `typed_value`; _MISSING if the object does not have the field."""
    stored, typed = group.get("value"), group.get("typed_value")
    rest = _MISSING if stored is None else variants.decode(Variant(metadata, stored))
    if typed is None:
        return rest
    typed_type = group_type.field("typed_value").type
    if kinds.is_struct(typed_type):
        fields = dict(rest) if isinstance(rest, dict) else {}
        for index in range(typed_type.num_fields):
            field = typed_type.field(index)
            part = typed.get(field.name)
            tree = _MISSING if part is None else _tree(part, field.type, metadata)
            if tree is not _MISSING:
                fields[field.name] = tree
        return fields
    if kinds.is_list(typed_type) or kinds.is_large_list(typed_type):
        parts = [_tree(element, typed_type.value_type, metadata) for element in typed]
        return [None if element is _MISSING else element for element in parts]
    return _scalar(typed, typed_type)


def _scalar(value: Any, arrow_type: pa.DataType) -> Any:
    match value:
        case bool() | str():
            return value
        case int():
            return value
        case float():
            wide = kinds.is_float64(arrow_type)
            return variants.Scalar(
                variants.DOUBLE if wide else variants.FLOAT, struct.pack("<d" if wide else "<f", value)
            )
        case decimal.Decimal():
            scaled = int(value.scaleb(arrow_type.scale, decimal.Context(prec=80)))
            return Decimal(scaled, arrow_type.scale)
        case dt.datetime():
            kind = variants.TIMESTAMP_NTZ if arrow_type.tz is None else variants.TIMESTAMP
            epoch = dt.datetime(1970, 1, 1, tzinfo=value.tzinfo and dt.UTC)
            return variants.Scalar(kind, struct.pack("<q", (value - epoch) // dt.timedelta(microseconds=1)))
        case dt.date():
            return variants.Scalar(variants.DATE, struct.pack("<i", (value - dt.date(1970, 1, 1)).days))
        case uuid.UUID():
            return variants.Scalar(_UUID, value.bytes)
        case bytes():
            return variants.Scalar(variants.BINARY, value)
    raise variants.MalformedVariant(f"a variant is not shredded into {arrow_type}")
