"""Expressions as Spark SQL text that means the same in every session zone: each literal exact in its type."""

from __future__ import annotations

import math
import re

from delta_models.expressions import (
    And,
    Between,
    Call,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
)
from delta_models.schema import Array, DataType, DecimalType, Map, Primitive, Struct
from delta_models.values import Decimal, Value

TYPE_NAMES = {
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "binary": "BINARY",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "variant": "VARIANT",
    "void": "VOID",
}
INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "remainder": "%", "concat": "||",
    "+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "||": "||", "like": "LIKE",
}  # fmt: skip
MICROS_A_DAY = 86_400_000_000
ESCAPES = {
    "\\": "\\\\",
    "'": "\\'",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\0": "\\u0000",
    "\x1a": "\\u001A",
}
AWKWARD = re.compile(r"[\\'\x00-\x1f\x7f-\x9f\u2028\u2029$]")


class NotRenderable(ValueError):
    """Spark SQL has no text for this."""


def render(expression: Expression) -> str:
    """The expression as text; every compound part stands in parentheses."""
    match expression:
        case Column(path=path):
            return quote_path(path)
        case Literal(type=data_type, value=value):
            return literal(data_type, value)
        case Compare(op=op, left=left, right=right):
            return f"({render(left)} {op} {render(right)})"
        case IsNull(operand=operand):
            return f"({render(operand)} IS NULL)"
        case IsNotNull(operand=operand):
            return f"({render(operand)} IS NOT NULL)"
        case In(operand=operand, options=()):
            # IN () is no Spark SQL; over no options IN is false, whatever the operand.
            return f"(FALSE AND {render(operand)} IS NULL)"
        case In(operand=operand, options=options):
            return f"({render(operand)} IN ({', '.join(map(render, options))}))"
        case Between(operand=operand, low=low, high=high):
            return f"({render(operand)} BETWEEN {render(low)} AND {render(high)})"
        case And(operands=()):
            return "TRUE"
        case And(operands=operands):
            return f"({' AND '.join(map(render, operands))})"
        case Or(operands=()):
            return "FALSE"
        case Or(operands=operands):
            return f"({' OR '.join(map(render, operands))})"
        case Not(operand=operand):
            return f"(NOT {render(operand)})"
        case Call():
            return _call(expression)


def quote(name: str) -> str:
    """A name between backticks."""
    return "`" + name.replace("`", "``") + "`"


def quote_path(path: tuple[str, ...]) -> str:
    """The path of a column, each part quoted."""
    return ".".join(map(quote, path))


def type_name(data_type: DataType) -> str:
    """A type as it stands in a cast or in the definition of a column."""
    match data_type:
        case Primitive(name=name):
            return TYPE_NAMES[name]
        case DecimalType(precision=precision, scale=scale):
            return f"DECIMAL({precision},{scale})"
        case Array(element=element):
            return f"ARRAY<{type_name(element)}>"
        case Map(key=key, value=value):
            return f"MAP<{type_name(key)}, {type_name(value)}>"
        case Struct(fields=fields):
            parts = (
                f"{quote(each.name)}: {type_name(each.type)}{'' if each.nullable else ' NOT NULL'}"
                for each in fields
            )
            return f"STRUCT<{', '.join(parts)}>"


def literal(data_type: DataType, value: Value) -> str:
    """A constant of exactly this type and value."""
    if value is None:
        return f"CAST(NULL AS {type_name(data_type)})"
    match data_type:
        case Primitive(name="boolean"):
            return "TRUE" if value else "FALSE"
        case Primitive(name="string"):
            return string(value)
        case Primitive(name="binary"):
            return f"X'{value.hex()}'"
        case Primitive(name="variant" | "void"):
            raise NotRenderable(f"Spark SQL has no literal of type {data_type}")
        case Primitive(name="date"):
            text = _date_text(value)
        case Primitive(name="timestamp"):
            text = _timestamp_text(value) + "Z"  # said in UTC, so the session's zone has no say
        case Primitive(name="timestamp_ntz"):
            text = _timestamp_text(value)
        case Primitive(name="float" | "double"):
            text = _double_text(value)
        case DecimalType():
            text = str(Decimal(*value))
        case Primitive():
            text = str(value)
        case Array(element=element):
            return f"CAST(ARRAY({', '.join(literal(element, each) for each in value)}) AS {type_name(data_type)})"
        case Map(key=key_type, value=value_type):
            pairs = ", ".join(f"{literal(key_type, key)}, {literal(value_type, part)}" for key, part in value)
            return f"CAST(MAP({pairs}) AS {type_name(data_type)})"
        case Struct(fields=fields):
            parts = ", ".join(
                f"{string(each.name)}, {literal(each.type, part)}"
                for each, part in zip(fields, value, strict=True)
            )
            return f"NAMED_STRUCT({parts})"
    return f"CAST('{text}' AS {type_name(data_type)})"


def string(value: str) -> str:
    """A string constant. `$` is escaped because Spark replaces `${...}` in statements before it parses them."""
    data = value.encode("utf-8", "surrogateescape")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return f"CAST(X'{data.hex()}' AS STRING)"
    return "'" + AWKWARD.sub(lambda found: ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04X}", value) + "'"


def _call(call: Call) -> str:
    arguments = tuple(map(render, call.arguments))
    if call.function == "cast":
        return f"CAST({arguments[0]} AS {type_name(call.type)})"
    if call.function in INFIX and len(arguments) == 2:
        return f"({arguments[0]} {INFIX[call.function]} {arguments[1]})"
    if call.function == "-" and len(arguments) == 1:
        return f"(- {arguments[0]})"
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", call.function):
        raise NotRenderable(f"{call.function!r} is neither a known operator nor the name of a function")
    return f"{call.function}({', '.join(arguments)})"


def _double_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value))


def _date_text(days: int) -> str:
    """Days since 1970-01-01 as text, in any year: Python's own dates know the years 1 to 9999 only."""
    # Civil calendar from a day number, over eras of 400 years that begin on the first of March.
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (month <= 2)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


def _timestamp_text(micros: int) -> str:
    days, rest = divmod(micros, MICROS_A_DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{_date_text(days)}T{hour:02d}:{minute:02d}:{second:02d}.{fraction:06d}"
