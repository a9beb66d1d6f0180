"""Decode and encode variants, with one canonical encoding for each value.

A variant is stored as a dictionary of names (`metadata`) and a tree (`value`), in the Parquet project's "Variant Binary
Encoding". One value has many encodings: the dictionary may hold unused names, and offsets and numbers may be wider than
needed. `canonical` gives one encoding for all of them, so that variants can be compared as bytes.

Trees are plain Python values:

    null None, booleans bool, whole numbers int, decimals Decimal, strings str, objects dict, arrays list,
    and everything else `Scalar(kind, payload)` with the bytes as they are stored
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from delta_models.values import Decimal, Variant

Tree = Any
_PRIMITIVE, _SHORT_STRING, _OBJECT, _ARRAY = range(4)
_WHOLE = {3: 1, 4: 2, 5: 4, 6: 8}
_DECIMAL = {8: 4, 9: 8, 10: 16}
_FIXED = {7: 8, 11: 4, 12: 8, 13: 8, 14: 4, 17: 8, 18: 8, 19: 8, 20: 16}
_BINARY, _STRING = 15, 16
DOUBLE, DATE, TIMESTAMP, TIMESTAMP_NTZ, FLOAT, BINARY = 7, 11, 12, 13, 14, 15
_SHORT_STRING_LIMIT = 64
_WIDE_COUNT = 256


class Scalar(NamedTuple):
    """A primitive in its stored bytes; `kind` is its number in the encoding."""

    kind: int
    payload: bytes


class MalformedVariant(ValueError):
    """The bytes are not a variant."""


def canonical(variant: Variant) -> Variant:
    """Return the canonical encoding of the variant's value. Raises MalformedVariant."""
    return encode(decode(variant))


def decode(variant: Variant) -> Tree:
    """Return the tree in a variant. Raises MalformedVariant."""
    try:
        names = decode_names(variant.metadata)
        tree, _ = _decode(variant.value, 0, names)
    except (IndexError, struct.error, UnicodeDecodeError, RecursionError) as error:
        raise MalformedVariant(f"not a variant: {error}") from error
    return tree


def decode_names(metadata: bytes) -> list[str]:
    """Return the dictionary of names. Raises MalformedVariant."""
    header = metadata[0]
    if header & 0x0F != 1:
        raise MalformedVariant(f"variants of version {header & 0x0F} are unknown")
    width = (header >> 6) + 1
    count = _number(metadata, 1, width)
    start = 1 + width * (count + 2)
    offsets = [_number(metadata, 1 + width * (index + 1), width) for index in range(count + 1)]
    return [metadata[start + begin : start + end].decode("utf-8") for begin, end in pairwise(offsets)]


def split(data: bytes) -> Variant:
    """Return the variant whose metadata and value were concatenated. Raises MalformedVariant.

    The metadata comes first, except that an object may come before its metadata. The first byte tells which.
    """
    if not data:
        raise MalformedVariant("a variant ends too early")
    if data[0] & 3 == _OBJECT:
        end = _object_end(data)
        return Variant(data[end:], data[:end])
    width = (data[0] >> 6) + 1
    count = _number(data, 1, width)
    end = 1 + width * (count + 2) + _number(data, 1 + width * (count + 1), width)
    return Variant(data[:end], data[end:])


def encode(tree: Tree) -> Variant:
    """Return the canonical encoding of a tree."""
    names = sorted(set(_names(tree)))
    return Variant(_encode_names(names), _encode(tree, {name: index for index, name in enumerate(names)}))


def _number(data: bytes, offset: int, width: int) -> int:
    part = data[offset : offset + width]
    if len(part) != width:
        raise MalformedVariant("a variant ends too early")
    return int.from_bytes(part, "little")


def _decode(data: bytes, position: int, names: list[str]) -> tuple[Tree, int]:
    basic, header = data[position] & 3, data[position] >> 2
    if basic == _PRIMITIVE:
        return _decode_primitive(data, position + 1, header)
    if basic == _SHORT_STRING:
        return _text(data, position + 1, header), position + 1 + header
    wide = 4 if header >> (4 if basic == _OBJECT else 2) & 1 else 1
    width = (header & 3) + 1
    count = _number(data, position + 1, wide)
    start = position + 1 + wide
    keys: list[str] = []
    if basic == _OBJECT:
        size = (header >> 2 & 3) + 1
        keys = [names[_number(data, start + size * index, size)] for index in range(count)]
        start += size * count
    offsets = [_number(data, start + width * index, width) for index in range(count + 1)]
    base = start + width * (count + 1)
    parts = [_decode(data, base + offset, names)[0] for offset in offsets[:count]]
    end = base + max(offsets, default=0)
    return (dict(zip(keys, parts, strict=True)) if basic == _OBJECT else parts), end


