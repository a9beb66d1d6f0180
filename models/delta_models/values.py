"""SQL values as plain Python values: two ways to compare them, and their JSON form.

A value has no meaning without its type, so every function here takes the type as well:

    boolean                      bool
    byte, short, integer, long   int
    float, double                float
    decimal                      Decimal(unscaled, scale)
    string                       str (bytes that are not UTF-8 are surrogate escapes)
    binary                       bytes
    date                         int, days since 1970-01-01 in the proleptic Gregorian calendar
    timestamp                    int, microseconds since the epoch in UTC
    timestamp_ntz                int, microseconds since 1970-01-01T00:00:00 on the local calendar
    struct                       tuple of values, in the order of the fields
    array                        tuple of values
    map                          tuple of (key, value) pairs
    variant                      Variant(metadata, value)
    null of any type             None

A row is a tuple in the order of the schema.

`same` compares what is stored, and bags of rows use it: NaN is NaN, and -0.0 is not 0.0. It compares texts of a char(n)
column as if blanks padded them, because engines add the blanks on writing or on reading. `sql_equal` compares as
predicates do: NaN equals NaN, and -0.0 equals 0.0.
"""

from __future__ import annotations

import base64
import math
import struct as binary_struct
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from delta_models.schema import (
    STRING,
    Array,
    DataType,
    DecimalType,
    Field,
    Json,
    Map,
    Primitive,
    Struct,
    width_of,
)

Value = Any  # one of the representations above; only its type tells which
Row = tuple[Value, ...]
Key = Hashable


class Decimal(NamedTuple):
    """An exact decimal number: `unscaled * 10 ** -scale`."""

    unscaled: int
    scale: int

    def __str__(self) -> str:
        if self.scale == 0:
            return str(self.unscaled)
        digits = str(abs(self.unscaled)).rjust(self.scale + 1, "0")
        sign = "-" if self.unscaled < 0 else ""
        return f"{sign}{digits[: -self.scale]}.{digits[-self.scale :]}"

    def at_scale(self, scale: int) -> Decimal:
        """Return the same number with another scale. Raises ValueError if it would lose digits."""
        if scale >= self.scale:
            return Decimal(self.unscaled * 10 ** (scale - self.scale), scale)
        quotient, rest = divmod(self.unscaled, 10 ** (self.scale - scale))
        if rest:
            message = f"{self} does not fit scale {scale}"
            raise ValueError(message)
        return Decimal(quotient, scale)


