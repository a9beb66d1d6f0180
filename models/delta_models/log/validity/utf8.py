"""Texts are UTF-8. Parquet has their bytes only, and an engine that casts bytes to a text may let others in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delta_models.schema import STRING, Array, DataType, Map, Struct
from delta_models.values import Row, Value


def foreign_texts(schema: Struct, rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """The columns that hold a text that is no UTF-8, and the first such text of each."""
    for at, field in enumerate(schema):
        if not holds_texts(field.type):
            continue
        found = next(
            (text for row in rows for text in _texts(field.type, row[at]) if not _is_utf8(text)), None
        )
        if found is not None:
            yield field.name, found


def holds_texts(data_type: DataType) -> bool:
    """Whether values of a type are texts, or have some inside."""
    match data_type:
        case Struct(fields=fields):
            return any(holds_texts(field.type) for field in fields)
        case Array(element=element):
            return holds_texts(element)
        case Map(key=key, value=value):
            return holds_texts(key) or holds_texts(value)
    return data_type == STRING


def _texts(data_type: DataType, value: Value) -> Iterator[str]:
    if value is None:
        return
    match data_type:
        case Struct(fields=fields):
            for field, part in zip(fields, value, strict=True):
                yield from _texts(field.type, part)
        case Array(element=element):
            for part in value:
                yield from _texts(element, part)
        case Map(key=key_type, value=value_type):
            for key, part in value:
                yield from _texts(key_type, key)
                yield from _texts(value_type, part)
        case _ if data_type == STRING:
            yield value


def _is_utf8(text: str) -> bool:
    """Bytes that are none were read as surrogates, which UTF-8 has no form for."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
