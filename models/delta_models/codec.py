"""Convert operations, outcomes and expressions to JSON and back.

Each frozen value becomes one tagged object, and the tags are those of `wire_names`:
`{"is": "Delete", "where": {"is": "IsNull", "operand": {"is": "Column", "path": ["id"]}}}`.

The form is exact and stable, because files in it are kept for years. Fields that hold their default are left out, so a
class may gain fields with defaults without a new format version. Sequences are tuples. Types take Delta's own JSON
form. The values in `Rows` and `Literal` are written in the form of their type.
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
    """The JSON is not a value of the vocabulary."""


TYPES = (Primitive, DecimalType, Array, Map, Struct)


def encode(value: Any) -> Json:
    """Return the JSON form of an operation, an outcome, an expression, or a tuple of them.

    Raises CodecError for any other value.
    """
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
    """Return the value that `encode` wrote as this JSON form.

    Raises CodecError for a form that is malformed or has an unknown tag.
    """
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
    """Return the schema that a JSON form describes. Raises CodecError if it describes another type."""
    schema: DataType = parse(form)
    if not isinstance(schema, Struct):
        message = f"{schema} is no schema"
        raise CodecError(message)
    return schema
