"""The SQL of DataFusion, as deltalake takes it in `DeltaTable.delete`, `.update`, `.merge` and `QueryBuilder`.

Decimals are cast from strings, because DataFusion reads a long decimal number as a float. Timestamps are cast by
`arrow_cast`, because DataFusion refuses `timestamp '...Z'`, and its timestamp literals end in 2262.
"""

from __future__ import annotations

import math
from typing import ClassVar

from delta_adapters.dialects.base import Dialect, Inexpressible
from delta_adapters.dialects.calendar import DAY, date_text, has_four_digit_year, timestamp_text
from delta_models.schema import DataType, DecimalType, Primitive
from delta_models.values import Decimal, Value

TYPE_NAMES = {
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "binary": "BYTEA",
    "boolean": "BOOLEAN",
    "date": "DATE",
}
ARROW_NAMES = {
    "timestamp": 'Timestamp(Microsecond, Some("UTC"))',
    "timestamp_ntz": "Timestamp(Microsecond, None)",
}


class DeltaRsDialect(Dialect):
    """DataFusion's SQL inside deltalake."""

    name: ClassVar[str] = "delta-rs"

    def quote(self, name: str) -> str:
        """Return a name in double quotes, with those inside doubled."""
        return '"' + name.replace('"', '""') + '"'

    def type_name(self, data_type: DataType) -> str:
        """Return the SQL name of a type."""
        match data_type:
            case Primitive(name=name) if name in TYPE_NAMES:
                return TYPE_NAMES[name]
            case DecimalType(precision=precision, scale=scale):
                return f"DECIMAL({precision},{scale})"
        raise Inexpressible(f"delta-rs has no name for the type {data_type} in SQL")

    def cast(self, text: str, data_type: DataType) -> str:
        """Cast by `arrow_cast` to timestamps, because those of SQL have nanoseconds."""
        if isinstance(data_type, Primitive) and data_type.name in ARROW_NAMES:
            return f"arrow_cast({text}, '{ARROW_NAMES[data_type.name]}')"
        return super().cast(text, data_type)

    def literal(self, data_type: DataType, value: Value) -> str:
        """Return a constant, cast to exactly its type."""
        match data_type:
            case Primitive(name="timestamp" | "timestamp_ntz" as name):
                return self.cast(_timestamp(name, value), data_type)
            case _ if value is None:
                return f"CAST(NULL AS {self.type_name(data_type)})"
            case Primitive(name="boolean"):
                return "TRUE" if value else "FALSE"
            case Primitive(name="string"):
                return _string(value)
            case Primitive(name="binary"):
                return f"X'{value.hex()}'"
            case Primitive(name="long"):
                return str(value)
            case Primitive(name="date"):
                return _date(value)
            case Primitive(name="float" | "double"):
                return f"CAST('{_number(value)}' AS {self.type_name(data_type)})"
            case DecimalType():
                return f"CAST('{Decimal(*value)}' AS {self.type_name(data_type)})"
            case Primitive(name="byte" | "short" | "integer"):
                return f"CAST({value} AS {self.type_name(data_type)})"
        raise Inexpressible(f"delta-rs has no literal of type {data_type}")


def _string(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Inexpressible(f"a string that is no UTF-8 has no literal: {value!r}") from error
    return "'" + value.replace("'", "''") + "'"


def _number(value: float) -> str:
    return "NaN" if math.isnan(value) else repr(value)


def _date(days: int) -> str:
    return (
        f"CAST('{date_text(days)}' AS DATE)"
        if has_four_digit_year(days)
        else f"arrow_cast(arrow_cast({days}, 'Int32'), 'Date32')"
    )


def _timestamp(name: str, micros: int | None) -> str:
    if micros is None:
        return "NULL"
    if not has_four_digit_year(micros // DAY):
        return str(micros)
    return f"'{timestamp_text(micros)}{'Z' if name == 'timestamp' else ''}'"
