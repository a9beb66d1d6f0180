"""Delta types and schemas, and their JSON form.

A schema is a `Struct`. Types are frozen and hashable, so they can be keys. The JSON form is that of the protocol's
section "Schema Serialization Format". For every type, `parse(to_json(t)) == t`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class SchemaError(ValueError):
    """The text is not a schema in Delta's serialization format."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parameters, by its protocol name: `long`, `string`, `timestamp_ntz` ..."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class DecimalType:
    """A decimal number of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class Array:
    """A list of elements of one type."""

    element: DataType
    contains_null: bool = True

    def __str__(self) -> str:
        return f"array<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    """Keys of one type, never null, to values of another."""

    key: DataType
    value: DataType
    value_contains_null: bool = True

    def __str__(self) -> str:
        return f"map<{self.key},{self.value}>"


@dataclass(frozen=True, slots=True)
class Field:
    """A named member of a struct.

    The metadata is stored as sorted JSON text, so that fields are hashable.
    """

    name: str
    type: DataType
    nullable: bool = True
    metadata_json: str = "{}"

    @property
    def metadata(self) -> dict[str, Json]:
        """The metadata as a new dictionary."""
        loaded: dict[str, Json] = json.loads(self.metadata_json)
        return loaded

    def with_metadata(self, metadata: dict[str, Json]) -> Field:
        """The same field with exactly this metadata."""
        return replace(self, metadata_json=_canonical(metadata))


@dataclass(frozen=True, slots=True)
class Struct:
    """An ordered sequence of fields; a table's schema is one."""

    fields: tuple[Field, ...] = field(default=())

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(column.name for column in self.fields)

    def index(self, name: str) -> int:
        """Return the position of the field called `name`, ignoring case as Delta does. Raises KeyError."""
        folded = name.casefold()
        for position, column in enumerate(self.fields):
            if column.name.casefold() == folded:
                return position
        message = f"no column {name!r}; there are {', '.join(map(repr, self.names)) or 'none'}"
        raise KeyError(message)

    def __getitem__(self, name: str) -> Field:
        return self.fields[self.index(name)]

    def __str__(self) -> str:
        return f"struct<{','.join(f'{column.name}:{column.type}' for column in self.fields)}>"


DataType = Primitive | DecimalType | Array | Map | Struct

BYTE = Primitive("byte")
SHORT = Primitive("short")
INTEGER = Primitive("integer")
LONG = Primitive("long")
FLOAT = Primitive("float")
DOUBLE = Primitive("double")
STRING = Primitive("string")
BINARY = Primitive("binary")
BOOLEAN = Primitive("boolean")
DATE = Primitive("date")
TIMESTAMP = Primitive("timestamp")
TIMESTAMP_NTZ = Primitive("timestamp_ntz")
VARIANT = Primitive("variant")
VOID = Primitive("void")

PRIMITIVES = {
    primitive.name: primitive
    for primitive in (
        BYTE, SHORT, INTEGER, LONG, FLOAT, DOUBLE, STRING, BINARY, BOOLEAN, DATE, TIMESTAMP, TIMESTAMP_NTZ,
        VARIANT, VOID,
    )
}  # fmt: skip
# Preview types of engines, which the protocol does not list. Values are months, microseconds, microseconds of a day.
_INTERVAL_UNIT = "(year|month|day|hour|minute|second)"
_PREVIEW = re.compile(rf"interval {_INTERVAL_UNIT}( to {_INTERVAL_UNIT})?|time\(\d\)")
LENGTH = "__CHAR_VARCHAR_TYPE_STRING"  # the key in a field's metadata under which Spark stores char(n) or varchar(n)
_LIMITED = re.compile(r"(var)?char\((\d+)\)")
INTEGRALS = (BYTE, SHORT, INTEGER, LONG)


def struct(*columns: tuple[str, DataType] | Field) -> Struct:
    """Return a schema of `(name, type)` pairs and fields: `struct(("id", LONG), ("letter", STRING))`."""
    return Struct(tuple(column if isinstance(column, Field) else Field(*column) for column in columns))


