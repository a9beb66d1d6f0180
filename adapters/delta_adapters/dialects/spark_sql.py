"""The SQL of Spark, as DataFrames and `DeltaTable` take it as text.

The text means the same in every session zone, with ANSI mode on or off. Dates and timestamps outside the years 1 to
9999 are computed from numbers; all others are cast from text.
"""

from __future__ import annotations

import math
import re
from typing import ClassVar

from delta_adapters.dialects.base import Dialect, Inexpressible
from delta_adapters.dialects.calendar import DAY, date_text, has_four_digit_year, timestamp_text
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
SECONDS = DecimalType(18, 6)
FUNCTION = re.compile(r"[a-z_][a-z0-9_]*")
# `$` because Spark replaces `${...}` in statements before it parses them; the others would end a line or the string.
AWKWARD = re.compile(r"[\\'$\x00-\x1f\x7f-\x9f\u2028\u2029]")


class SparkSqlDialect(Dialect):
    """Spark's SQL."""

    name: ClassVar[str] = "delta-spark"
    null_safe_equal: ClassVar[str] = "<=>"

    def quote(self, name: str) -> str:
        """Return a name in backticks, with those inside doubled."""
        return "`" + name.replace("`", "``") + "`"

    def type_name(self, data_type: DataType) -> str:
        """Return the SQL name of a type."""
        match data_type:
            case Primitive(name=name) if name in TYPE_NAMES:
                return TYPE_NAMES[name]
            case DecimalType(precision=precision, scale=scale):
                return f"DECIMAL({precision},{scale})"
            case Array(element=element):
                return f"ARRAY<{self.type_name(element)}>"
            case Map(key=key, value=value):
                return f"MAP<{self.type_name(key)}, {self.type_name(value)}>"
            case Struct(fields=fields):
                parts = (f"{self.quote(field.name)}: {self.type_name(field.type)}" for field in fields)
                return f"STRUCT<{', '.join(parts)}>"
        raise Inexpressible(f"Spark SQL has no name for the type {data_type}")

    def literal(self, data_type: DataType, value: Value) -> str:
        """Return a constant of exactly this type and value."""
        if value is None:
            return f"CAST(NULL AS {self.type_name(data_type)})"
        match data_type:
            case Primitive(name=name) if name in TYPE_NAMES and name not in {"variant", "void"}:
                return self._primitive(name, value)
            case DecimalType():
                return self._cast(str(Decimal(*value)), data_type)
            case Array(element=element):
                items = ", ".join(self.literal(element, item) for item in value)
                return f"CAST(ARRAY({items}) AS {self.type_name(data_type)})"
            case Map(key=key, value=item):
                pairs = ", ".join(
                    f"{self.literal(key, left)}, {self.literal(item, right)}" for left, right in value
                )
                return f"CAST(MAP({pairs}) AS {self.type_name(data_type)})"
            case Struct(fields=fields):
                parts = (
                    f"{_string(field.name)}, {self.literal(field.type, part)}"
                    for field, part in zip(fields, value, strict=True)
                )
                return f"NAMED_STRUCT({', '.join(parts)})"
        raise Inexpressible(f"Spark SQL has no literal of type {data_type}")

    def call(self, function: str, arguments: tuple[str, ...], result: DataType) -> str:
        """Return the call of a function or an operator, under its Spark name."""
        if function == "-" and len(arguments) == 1:
            return f"(- {arguments[0]})"
        if FUNCTION.fullmatch(function) and function not in {"cast", "like"}:
            return f"{function}({', '.join(arguments)})"
        return super().call(function, arguments, result)

    def _primitive(self, name: str, value: Value) -> str:
        match name:
            case "boolean":
                return "TRUE" if value else "FALSE"
            case "string":
                return _string(value)
            case "binary":
                return f"X'{value.hex()}'"
            case "date":
                return (
                    self._cast(date_text(value), Primitive(name))
                    if has_four_digit_year(value)
                    else f"DATE_FROM_UNIX_DATE({value})"
                )
            case "timestamp":
                # The text states UTC, so the session's zone does not matter.
                if has_four_digit_year(value // DAY):
                    return self._cast(f"{timestamp_text(value)}Z", Primitive(name))
                return f"TIMESTAMP_MICROS({self._cast(str(value), Primitive('long'))})"
            case "timestamp_ntz":
                if not has_four_digit_year(value // DAY):
                    days, rest = divmod(value, DAY)
                    seconds = self._cast(f"{rest // 10**6}.{rest % 10**6:06}", SECONDS)
                    epoch = self._cast("1970-01-01", Primitive(name))
                    return f"({epoch} + MAKE_DT_INTERVAL({days}, 0, 0, {seconds}))"
                return self._cast(timestamp_text(value), Primitive(name))
            case "float" | "double":
                return self._cast("NaN" if math.isnan(value) else repr(float(value)), Primitive(name))
        return self._cast(str(value), Primitive(name))

    def _cast(self, text: str, data_type: DataType) -> str:
        return f"CAST('{text}' AS {self.type_name(data_type)})"


def _string(value: str) -> str:
    data = value.encode("utf-8", "surrogateescape")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return f"CAST(X'{data.hex()}' AS STRING)"
    return "'" + AWKWARD.sub(lambda character: f"\\u{ord(character[0]):04X}", value) + "'"
