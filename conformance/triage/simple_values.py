"""The simplest values of each type, and simpler ones than a given value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from delta_models.schema import Array, DataType, DecimalType, Map, Primitive, Struct
from delta_models.values import Decimal, Value, same_key

DAY = 86_400_000_000
_PLAIN: dict[str, tuple[Value, ...]] = {
    "boolean": (False, True),
    "byte": (0, 1, 2, 3), "short": (0, 1, 2, 3), "integer": (0, 1, 2, 3), "long": (0, 1, 2, 3),
    "float": (0.0, 1.0, 2.0), "double": (0.0, 1.0, 2.0),
    "string": ("a", "b", "c"), "binary": (b"a", b"b", b"c"),
    "date": (0, 1, 2), "timestamp": (0, DAY, 2 * DAY), "timestamp_ntz": (0, DAY, 2 * DAY),
}  # fmt: skip
_LIMITS = {
    "byte": 2**7 - 1, "short": 2**15 - 1, "integer": 2**31 - 1, "long": 2**63 - 1,
    "date": 2_932_896, "timestamp": 253_402_300_799_999_999, "timestamp_ntz": 253_402_300_799_999_999,
}  # fmt: skip
_ROUND_FLOATS = (10.0, 0.5, 0.1, 1e7, 1e16, 1e17, 1e39, 1e300, 1e-7, 1e-300, math.inf)
_MOST = 12  # letters of a text of which each is left out alone


def plain_values(data_type: DataType) -> tuple[Value, ...]:
    """A few plain values of a type, the simplest first; none of a type that has no plain ones."""
    plain: tuple[Value, ...] = ()
    match data_type:
        case Primitive(name=name):
            plain = _PLAIN.get(name, ())
        case DecimalType(precision=precision, scale=scale):
            one = 10**scale if precision > scale else 1
            plain = tuple(Decimal(number * one, scale) for number in range(3))
        case Struct(fields=fields):
            parts = [plain_values(field.type) for field in fields]
            plain = tuple(tuple(_at(values, number) for values in parts) for number in range(2))
        case Array(element=element):
            plain = ((), *((value,) for value in plain_values(element)[:2]))
        case Map(key=key, value=value_type):
            pairs = list(zip(plain_values(key), plain_values(value_type), strict=False))
            plain = ((), *((pair,) for pair in pairs[:1]))
    return plain


def _at(values: tuple[Value, ...], number: int) -> Value:
    return values[number] if number < len(values) else None


def simplest(data_type: DataType) -> Value:
    """The simplest value of a type; None if it has no plain one."""
    return next(iter(plain_values(data_type)), None)


def simpler_values(data_type: DataType, value: Value) -> Iterator[Value]:
    """Values that are simpler than this one, the simplest first. Null is simpler than all but the simplest."""
    plain = plain_values(data_type)
    places = {same_key(data_type, one): place for place, one in enumerate(plain)}
    place = None if value is None else places.get(same_key(data_type, value))
    if value is None:
        yield from plain[:1]
        return
    yield from plain[:place]
    if place != 0:
        yield None
    if place is None:
        yield from _smaller(data_type, value)


def _smaller(data_type: DataType, value: Any) -> Iterator[Value]:
    match data_type:
        case Primitive(name=name) if name in _LIMITS:
            yield from _rounder_numbers(value, _LIMITS[name])
        case Primitive(name="float" | "double"):
            yield from _rounder_floats(value)
        case DecimalType(precision=precision, scale=scale):
            yield from (
                Decimal(number, scale) for number in _rounder_numbers(value.unscaled, 10**precision - 1)
            )
        case Primitive(name="string"):
            yield from _smaller_sequences(value, "a")
        case Primitive(name="binary"):
            yield from _smaller_sequences(value, b"a")
        case Array(element=element):
            for number in range(len(value)):
                yield (*value[:number], *value[number + 1 :])
            yield from _simpler_parts([element] * len(value), value)
        case Map():
            for number in range(len(value)):
                yield (*value[:number], *value[number + 1 :])
        case Struct(fields=fields):
            yield from _simpler_parts([field.type for field in fields], value)


def _rounder_numbers(number: int, limit: int) -> Iterator[int]:
    """The positive number, then powers of ten and their neighbours, then numbers with fewer digits that are not zero.

    So numbers of two histories in which one fault shows become the same number.
    """
    sign, size = (-1 if number < 0 else 1), abs(number)
    if sign < 0:
        yield size
    digits = len(str(size))
    for exponent in range(1, digits + 1):
        for near in (10**exponent, 10**exponent + 1, 10**exponent - 1):
            if near == size:
                return
            if near <= limit:
                yield sign * near
    for kept in range(1, len(str(size).rstrip("0"))):
        unit = 10 ** (digits - kept)
        for rounded in (size // unit * unit, (size // unit + 1) * unit):
            if rounded <= limit:
                yield sign * rounded


def _rounder_floats(value: float) -> Iterator[float]:
    if math.isnan(value):
        return
    if value < 0:
        yield -value
    for near in _ROUND_FLOATS:
        if near == abs(value):
            return
        yield math.copysign(near, value)


def _smaller_sequences(text: Any, plain: Any) -> Iterator[Any]:
    """Shorter texts, and texts with a plain letter in place of another."""
    many = len(text)
    if many > 1:
        yield text[: many // 2]
        yield text[many // 2 :]
    if many <= _MOST:
        if many > 1:
            yield from (text[:place] + text[place + 1 :] for place in range(many))
        for place in range(many):
            if text[place : place + 1] != plain:
                yield text[:place] + plain + text[place + 1 :]


def _simpler_parts(types: list[DataType], parts: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
    for number, (data_type, part) in enumerate(zip(types, parts, strict=True)):
        for simpler in simpler_values(data_type, part):
            yield (*parts[:number], simpler, *parts[number + 1 :])