def limit_of(field: Field) -> int | None:
    """Return the most code points that a char(n) or varchar(n) column allows; None without a limit."""
    match = _limit(field)
    return int(match[2]) if match else None


def width_of(field: Field) -> int | None:
    """Return the number of code points to which blanks pad a char(n) column; None for other columns."""
    match = _limit(field)
    return int(match[2]) if match and match[1] is None else None


def to_json(schema: DataType) -> Json:
    """Return the type in the protocol's serialization format, as JSON values."""
    match schema:
        case Primitive() | DecimalType():
            return str(schema)
        case Array():
            return {
                "type": "array",
                "elementType": to_json(schema.element),
                "containsNull": schema.contains_null,
            }
        case Map():
            return {
                "type": "map",
                "keyType": to_json(schema.key),
                "valueType": to_json(schema.value),
                "valueContainsNull": schema.value_contains_null,
            }
        case Struct():
            return {"type": "struct", "fields": [_field_to_json(column) for column in schema.fields]}


def parse(form: Any) -> DataType:
    """Return the type that a JSON value in the serialization format means. Raises SchemaError."""
    match form:
        case str():
            return _parse_name(form)
        case {"type": "struct", "fields": list(fields)}:
            return Struct(tuple(_parse_field(column) for column in fields))
        case {"type": "array", "elementType": element}:
            return Array(parse(element), bool(form.get("containsNull", True)))
        case {"type": "map", "keyType": key, "valueType": value}:
            return Map(parse(key), parse(value), bool(form.get("valueContainsNull", True)))
    message = f"not a Delta type: {json.dumps(form)[:200]}"
    raise SchemaError(message)


def parse_schema(text: str) -> Struct:
    """Return the schema in a `schemaString`. Raises SchemaError."""
    try:
        parsed = parse(json.loads(text))
    except json.JSONDecodeError as error:
        message = f"schemaString is no JSON: {error}"
        raise SchemaError(message) from error
    if not isinstance(parsed, Struct):
        message = f"schemaString holds {parsed}, a schema is a struct"
        raise SchemaError(message)
    return parsed


def schema_string(schema: Struct) -> str:
    """Return the schema as a `schemaString`."""
    return json.dumps(to_json(schema), separators=(",", ":"), ensure_ascii=False)


def _limit(field: Field) -> re.Match[str] | None:
    if LENGTH not in field.metadata_json or field.type != STRING:
        return None
    return _LIMITED.fullmatch(str(field.metadata.get(LENGTH)))


def _field_to_json(field: Field) -> Json:
    return {
        "name": field.name,
        "type": to_json(field.type),
        "nullable": field.nullable,
        "metadata": field.metadata,
    }


def _parse_field(form: Any) -> Field:
    match form:
        case {"name": str(name), "type": type_form}:
            metadata = form.get("metadata") or {}
            if not isinstance(metadata, dict):
                message = f"the metadata of field {name!r} is no object"
                raise SchemaError(message)
            return Field(name, parse(type_form), bool(form.get("nullable", True)), _canonical(metadata))
    message = f"not a field: {json.dumps(form)[:200]}"
    raise SchemaError(message)


def _parse_name(name: str) -> DataType:
    if name in PRIMITIVES or _PREVIEW.fullmatch(name):
        return PRIMITIVES.get(name) or Primitive(name)
    if name == "decimal":
        return DecimalType(10, 0)
    if name.startswith("decimal(") and name.endswith(")"):
        precision, comma, scale = name.removeprefix("decimal(").removesuffix(")").partition(",")
        if comma and precision.strip().isdigit() and scale.strip().isdigit():
            return DecimalType(int(precision), int(scale))
    message = f"unknown type {name!r}"
    raise SchemaError(message)


def _canonical(metadata: dict[str, Json]) -> str:
    return json.dumps(metadata, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
