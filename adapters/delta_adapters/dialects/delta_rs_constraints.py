"""Conditions of constraints for deltalake, in SQL that other engines read too: the log keeps them for all writers.

deltalake takes names in backticks, and compares a timestamp with a text as it should, whatever the year.
It has no type `BINARY` and none of the name `TIMESTAMP_NTZ`, so a null of these types has no type in the text.
"""

from __future__ import annotations

from typing import ClassVar

from delta_adapters.dialects.calendar import DAY, date_text, has_four_digit_year, timestamp_text
from delta_adapters.dialects.delta_rs import DeltaRsDialect
from delta_models.schema import DataType, Primitive
from delta_models.values import Value

SIGNED = "+{}"  # a year of more than four digits needs its sign


class DeltaRsConstraintDialect(DeltaRsDialect):
    """The part of DataFusion's SQL that Spark's SQL has in common with it."""

    name: ClassVar[str] = "delta-rs"

    def quote(self, name: str) -> str:
        """Return a name in backticks, with those inside doubled."""
        return "`" + name.replace("`", "``") + "`"

    def type_name(self, data_type: DataType) -> str:
        """Return the SQL name of a type."""
        return "STRING" if data_type == Primitive("string") else super().type_name(data_type)

    def literal(self, data_type: DataType, value: Value) -> str:
        """Return a constant. A moment is a text, which takes the type of the column that it is compared with."""
        match data_type:
            case Primitive(name="timestamp" | "timestamp_ntz" | "binary") if value is None:
                return "NULL"
            case Primitive(name="timestamp" | "timestamp_ntz" as name):
                text = _with_sign(timestamp_text(value), value // DAY)
                return f"'{text}{'Z' if name == 'timestamp' else ''}'"
            case Primitive(name="date") if value is not None:
                return f"CAST('{_with_sign(date_text(value), value)}' AS DATE)"
        return super().literal(data_type, value)


def _with_sign(text: str, days: int) -> str:
    return text if days < 0 or has_four_digit_year(days) else SIGNED.format(text)