def _object_end(data: bytes) -> int:
    header = data[0] >> 2
    wide, size, width = 4 if header >> 4 & 1 else 1, (header >> 2 & 3) + 1, (header & 3) + 1
    count = _number(data, 1, wide)
    start = 1 + wide + size * count
    offsets = [_number(data, start + width * index, width) for index in range(count + 1)]
    return start + width * (count + 1) + max(offsets)


def _decode_primitive(data: bytes, start: int, kind: int) -> tuple[Tree, int]:
    if kind in {0, 1, 2}:
        return (None, True, False)[kind], start
    if kind in _WHOLE:
        width = _WHOLE[kind]
        return int.from_bytes(_bytes(data, start, width), "little", signed=True), start + width
    if kind in _DECIMAL:
        width = _DECIMAL[kind]
        unscaled = int.from_bytes(_bytes(data, start + 1, width), "little", signed=True)
        return Decimal(unscaled, data[start]), start + 1 + width
    if kind in {_BINARY, _STRING}:
        length = _number(data, start, 4)
        if kind == _STRING:
            return _text(data, start + 4, length), start + 4 + length
        return Scalar(kind, _bytes(data, start + 4, length)), start + 4 + length
    if kind in _FIXED:
        return Scalar(kind, _bytes(data, start, _FIXED[kind])), start + _FIXED[kind]
    raise MalformedVariant(f"variants have no primitive {kind}")


def _bytes(data: bytes, start: int, length: int) -> bytes:
    part = data[start : start + length]
    if len(part) != length:
        raise MalformedVariant("a variant ends too early")
    return part


def _text(data: bytes, start: int, length: int) -> str:
    return _bytes(data, start, length).decode("utf-8")


def _names(tree: Tree) -> Iterator[str]:
    if isinstance(tree, dict):
        for name, part in tree.items():
            yield name
            yield from _names(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from _names(part)


def _width(number: int) -> int:
    return max(1, (number.bit_length() + 7) // 8)


def _encode_names(names: list[str]) -> bytes:
    texts = [name.encode("utf-8") for name in names]
    offsets = [0]
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    width = _width(max(offsets[-1], len(names)))
    header = 1 | (1 << 4 if names else 0) | (width - 1) << 6
    numbers = b"".join(number.to_bytes(width, "little") for number in (len(names), *offsets))
    return bytes([header]) + numbers + b"".join(texts)


def _encode(tree: Tree, ids: dict[str, int]) -> bytes:
    match tree:
        case None:
            return b"\x00"
        case bool():
            return bytes([(1 if tree else 2) << 2])
        case Scalar(kind, payload):
            length = len(payload).to_bytes(4, "little") if kind == _BINARY else b""
            return bytes([kind << 2]) + length + payload
        case Decimal(unscaled, scale):
            kind, width = next(
                (k, w) for k, w in _DECIMAL.items() if -(1 << 8 * w - 1) <= unscaled < 1 << 8 * w - 1
            )
            return bytes([kind << 2, scale]) + unscaled.to_bytes(width, "little", signed=True)
        case int():
            kind, width = next(
                (k, w) for k, w in _WHOLE.items() if -(1 << 8 * w - 1) <= tree < 1 << 8 * w - 1
            )
            return bytes([kind << 2]) + tree.to_bytes(width, "little", signed=True)
        case str():
            text = tree.encode("utf-8")
            if len(text) < _SHORT_STRING_LIMIT:
                return bytes([len(text) << 2 | _SHORT_STRING]) + text
            return bytes([_STRING << 2]) + len(text).to_bytes(4, "little") + text
        case dict():
            keys = sorted(tree, key=lambda name: name.encode("utf-8"))
            size = _width(max((ids[key] for key in keys), default=0))
            parts = [_encode(tree[key], ids) for key in keys]
            numbers = b"".join(ids[key].to_bytes(size, "little") for key in keys)
            return _container(_OBJECT, parts, numbers, size)
        case list():
            return _container(_ARRAY, [_encode(part, ids) for part in tree], b"", 1)
    raise TypeError(f"a variant holds no {type(tree).__name__}")


def _container(basic: int, parts: list[bytes], numbers: bytes, size: int) -> bytes:
    offsets = [0]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    width = _width(offsets[-1])
    wide = len(parts) >= _WIDE_COUNT
    header = width - 1
    if basic == _OBJECT:
        header |= (size - 1) << 2 | wide << 4
    else:
        header |= wide << 2
    count = len(parts).to_bytes(4 if wide else 1, "little")
    ends = b"".join(offset.to_bytes(width, "little") for offset in offsets)
    return bytes([header << 2 | basic]) + count + numbers + ends + b"".join(parts)
