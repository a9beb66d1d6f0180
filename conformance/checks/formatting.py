"""Text for values, rows and differences between bags of rows: SQL literals, cut to a readable length."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from delta_models.schema import Array, DataType, DecimalType, Map, Primitive, Struct
from delta_models.values import Decimal, Row, Rows, Value, bag, same_key

SHOWN_ROWS = 5
SHOWN_CHARACTERS = 80
EPOCH_DAY = date(1970, 1, 1).toordinal()
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def sql_text(data_type: DataType, value: Value) -> str:  # noqa: PLR0912 - one case a type
    """Return one value as a SQL literal, or as unambiguous text where SQL has no literal."""
    if value is None:
        return "NULL"
    match data_type:
        case Primitive(name="boolean"):
            return str(value).upper()
        case Primitive(name="float" | "double"):
            return _float_text(value)
        case Primitive(name="string"):
            return _short(_quoted(value))
        case Primitive(name="binary"):
            return _short(f"X'{value.hex()}'")
        case Primitive(name="date"):
            return f"DATE '{date_text(value)}'"
        case Primitive(name="timestamp"):
            return f"TIMESTAMP '{timestamp_text(value)}Z'"
        case Primitive(name="timestamp_ntz"):
            return f"TIMESTAMP_NTZ '{timestamp_text(value)}'"
        case Primitive(name="variant"):
            return _short(f"VARIANT X'{value.value.hex()}'")
        case DecimalType():
            return str(Decimal(*value))
        case Struct():
            return row_text(data_type, value)
        case Array(element=element):
            return _short(f"[{', '.join(sql_text(element, item) for item in value)}]")
        case Map(key=key, value=value_type):
            pairs = (f"{sql_text(key, left)}: {sql_text(value_type, right)}" for left, right in value)
            return _short(f"{{{', '.join(pairs)}}}")
    return str(value)


def row_text(schema: Struct, row: Row) -> str:
    """Return one row: `(1, 'a', NULL)`."""
    return f"({', '.join(sql_text(field.type, value) for field, value in zip(schema, row, strict=True))})"


def rows_text(schema: Struct, rows: Sequence[Row]) -> str:
    """Return the first rows, and how many more there are."""
    shown = ", ".join(row_text(schema, row) for row in rows[:SHOWN_ROWS])
    more = len(rows) - SHOWN_ROWS
    return f"{shown} and {more} more" if more > 0 else shown


def difference(expected: Rows, got: Rows) -> str | None:
    """Return what one bag of rows has and the other lacks; None if they are equal. `expected`'s schema types both."""
    schema = expected.schema
    if len(got.schema) != len(schema):
        return f"{len(got.schema)} columns ({', '.join(got.schema.names)}) instead of {len(schema)}"
    expected_bag, got_bag = bag(schema, expected.rows), bag(schema, got.rows)
    if expected_bag == got_bag:
        return None
    values = {same_key(schema, row): row for row in (*got.rows, *expected.rows)}
    missing = [values[key] for key in (expected_bag - got_bag).elements()]
    extra = [values[key] for key in (got_bag - expected_bag).elements()]
    parts = [
        f"{len(got)} rows instead of {len(expected)}" if len(got) != len(expected) else f"{len(got)} rows"
    ]
    if missing:
        parts.append(f"missing {rows_text(schema, missing)}")
    if extra:
        parts.append(f"not expected {rows_text(schema, extra)}")
    return "; ".join(parts)


def differing_columns(expected: Rows, got: Rows) -> tuple[str, ...]:
    """Return the columns that differ as bags of values. Empty if the bags of rows differ in size or schema."""
    if len(expected) != len(got) or len(expected.schema) != len(got.schema):
        return ()
    names = []
    for position, field in enumerate(expected.schema):
        left, right = (
            Counter(same_key(field.type, row[position]) for row in side.rows) for side in (expected, got)
        )
        if left != right:
            names.append(field.name)
    return tuple(names)


def date_text(days: int) -> str:
    """Return a day as year-month-day, or as a distance from 1970 outside of the years 1 to 9999."""
    ordinal = days + EPOCH_DAY
    if 1 <= ordinal <= date.max.toordinal():
        return date.fromordinal(ordinal).isoformat()
    return f"1970-01-01 + {days} days"


def timestamp_text(micros: int) -> str:
    """Return a moment in UTC, or as a distance from 1970 outside of the years 1 to 9999."""
    try:
        moment = EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return f"1970-01-01 00:00:00 + {micros} microseconds"
    return moment.replace(tzinfo=None).isoformat(sep=" ")


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def _quoted(text: str) -> str:
    printable = "".join(
        character if character.isprintable() else f"\\u{ord(character):04x}" for character in text
    )
    return "'" + printable.replace("'", "''") + "'"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
