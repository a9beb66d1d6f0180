"""Values, rows and differences between bags of rows as people read them: SQL literals, and no more than fit."""

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
    """One value as a SQL literal; what no literal can say is still unmistakable."""
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
            return _short(f"[{', '.join(sql_text(element, each) for each in value)}]")
        case Map(key=key, value=of):
            pairs = (f"{sql_text(key, left)}: {sql_text(of, right)}" for left, right in value)
            return _short(f"{{{', '.join(pairs)}}}")
    return str(value)


def row_text(schema: Struct, row: Row) -> str:
    """One row: `(1, 'a', NULL)`."""
    return f"({', '.join(sql_text(field.type, value) for field, value in zip(schema, row, strict=True))})"


def rows_text(schema: Struct, rows: Sequence[Row]) -> str:
    """Some rows, and how many more there are."""
    shown = ", ".join(row_text(schema, row) for row in rows[:SHOWN_ROWS])
    left = len(rows) - SHOWN_ROWS
    return f"{shown} and {left} more" if left > 0 else shown


def difference(expected: Rows, got: Rows) -> str | None:
    """What one bag has that the other lacks, None if they are the same. Both are read by `expected`'s schema."""
    schema = expected.schema
    if len(got.schema) != len(schema):
        return f"{len(got.schema)} columns ({', '.join(got.schema.names)}) instead of {len(schema)}"
    wanted, found = bag(schema, expected.rows), bag(schema, got.rows)
    if wanted == found:
        return None
    values = {same_key(schema, row): row for row in (*got.rows, *expected.rows)}
    missing = [values[key] for key in (wanted - found).elements()]
    extra = [values[key] for key in (found - wanted).elements()]
    parts = [
        f"{len(got)} rows instead of {len(expected)}" if len(got) != len(expected) else f"{len(got)} rows"
    ]
    if missing:
        parts.append(f"missing {rows_text(schema, missing)}")
    if extra:
        parts.append(f"not expected {rows_text(schema, extra)}")
    return "; ".join(parts)


def differing_columns(expected: Rows, got: Rows) -> tuple[str, ...]:
    """The columns whose values alone show the difference between two bags of equal size; else none is named."""
    if len(expected) != len(got) or len(expected.schema) != len(got.schema):
        return ()
    found = []
    for position, field in enumerate(expected.schema):
        left, right = (
            Counter(same_key(field.type, row[position]) for row in side.rows) for side in (expected, got)
        )
        if left != right:
            found.append(field.name)
    return tuple(found)


def date_text(days: int) -> str:
    """A day as year-month-day, also outside of the years 1 to 9999."""
    ordinal = days + EPOCH_DAY
    if 1 <= ordinal <= date.max.toordinal():
        return date.fromordinal(ordinal).isoformat()
    return f"1970-01-01 + {days} days"


def timestamp_text(micros: int) -> str:
    """A moment on the UTC calendar, also outside of the years 1 to 9999."""
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
    printable = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)
    return "'" + printable.replace("'", "''") + "'"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
