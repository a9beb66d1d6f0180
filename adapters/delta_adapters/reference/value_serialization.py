"""Write values as the log has them: partition values, statistics, and the names of partition folders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from delta_adapters.dialects import calendar
from delta_adapters.dialects.calendar import DAY, LAST_DAY
from delta_models.log.parquet.data_files import physical_name
from delta_models.schema import VOID, Array, DataType, DecimalType, Field, Map, Primitive, Struct
from delta_models.values import Decimal, Row, Value, order_key

NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
LONGEST_TEXT = 32
LAST_CHARACTER = 0x10FFFF
SURROGATES = range(0xD800, 0xE000)
SAFE_IN_FOLDERS = " !'()*,-._~@&+$;"


class NotSerializable(ValueError):
    """A text that JSON can't hold."""


def partition_text(data_type: DataType, value: Value) -> str | None:
    """Return a partition value as a string, None for null."""
    if value is None:
        return None
    match data_type:
        case Primitive(name="boolean"):
            return "true" if value else "false"
        case Primitive(name="date"):
            return date_text(value)
        case Primitive(name="timestamp"):
            return f"{moment_text(value, 'T')}Z"
        case Primitive(name="timestamp_ntz"):
            return moment_text(value, " ")
        case Primitive(name="float" | "double"):
            return "NaN" if math.isnan(value) else repr(value).replace("inf", "Infinity")
        case DecimalType():
            return str(Decimal(*value))
    return str(value)


def partition_folder(columns: Sequence[str], values: Sequence[str | None]) -> str:
    """Return a folder such as `letter=a/day=2024-02-29`, with characters that a file name can't hold escaped."""
    parts = (
        f"{quote(name, safe=SAFE_IN_FOLDERS)}={NULL_FOLDER if value is None else quote(value, safe=SAFE_IN_FOLDERS)}"
        for name, value in zip(columns, values, strict=True)
    )
    return "/".join(parts)


def path_in_log(path: str) -> str:
    """Return a relative path as a URI."""
    return quote(path, safe="/=-._~!'()*,;:@&+$")


def statistics(schema: Struct, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the statistics of a file with these rows. Bounds are tight, but long strings are cut."""
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for position, field in enumerate(schema):
        if isinstance(field.type, Struct | Array | Map) or field.type == VOID:
            continue
        values, name = [row[position] for row in rows], physical_name(field)
        nulls[name] = sum(value is None for value in values)
        bounds = _bounds(field, [value for value in values if value is not None])
        if bounds is not None:
            low[name], high[name] = bounds
    return {"numRecords": len(rows), "minValues": low, "maxValues": high, "nullCount": nulls}


def _bounds(field: Field, values: list[Value]) -> tuple[Any, Any] | None:
    if not values or not _has_bounds(field.type):
        return None
    ordered = sorted(values, key=lambda value: order_key(field.type, value))
    try:
        return _cut(field.type, ordered[0], up=False), _cut(field.type, ordered[-1], up=True)
    except NotSerializable:
        return None


def text_above(text: str) -> str:
    """Return the shortest text above all texts that begin like this one: its last character that can be raised is.

    Raises NotSerializable if there is none.
    """
    for position in range(len(text) - 1, -1, -1):
        after = ord(text[position]) + 1
        after = SURROGATES.stop if after in SURROGATES else after
        if after <= LAST_CHARACTER:
            return text[:position] + chr(after)
    raise NotSerializable


def _has_bounds(data_type: DataType) -> bool:
    unbounded = {"boolean", "binary", "variant", "void"}
    return isinstance(data_type, DecimalType) or (
        isinstance(data_type, Primitive) and data_type.name not in unbounded
    )


def _cut(data_type: DataType, value: Value, *, up: bool) -> Any:
    """Return a bound as JSON. A cut maximum is raised above all texts that begin like it."""
    match data_type:
        case Primitive(name="string"):
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise NotSerializable
            if len(value) <= LONGEST_TEXT:
                return value
            return text_above(value[:LONGEST_TEXT]) if up else value[:LONGEST_TEXT]
        case Primitive(name="date"):
            return date_text(value)
        case Primitive(name="timestamp"):
            return f"{moment_text(value, 'T')}Z"
        case Primitive(name="timestamp_ntz"):
            return moment_text(value, "T")
        case Primitive(name="float" | "double") if math.isnan(value) or math.isinf(value):
            return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
        case DecimalType():
            return Number(str(Decimal(*value)))
    return value


class Number(str):
    """A number whose digits are written as they are, for decimals that a float can't hold."""

    __slots__ = ()


def date_text(days: int) -> str:
    """Return a date such as `2024-02-29`, `-0044-03-15` or `+12024-01-01`."""
    return f"{'+' if days > LAST_DAY else ''}{calendar.date_text(days)}"


def moment_text(micros: int, separator: str) -> str:
    """Return a moment such as `2024-02-29T12:00:00.000001`."""
    return (
        f"{'+' if micros // DAY > LAST_DAY else ''}{calendar.timestamp_text(micros).replace(' ', separator)}"
    )
