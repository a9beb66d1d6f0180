"""The values of every type: nested types, and those that only some table profiles draw, beside the primitive ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

from conformance.generation.values import primitive
from delta_models import variants
from delta_models.schema import VARIANT, VOID, Array, DataType, DecimalType, Map, Primitive, Struct
from delta_models.values import Decimal, Value

LARGEST_FLOAT = 3.4028234663852886e38
SMALLEST_FLOAT = 1.401298464324817e-45

# A variant that is null is a value; widths of numbers change at the limits, and a text of 64 bytes is no short one.
_VARIANTS: tuple[Value, ...] = (
    None, {}, [], "", 127, 128, -32769, 2**31, -(2**63), Decimal(-1250, 2), Decimal(10**37, 0), "x" * 63, "x" * 64,
    {"b": {"c": [None, {}]}, "a": ["é", False]}, {"": 1, "A": 2, "a": 3}, list(range(300)),
    variants.Scalar(variants.DATE, (-719_162).to_bytes(4, "little", signed=True)),
    variants.Scalar(variants.TIMESTAMP, (-1).to_bytes(8, "little", signed=True)),
    variants.Scalar(variants.BINARY, b"\x02\x00\x00\x00\x00\xff"),
)  # fmt: skip
_PLAIN: dict[str, tuple[Value, ...]] = {
    "byte": (0, 1, 2, 3, 7),
    "short": (0, 1, 2, 3, 300),
    "float": (0.0, 1.0, 2.5, -1.5, 1024.0),
    "binary": (b"a", b"b", b"ab", b"\x00\xff"),
    "timestamp_ntz": primitive.PLAIN["timestamp"],
    "variant": tuple(map(variants.encode, (1, "a", {"a": 1, "b": "x"}, [1, 2], True))),
    "void": (None,),
}
_SPECIAL: dict[str, tuple[Value, ...]] = {
    "byte": (-1, 127, -128),
    "short": (-1, 32767, -32768),
    "float": (math.inf, -math.inf, LARGEST_FLOAT, -LARGEST_FLOAT, SMALLEST_FLOAT, 16777216.0),
    "binary": (b"", b"\x00", b"\x80\x81", bytes(range(40))),
    "timestamp_ntz": primitive.SPECIAL["timestamp"],
    "variant": tuple(map(variants.encode, _VARIANTS)),
    "void": (None,),
}


def plain_values(data_type: DataType) -> tuple[Value, ...]:
    """Return ordinary values of any type, the simplest first."""
    match data_type:
        case Struct(fields=fields):
            columns = [plain_values(field.type) for field in fields]
            return tuple(tuple(_cycle(part, index) for part in columns) for index in range(3))
        case Array(element=element):
            inside = plain_values(element)
            return ((_cycle(inside, 0),), (_cycle(inside, 1), _cycle(inside, 0)), ())
        case Map(key=key, value=value):
            keys, parts = plain_values(key), plain_values(value)
            pairs = tuple((_cycle(keys, index), _cycle(parts, index)) for index in range(2))
            return (pairs[:1], pairs, ())
        case Primitive(name=name) if name in _PLAIN:
            return _PLAIN[name]
    return primitive.plain_values(data_type)


# Before the year 1 and after 9999, where texts of dates have a sign, or more digits than four. Moments so far away that
# microseconds, or Spark's old way to store them, end are left out: engines have no such values.
_FAR: dict[str, tuple[Value, ...]] = {
    "date": (-719_163, -1_000_000, 2_932_897, 80_000_000),
    "timestamp": (-62_135_596_800_000_001, -(10**17), 253_402_300_800_000_000, 5 * 10**18),
}
_FAR["timestamp_ntz"] = _FAR["timestamp"]


def far_values(data_type: DataType) -> tuple[Value, ...]:
    """Return days and times beyond the years 1 to 9999, if the type has such."""
    return _FAR.get(data_type.name, ()) if isinstance(data_type, Primitive) else ()


def special_values(data_type: DataType, *, strange: bool, hostile: bool) -> tuple[Value, ...]:
    """Return values at the limits of any type; in nested ones there are nulls wherever one may be."""
    match data_type:
        case Struct(fields=fields):
            columns = [special_values(field.type, strange=False, hostile=hostile) for field in fields]
            nulls = tuple(None for _ in fields)
            return (
                nulls,
                tuple(_cycle(part, 0) for part in columns),
                tuple(_cycle(part, len(part) - 1) for part in columns),
            )
        case Array(element=element):
            inside = special_values(element, strange=False, hostile=hostile)
            return ((None,), (_cycle(inside, 0), None, _cycle(inside, 1)))
        case Map(key=key, value=value):
            keys = plain_values(key)
            parts = special_values(value, strange=False, hostile=hostile)
            return (
                ((_cycle(keys, 0), None),),
                ((_cycle(keys, 1), _cycle(parts, 0)), (_cycle(keys, 2), None)),
            )
        case Primitive(name=name) if name in _SPECIAL:
            return _SPECIAL[name]
    return primitive.special_values(data_type, strange=strange, hostile=hostile)


def has_literals(data_type: DataType) -> bool:
    """Whether engines have constants of a type."""
    return not isinstance(data_type, Struct | Array | Map) and data_type not in {VARIANT, VOID}


def is_comparable(data_type: DataType) -> bool:
    """Whether predicates compare values of a type.

    Engines order nested values differently, and not all have literals of binaries.
    """
    return isinstance(data_type, DecimalType) or (
        isinstance(data_type, Primitive) and data_type.name not in {"binary", "variant", "void"}
    )


def _cycle(options: Sequence[Value], index: int) -> Value:
    return options[index % len(options)]
