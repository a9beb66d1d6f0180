"""The JSON form of the vocabulary: one tagged object a frozen value, exact and stable enough to be kept for
years. The tags are those of `wire_names`.

`{"is": "Delete", "where": {"is": "IsNull", "operand": {"is": "Column", "path": ["id"]}}}`. Fields that hold
their default are left out, so a class may gain fields with defaults without a new format version. Sequences
are tuples, types take Delta's own JSON form, and the values in `Rows` and `Literal` are written as their type
demands.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from delta_models import expressions
from delta_models.schema import (
    Array,
    DataType,
    DecimalType,
    Field,
    Json,
    Map,
    Primitive,
    SchemaError,
    Struct,
    parse,
)
from delta_models.schema import to_json as type_to_json
from delta_models.values import Rows, value_from_json, value_to_json
from delta_models.wire_names import CLASSES, NAMES

FORMAT = 1


class CodecError(ValueError):
    """The JSON is no value of the vocabulary."""


TYPES = (Primitive, DecimalType, Array, Map, Struct)


def encode(value: Any) -> Json:
    """The JSON form of an operation, an outcome, an expression, or a tuple of such."""
    match value:
        case None | bool() | int() | str() | float():
            return value
        case Primitive() | DecimalType() | Array() | Map() | Struct():
            return {"is": "Type", "type": type_to_json(value)}
        case Field():
            return {"is": "Field", "of": type_to_json(Struct((value,)))}
        case Rows(schema=schema, rows=rows):
            return {
                "is": "Rows",
                "schema": type_to_json(schema),
                "rows": [value_to_json(schema, row) for row in rows],
            }
        case expressions.Literal(type=data_type, value=constant):
            return {
                "is": "Literal",
                "type": type_to_json(data_type),
                "value": value_to_json(data_type, constant),
            }
        case tuple():
            return [encode(element) for element in value]
    if (name := NAMES.get(type(value))) is not None:
        form: dict[str, Json] = {"is": name}
        for field in dataclasses.fields(value):
            part = getattr(value, field.name)
            if field.default is dataclasses.MISSING or part != field.default:
                form[field.name] = encode(part)
        return form
    message = f"{type(value).__name__} is not part of the vocabulary"
    raise CodecError(message)


def decode(form: Any) -> Any:
    """The inverse of `encode`; what it does not know is named in a CodecError."""
    match form:
        case list():
            return tuple(decode(element) for element in form)
        case {"is": str(name)}:
            parts = {key: part for key, part in form.items() if key != "is"}
            try:
                return _decode_tagged(name, parts)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                if isinstance(error, CodecError) and not isinstance(error, SchemaError):
                    raise
                message = f"malformed {name}: {error}"
                raise CodecError(message) from error
        case dict():
            message = f"an object without 'is': {sorted(form)[:8]}"
            raise CodecError(message)
    return form


def _decode_tagged(name: str, parts: dict[str, Any]) -> Any:
    if name == "Type":
        return parse(parts["type"])
    if name == "Field":
        wrapped = parse(parts["of"])
        if not isinstance(wrapped, Struct) or len(wrapped) != 1:
            raise CodecError("a field is written as a struct of one field")
        return wrapped.fields[0]
    if name == "Rows":
        schema = parse_struct(parts["schema"])
        return Rows(schema, tuple(value_from_json(schema, row) for row in parts["rows"]))
    if name == "Literal":
        data_type = parse(parts["type"])
        return expressions.Literal(data_type, value_from_json(data_type, parts["value"]))
    if name not in CLASSES:
        message = f"unknown kind {name!r}: written by a newer version of the harness?"
        raise CodecError(message)
    return CLASSES[name](**{key: decode(part) for key, part in parts.items()})


def parse_struct(form: Json) -> Struct:
    """A schema from its JSON form."""
    schema: DataType = parse(form)
    if not isinstance(schema, Struct):
        message = f"{schema} is no schema"
        raise CodecError(message)
    return schema