class Variant(NamedTuple):
    """A variant: its metadata and its value, both binary."""

    metadata: bytes
    value: bytes


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows and their schema."""

    schema: Struct
    rows: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.rows)


def same_key(data_type: DataType, value: Value) -> Key:
    """Return a hashable key that is equal for two values exactly if they are the same stored value."""
    if value is None:
        return None
    match data_type:
        case Primitive(name="float" | "double"):
            return "nan" if math.isnan(value) else (value, math.copysign(1.0, value))
        case DecimalType(scale=scale):
            return Decimal(*value).at_scale(scale).unscaled
        case Struct(fields=fields):
            return tuple(_field_key(field, part) for field, part in zip(fields, value, strict=True))
        case Array(element=element):
            return tuple(same_key(element, part) for part in value)
        case Map(key=key_type, value=value_type):
            pairs = [(same_key(key_type, key), same_key(value_type, part)) for key, part in value]
            return tuple(sorted(pairs, key=repr))
    key: Key = value
    return key


def same(data_type: DataType, left: Value, right: Value) -> bool:
    """Whether two values of a type are the same stored value."""
    return same_key(data_type, left) == same_key(data_type, right)


def sql_equal(data_type: DataType, left: Value, right: Value) -> bool | None:
    """Whether two values are equal to a predicate; None (unknown) if one of them is null."""
    if left is None or right is None:
        return None
    return sql_key(data_type, left) == sql_key(data_type, right)


def sql_key(data_type: DataType, value: Value) -> Key:
    """Return a hashable key that is equal for two non-null values exactly if predicates find them equal."""
    match data_type:
        case Primitive(name="float" | "double") if value is not None:
            return "nan" if math.isnan(value) else value + 0.0
        case Struct(fields=fields) if value is not None:
            return tuple(sql_key(field.type, part) for field, part in zip(fields, value, strict=True))
        case Array(element=element) if value is not None:
            return tuple(sql_key(element, part) for part in value)
    return same_key(data_type, value)


def order_key(data_type: DataType, value: Value) -> Any:
    """Return a key that sorts non-null values of one type as SQL does.

    NaN is the largest number. Strings sort by their UTF-8 bytes.
    """
    match data_type:
        case Primitive(name="float" | "double"):
            return (1, 0.0) if math.isnan(value) else (0, value + 0.0)
        case Primitive(name="string"):
            return value.encode("utf-8", "surrogateescape")
        case DecimalType(scale=scale):
            return Decimal(*value).at_scale(scale).unscaled
        case Struct(fields=fields):
            return tuple(_nullable_order(field.type, part) for field, part in zip(fields, value, strict=True))
        case Array(element=element):
            return tuple(_nullable_order(element, part) for part in value)
    return value


def row_key(schema: Struct, row: Row) -> Key:
    """Return a hashable key that is equal for two rows exactly if they are the same stored row."""
    return same_key(schema, row)


def row_keyer(schema: Struct) -> Callable[[Row], Key]:
    """Return a function that gives the key of a row, for many rows of one schema.

    It converts only those columns whose values are not their own keys.
    """
    special = [
        (position, _keyer(field))
        for position, field in enumerate(schema.fields)
        if not _is_own_key(field.type) or width_of(field) is not None
    ]
    if not special:
        return tuple

    def key(row: Row) -> Key:
        parts = list(row)
        for position, column_key in special:
            if parts[position] is not None:
                parts[position] = column_key(parts[position])
        return tuple(parts)

    return key


def sql_keyer(data_type: DataType) -> Callable[[Value], Key]:
    """Return `sql_key` as a function of a non-null value, for many values of one type."""
    return _itself if _is_own_key(data_type) else partial(sql_key, data_type)


def order_keyer(data_type: DataType) -> Callable[[Value], Any]:
    """Return `order_key` as a function of a non-null value, for many values of one type."""
    if _is_own_key(data_type) and data_type != STRING:
        return _itself
    return partial(order_key, data_type)


def bag(schema: Struct, rows: Iterable[Row]) -> Counter[Key]:
    """Return how often each distinct row occurs."""
    return Counter(map(row_keyer(schema), rows))


def value_to_json(data_type: DataType, value: Value) -> Json:
    """Return the exact JSON form: longs and decimals as strings, doubles hexadecimal, binary in base64."""
    if value is None:
        return None
    match data_type:
        case Primitive(name="long" | "timestamp" | "timestamp_ntz"):
            return str(value)
        case Primitive(name="float" | "double"):
            return float(value).hex()
        case Primitive(name="binary"):
            return base64.b64encode(value).decode("ascii")
        case Primitive(name="variant"):
            return [base64.b64encode(part).decode("ascii") for part in value]
        case DecimalType():
            return str(Decimal(*value))
        case Struct(fields=fields):
            return [value_to_json(field.type, part) for field, part in zip(fields, value, strict=True)]
        case Array(element=element):
            return [value_to_json(element, part) for part in value]
        case Map(key=key_type, value=value_type):
            return [[value_to_json(key_type, key), value_to_json(value_type, part)] for key, part in value]
    form: Json = value
    return form


def value_from_json(data_type: DataType, form: Any) -> Value:
    """Return the value that `value_to_json` wrote as this form."""
    if form is None:
        return None
    match data_type:
        case Primitive(name="long" | "timestamp" | "timestamp_ntz"):
            return int(form)
        case Primitive(name="float" | "double"):
            return float.fromhex(form)
        case Primitive(name="binary"):
            return base64.b64decode(form)
        case Primitive(name="variant"):
            return Variant(*(base64.b64decode(part) for part in form))
        case DecimalType():
            return parse_decimal(form)
        case Struct(fields=fields):
            return tuple(value_from_json(field.type, part) for field, part in zip(fields, form, strict=True))
        case Array(element=element):
            return tuple(value_from_json(element, part) for part in form)
        case Map(key=key_type, value=value_type):
            return tuple(
                (value_from_json(key_type, key), value_from_json(value_type, part)) for key, part in form
            )
    return form


def parse_decimal(text: str) -> Decimal:
    """Return the decimal in a text of digits with an optional sign and point: `-12.50` is Decimal(-1250, 2)."""
    whole, _, fraction = text.partition(".")
    return Decimal(int(whole + fraction), len(fraction))


def to_single(value: float) -> float:
    """Return the nearest value that a 4-byte float can hold."""
    try:
        narrowed: float = binary_struct.unpack("<f", binary_struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return narrowed


def _is_own_key(data_type: DataType) -> bool:
    return isinstance(data_type, Primitive) and data_type.name not in {"float", "double"}


def _keyer(field: Field) -> Callable[[Value], Key]:
    if isinstance(field.type, DecimalType):
        scale = field.type.scale
        return lambda value: value[0] if value[1] == scale else Decimal(*value).at_scale(scale).unscaled
    return partial(_field_key, field)


def _field_key(field: Field, value: Value) -> Key:
    width = width_of(field)
    return same_key(field.type, value) if width is None or value is None else value.ljust(width)


def _itself(value: Value) -> Any:
    return value


def _nullable_order(data_type: DataType, value: Value) -> tuple[bool, Any]:
    return (value is not None, None if value is None else order_key(data_type, value))
