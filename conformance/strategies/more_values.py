"""Values of every type: those of `values`, and of the types that only some table profiles draw."""

from __future__ import annotations

import math
from collections.abc import Sequence

from conformance.strategies import values
from delta_models.schema import Array, DataType, DecimalType, Map, Primitive, Struct
from delta_models.values import Value

LARGEST_FLOAT = 3.4028234663852886e38
SMALLEST_FLOAT = 1.401298464324817e-45

_PLAIN: dict[str, tuple[Value, ...]] = {
    "byte": (0, 1, 2, 3, 7),
    "short": (0, 1, 2, 3, 300),
    "float": (0.0, 1.0, 2.5, -1.5, 1024.0),
    "binary": (b"a", b"b", b"ab", b"\x00\xff"),
    "timestamp_ntz": values.PLAIN["timestamp"],
}
_SPECIAL: dict[str, tuple[Value, ...]] = {
    "byte": (-1, 127, -128),
    "short": (-1, 32767, -32768),
    "float": (math.inf, -math.inf, LARGEST_FLOAT, -LARGEST_FLOAT, SMALLEST_FLOAT, 16777216.0),
    "binary": (b"", b"\x00", b"\x80\x81", bytes(range(40))),
    "timestamp_ntz": values.SPECIAL["timestamp"],
}


def plain_values(data_type: DataType) -> tuple[Value, ...]:
    """Ordinary values of any type, the simplest first."""
    match data_type:
        case Struct(fields=fields):
            columns = [plain_values(each.type) for each in fields]
            return tuple(tuple(_at(part, at) for part in columns) for at in range(3))
        case Array(element=element):
            inside = plain_values(element)
            return ((_at(inside, 0),), (_at(inside, 1), _at(inside, 0)), ())
        case Map(key=key, value=value):
            keys, parts = plain_values(key), plain_values(value)
            pairs = tuple((_at(keys, at), _at(parts, at)) for at in range(2))
            return (pairs[:1], pairs, ())
        case Primitive(name=name) if name in _PLAIN:
            return _PLAIN[name]
    return values.plain_values(data_type)


def special_values(data_type: DataType, *, strange: bool, hostile: bool) -> tuple[Value, ...]:
    """Values at the limits of any type; inside containers nulls wherever one may stand."""
    match data_type:
        case Struct(fields=fields):
            columns = [special_values(each.type, strange=False, hostile=hostile) for each in fields]
            nulls = tuple(None for _ in fields)
            return (
                nulls,
                tuple(_at(part, 0) for part in columns),
                tuple(_at(part, len(part) - 1) for part in columns),
            )
        case Array(element=element):
            inside = special_values(element, strange=False, hostile=hostile)
            return ((None,), (_at(inside, 0), None, _at(inside, 1)))
        case Map(key=key, value=value):
            keys = plain_values(key)
            parts = special_values(value, strange=False, hostile=hostile)
            return (((_at(keys, 0), None),), ((_at(keys, 1), _at(parts, 0)), (_at(keys, 2), None)))
        case Primitive(name=name) if name in _SPECIAL:
            return _SPECIAL[name]
    return values.special_values(data_type, strange=strange, hostile=hostile)


def is_comparable(data_type: DataType) -> bool:
    """Whether predicates compare values of a type: in containers engines see different orders, binaries have no
    literal everywhere."""
    return isinstance(data_type, DecimalType) or (
        isinstance(data_type, Primitive) and data_type.name not in {"binary", "variant", "void"}
    )


def _at(options: Sequence[Value], at: int) -> Value:
    return options[at % len(options)]
