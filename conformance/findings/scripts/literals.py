"""Values, rows and schemas as Python literals of a stand-alone script."""

from __future__ import annotations

import math
from collections.abc import Callable

from delta_models.schema import Array, DataType, DecimalType, Field, Map, Primitive, Struct
from delta_models.values import Decimal, Rows, Value

LONGEST_LINE = 110
ARROW = {
    "byte": "pa.int8()", "short": "pa.int16()", "integer": "pa.int32()", "long": "pa.int64()", "float": "pa.float32()",
    "double": "pa.float64()", "string": "pa.string()", "binary": "pa.binary()", "boolean": "pa.bool_()",
    "date": "pa.date32()", "timestamp": 'pa.timestamp("us", "UTC")', "timestamp_ntz": 'pa.timestamp("us")',
}  # fmt: skip
MOMENTS = ("date", "timestamp", "timestamp_ntz")


class NotPrintable(ValueError):
    """A script has no words for it; the message says for what."""


def bracketed(before: str, parts: list[str], after: str) -> list[str]:
    """One line if it is short enough, else a line for each part."""
    line = f"{before}{', '.join(parts)}{after}"
    if len(line) <= LONGEST_LINE or len(parts) < 2:
        return [line]
    return [before, *(f"    {part}," for part in parts), after]


def arrow_schema(schema: Struct) -> list[str]:
    """A `pa.schema(...)`, nullability and the texts among the metadata of columns included."""
    fields = []
    for field in schema:
        kind = arrow_type(field.type)
        plain = field.nullable and field.metadata_json == "{}"
        more = "" if field.nullable else ", nullable=False"
        more += "" if field.metadata_json == "{}" else f", metadata={field.metadata!r}"
        fields.append(
            f'("{field.name}", {kind})'
            if plain and field.name.isidentifier()
            else f"pa.field({field.name!r}, {kind}{more})"
        )
    return bracketed("pa.schema([", fields, "])")


def arrow_table(rows: Rows, schema: str) -> list[str]:
    """A `pa.table(...)` of rows, column by column, in a schema that has a name already."""
    names = [field.name for field in rows.schema]
    if len(set(names)) != len(names):
        message = "rows with two columns of one name"
        raise NotPrintable(message)
    columns = [
        f"{quoted(field.name)}: [{', '.join(value_literal(field.type, row[position]) for row in rows.rows)}]"
        for position, field in enumerate(rows.schema)
    ]
    if not columns:
        message = "rows without columns"
        raise NotPrintable(message)
    return bracketed("pa.table({", columns, f"}}, schema={schema})")


def arrow_type(data_type: DataType) -> str:
    """The Arrow type of a Delta type. Raises NotPrintable."""
    match data_type:
        case Primitive(name=name) if name in ARROW:
            return ARROW[name]
        case DecimalType(precision=precision, scale=scale):
            return f"pa.decimal128({precision}, {scale})"
        case Array(element=element, contains_null=True):
            return f"pa.list_({arrow_type(element)})"
        case Map(key=key, value=value, value_contains_null=True):
            return f"pa.map_({arrow_type(key)}, {arrow_type(value)})"
        case Struct(fields=fields):
            parts = ", ".join(
                f"pa.field({field.name!r}, {arrow_type(field.type)}{'' if field.nullable else ', nullable=False'})"
                for field in fields
            )
            return f"pa.struct([{parts}])"
    message = f"values of type {data_type}"
    raise NotPrintable(message)


def value_literal(data_type: DataType, value: Value) -> str:
    """A value as Python has it. Days and microseconds since 1970 stay numbers: Python's years end at 9999."""
    if value is None:
        return "None"
    match data_type:
        case Primitive(name="variant"):
            message = "variants"
            raise NotPrintable(message)
        case Primitive(name="float" | "double"):
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        case Primitive(name="string"):
            return quoted(value)
        case DecimalType():
            return f'Decimal("{Decimal(*value)}")'
        case Struct(fields=fields):
            return _struct_literal(fields, value)
        case Array(element=element):
            return f"[{', '.join(value_literal(element, part) for part in value)}]"
        case Map(key=key, value=of):
            pairs = (f"({value_literal(key, left)}, {value_literal(of, right)})" for left, right in value)
            return f"[{', '.join(pairs)}]"
    return repr(value)


def quoted(text: str) -> str:
    """A text in double quotes where that needs no escapes. What is not ASCII is escaped, as some is invisible."""
    literal = ascii(text)
    return f'"{text}"' if literal == f"'{text}'" and '"' not in text else literal


def is_in(schema: Struct, test: Callable[[DataType], bool]) -> bool:
    """Whether some type of a schema, nested ones included, passes a test."""
    return any(_some(field.type, test) for field in schema)


def holds_moments(schema: Struct) -> bool:
    """Whether there are dates or timestamps in the schema."""
    return is_in(schema, lambda data_type: isinstance(data_type, Primitive) and data_type.name in MOMENTS)


def _struct_literal(fields: tuple[Field, ...], value: Value) -> str:
    parts = (
        f"{quoted(field.name)}: {value_literal(field.type, part)}"
        for field, part in zip(fields, value, strict=True)
    )
    return "{" + ", ".join(parts) + "}"


def _some(data_type: DataType, test: Callable[[DataType], bool]) -> bool:
    match data_type:
        case Array(element=element):
            return test(data_type) or _some(element, test)
        case Map(key=key, value=value):
            return test(data_type) or _some(key, test) or _some(value, test)
        case Struct():
            return test(data_type) or is_in(data_type, test)
    return test(data_type)
