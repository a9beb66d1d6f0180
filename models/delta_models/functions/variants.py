"""Functions of variants: follow a path into one and read the value there, by Parquet's binary encoding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from itertools import pairwise
from typing import Any

from delta_models.casts.explicit import NotConvertible, Unreadable, converter
from delta_models.functions.base import Apply, BadCall, Function, simple
from delta_models.schema import (
    BINARY,
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    DataType,
    DecimalType,
)
from delta_models.values import Decimal, Value, Variant

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")
_PRIMITIVE, _SHORT_TEXT, _OBJECT, _ARRAY = range(4)
_WHOLE = {
    3: (BYTE, 1),
    4: (SHORT, 2),
    5: (INTEGER, 4),
    6: (LONG, 8),
    11: (DATE, 4),
    12: (TIMESTAMP, 8),
    13: (TIMESTAMP_NTZ, 8),
}
_DECIMALS = {8: (9, 4), 9: (18, 8), 10: (38, 16)}


def path_steps(path: str) -> tuple[str | int, ...]:
    """Return the steps of a path such as `$.a[0]['b']`. Raises Unreadable."""
    if not path.startswith("$"):
        raise Unreadable(f"{path!r} is no path into a variant")
    steps: list[str | int] = []
    position = 1
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise Unreadable(f"{path!r} is no path into a variant")
        steps.append(int(match[2]) if match[2] is not None else match[1] or match[3] or match[4] or "")
        position = match.end()
    return tuple(steps)


def follow(variant: Variant, steps: Sequence[str | int]) -> Variant | None:
    """Return the variant at the end of a path; None if the path leads nowhere."""
    keys: tuple[str, ...] | None = None
    value = variant.value
    for step in steps:
        if isinstance(step, str):
            keys = dictionary(variant.metadata) if keys is None else keys
            inner = next((part for name, part in _members(value, keys) if name == step), None)
        else:
            inner = next((part for index, part in enumerate(_elements(value)) if index == step), None)
        if inner is None:
            return None
        value = inner
    return Variant(variant.metadata, value)


def dictionary(metadata: bytes) -> tuple[str, ...]:
    """Return the names in a variant's metadata."""
    width = (metadata[0] >> 6) + 1
    count = _unsigned(metadata, 1, width)
    start = 1 + width * (count + 2)
    offsets = [_unsigned(metadata, 1 + width * (1 + index), width) for index in range(count + 1)]
    return tuple(metadata[start + begin : start + end].decode() for begin, end in pairwise(offsets))


def scalar(variant: Variant) -> tuple[DataType, Value] | None:
    """Return type and value of a variant; None for an object or array. Raises Unreadable."""
    data = variant.value
    basic, kind = data[0] & 3, data[0] >> 2
    if basic == _SHORT_TEXT:
        return STRING, data[1 : 1 + kind].decode()
    if basic != _PRIMITIVE:
        return None
    if kind in _WHOLE:
        data_type, size = _WHOLE[kind]
        return data_type, int.from_bytes(data[1 : 1 + size], "little", signed=True)
    if kind in _DECIMALS:
        precision, size = _DECIMALS[kind]
        unscaled = int.from_bytes(data[2 : 2 + size], "little", signed=True)
        return DecimalType(precision, data[1]), Decimal(unscaled, data[1])
    return _other_scalar(kind, data)


def _other_scalar(kind: int, data: bytes) -> tuple[DataType, Value]:
    import struct  # noqa: PLC0415 - the name means something else all around

    match kind:
        case 0:
            return VOID, None
        case 1 | 2:
            return BOOLEAN, kind == 1
        case 7:
            return DOUBLE, struct.unpack("<d", data[1:9])[0]
        case 14:
            return FLOAT, struct.unpack("<f", data[1:5])[0]
        case 15 | 16:
            content = data[5 : 5 + _unsigned(data, 1, 4)]
            return (BINARY, content) if kind == 15 else (STRING, content.decode())
    raise Unreadable(f"a variant of the primitive kind {kind}")


def _members(data: bytes, keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    if data[0] & 3 != _OBJECT:
        return
    header = data[0] >> 2
    offset_width, id_width, large = (header & 3) + 1, (header >> 2 & 3) + 1, header >> 4 & 1
    count_width = 4 if large else 1
    count = _unsigned(data, 1, count_width)
    ids = 1 + count_width
    offsets = ids + count * id_width
    values = offsets + (count + 1) * offset_width
    for index in range(count):
        name = keys[_unsigned(data, ids + index * id_width, id_width)]
        yield name, data[values + _unsigned(data, offsets + index * offset_width, offset_width) :]


def _elements(data: bytes) -> Iterator[bytes]:
    if data[0] & 3 != _ARRAY:
        return
    header = data[0] >> 2
    width, count_width = (header & 3) + 1, 4 if header >> 2 & 1 else 1
    count = _unsigned(data, 1, count_width)
    offsets = 1 + count_width
    values = offsets + (count + 1) * width
    for index in range(count):
        yield data[values + _unsigned(data, offsets + index * width, width) :]


def _unsigned(data: bytes, offset: int, width: int) -> int:
    return int.from_bytes(data[offset : offset + width], "little")


def _get(*, attempt: bool) -> Function:
    def make(_types: Sequence[DataType], result: DataType, zone: tzinfo) -> Apply:
        def apply(variant: Variant, path: str, _type: str = "") -> Any:
            target = follow(Variant(*variant), path_steps(path))
            if target is None or result == VARIANT:
                return target
            plain = scalar(target)
            if plain is None:
                raise BadCall(f"an object or array of a variant is no {result}")
            try:
                return converter(plain[0], result, zone)(plain[1])
            except (NotConvertible, ValueError):
                if attempt:
                    return None
                raise

        return apply

    return Function((VARIANT, STRING, STRING), lambda _: VARIANT, make, optional=1)


def _is_null(variant: Variant | None) -> bool:
    return variant is not None and scalar(Variant(*variant)) == (VOID, None)


FUNCTIONS: dict[str, Function] = {
    "variant_get": _get(attempt=False),
    "try_variant_get": _get(attempt=True),
    "is_variant_null": simple((VARIANT,), BOOLEAN, _is_null, strict=False),
}
