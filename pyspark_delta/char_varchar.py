"""CHAR and VARCHAR, also inside of arrays, maps and structs: refuse texts that are too long, pad or cut the others.

Readers see such columns as strings. The declared type is in the metadata of the column, as Spark writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, CharType, DataType, MapType, StructField, StructType, VarcharType

from pyspark_delta import sql_text

__all__ = ["declared_type", "too_long_condition", "with_fitted_lengths"]

DECLARED = "__CHAR_VARCHAR_TYPE_STRING"

_LENGTH = re.compile(r"(char|varchar)\((\d+)\)", re.IGNORECASE)


def declared_type(field: StructField) -> DataType | None:
    """The column's type with CHAR and VARCHAR in it; None if there is none, or if the metadata does not fit."""
    if isinstance(field.dataType, CharType | VarcharType):
        return field.dataType
    text = (field.metadata or {}).get(DECLARED)
    if text is not None:
        parsed = _parse_type(str(text).strip(), field.dataType)
        return None if parsed is None or parsed[1] else parsed[0]
    return field.dataType if _has_lengths(field.dataType) else None


def too_long_condition(reference: str, data_type: DataType, depth: int = 0) -> str | None:
    """A SQL condition that is true if a value contains a text that is too long; None if its type has no limit."""
    if isinstance(data_type, CharType | VarcharType):
        # Trailing spaces do not count: surplus ones are cut off.
        return f"char_length(rtrim({reference})) > {data_type.length}"
    if isinstance(data_type, ArrayType):
        element = f"e{depth}"
        inside = too_long_condition(element, data_type.elementType, depth + 1)
        return None if inside is None else f"exists({reference}, {element} -> coalesce({inside}, false))"
    if isinstance(data_type, MapType):
        entry = f"m{depth}"
        sides = (
            ("map_keys", too_long_condition(entry, data_type.keyType, depth + 1)),
            ("map_values", too_long_condition(entry, data_type.valueType, depth + 1)),
        )
        parts = [
            f"exists({of}({reference}), {entry} -> coalesce({inside}, false))"
            for of, inside in sides
            if inside
        ]
    elif isinstance(data_type, StructType):
        conditions = (too_long_condition(*_part(reference, field), depth) for field in data_type.fields)
        parts = [f"coalesce({inside}, false)" for inside in conditions if inside]
    else:
        return None
    return f"({' or '.join(parts)})" if parts else None


def with_fitted_lengths(frame: DataFrame, schema: StructType) -> DataFrame:
    """The frame with CHAR texts padded to their length and VARCHAR texts cut to theirs."""
    types = {
        field.name: data_type for field in schema.fields if (data_type := declared_type(field)) is not None
    }
    if not types:
        return frame
    return frame.selectExpr(
        *(
            f"{_fitted_expression(sql_text.name(name), types[name], 0)} as {sql_text.name(name)}"
            if name in types
            else sql_text.name(name)
            for name in frame.columns
        )
    )


def _fitted_expression(reference: str, data_type: DataType, depth: int) -> str:
    if not _has_lengths(data_type):
        return reference
    if isinstance(data_type, CharType):
        return f"rpad({reference}, {data_type.length}, ' ')"
    if isinstance(data_type, VarcharType):
        return f"substring({reference}, 1, {data_type.length})"
    if isinstance(data_type, ArrayType):
        element = f"e{depth}"
        return f"transform({reference}, {element} -> {_fitted_expression(element, data_type.elementType, depth + 1)})"
    if isinstance(data_type, MapType):
        key, value = f"k{depth}", f"v{depth}"
        expression = reference
        if _has_lengths(data_type.keyType):
            new = _fitted_expression(key, data_type.keyType, depth + 1)
            expression = f"transform_keys({expression}, ({key}, {value}) -> {new})"
        if _has_lengths(data_type.valueType):
            new = _fitted_expression(value, data_type.valueType, depth + 1)
            expression = f"transform_values({expression}, ({key}, {value}) -> {new})"
        return expression
    assert isinstance(data_type, StructType)  # noqa: S101 - nothing else has types inside
    parts = ", ".join(
        f"{sql_text.literal(field.name)}, {_fitted_expression(*_part(reference, field), depth)}"
        for field in data_type.fields
    )
    return f"if({reference} is null, null, named_struct({parts}))"


def _part(reference: str, field: StructField) -> tuple[str, DataType]:
    return f"{reference}.{sql_text.name(field.name)}", declared_type(field) or field.dataType


def _has_lengths(data_type: DataType) -> bool:
    if isinstance(data_type, ArrayType):
        return _has_lengths(data_type.elementType)
    if isinstance(data_type, MapType):
        return _has_lengths(data_type.keyType) or _has_lengths(data_type.valueType)
    if isinstance(data_type, StructType):
        return any(declared_type(field) is not None for field in data_type.fields)
    return isinstance(data_type, CharType | VarcharType)


def _parse_type(text: str, like: DataType) -> tuple[DataType, str] | None:
    """The type at the beginning of a text and the rest of the text; the type equals `like` except for lengths."""
    if match := _LENGTH.match(text):
        kind: Callable[[int], DataType] = CharType if match[1].lower() == "char" else VarcharType
        return kind(int(match[2])), text[match.end() :]
    if isinstance(like, ArrayType):
        inside = _parse_type(text[6:], like.elementType) if text.lower().startswith("array<") else None
        return None if inside is None else _close_bracket(ArrayType(inside[0], like.containsNull), inside[1])
    if isinstance(like, MapType):
        key = _parse_type(text[4:], like.keyType) if text.lower().startswith("map<") else None
        value = _parse_type(key[1][1:], like.valueType) if key and key[1].startswith(",") else None
        if key is None or value is None:
            return None
        return _close_bracket(MapType(key[0], value[0], like.valueContainsNull), value[1])
    if isinstance(like, StructType):
        return _parse_struct(text, like)
    plain = like.simpleString()
    return (like, text[len(plain) :]) if text.lower().startswith(plain.lower()) else None


def _parse_struct(text: str, like: StructType) -> tuple[DataType, str] | None:
    if not text.lower().startswith("struct<"):
        return None
    rest = text[6:]
    fields = []
    for field in like.fields:
        spelled = next(
            (name for name in (field.name, sql_text.name(field.name)) if rest[1:].startswith(f"{name}:")),
            None,
        )
        parsed = None if spelled is None else _parse_type(rest[len(spelled) + 2 :], field.dataType)
        if parsed is None:
            return None
        fields.append(StructField(field.name, parsed[0], field.nullable))
        rest = parsed[1]
    return _close_bracket(StructType(fields), rest)


def _close_bracket(data_type: DataType, rest: str) -> tuple[DataType, str] | None:
    return (data_type, rest[1:]) if rest.startswith(">") else None
