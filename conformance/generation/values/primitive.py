"""The values of primitive types: plain ones, and those at which engines differ."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime

from delta_models.schema import DataType, DecimalType, Primitive
from delta_models.values import Decimal, Value

EPOCH = date(1970, 1, 1).toordinal()


def _day(year: int, month: int, day: int) -> int:
    return date(year, month, day).toordinal() - EPOCH


def _micros(*parts: int) -> int:
    moment = datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]  # year, month, day and further parts
    seconds = (
        (moment.date().toordinal() - EPOCH) * 86_400 + moment.hour * 3600 + moment.minute * 60 + moment.second
    )
    return seconds * 1_000_000 + moment.microsecond


LONGEST_PREFIX = 32  # how much of a string delta-spark keeps in statistics
TOP = "\U0010ffff"  # the last code point: a prefix that ends in it can't be rounded up in its last place

PLAIN: dict[str, tuple[Value, ...]] = {
    "boolean": (False, True),
    "integer": (0, 1, 2, 3, 7),
    "long": (0, 1, 2, 3, 7),
    "double": (0.0, 1.0, 2.5, -1.5, 1e10),
    "string": ("a", "b", "c", "ab", "B"),
    "date": (0, 1, _day(2024, 2, 29), _day(2000, 1, 1), _day(1999, 12, 31)),
    "timestamp": (
        0,
        _micros(2024, 2, 29, 12, 30),
        _micros(2000, 1, 1),
        _micros(1999, 12, 31, 23, 59, 59),
        1_000_000,
    ),
}

SPECIAL: dict[str, tuple[Value, ...]] = {
    "boolean": (False, True),
    "integer": (-1, 2**31 - 1, -(2**31), 1_000_000_007),
    "long": (-1, 2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 2**31),
    "double": (
        math.inf, -math.inf, 5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 0.1, 2.0**53 + 2, 1e-5,
    ),
    "string": (
        "", " ", "a b", " a", "a ", "a/b", "a=b", "a:b", "10:30", "100%", "%41", "%2F", "a+b", "it's", 'say "x"',
        "back\\slash", "a,b", "{a}", "a\tb", "a\nb", ".", "..", "null", "NULL", "A", "é", "e\u0301", "ß", "ﬀ", "日本",
        "😀", "שלום", "\u202eabc", "\uffff", TOP,
        "x" * LONGEST_PREFIX,
        "x" * (LONGEST_PREFIX + 1),
        "x" * LONGEST_PREFIX + "y",
        "x" * (LONGEST_PREFIX - 1) + TOP + "z",
        TOP * (LONGEST_PREFIX + 1),
        "é" * (LONGEST_PREFIX + 8),
        "x" * (LONGEST_PREFIX - 1) + "\ud7ff" + "z",
        "x" * 300,
    ),
    "date": (
        -1, _day(1582, 10, 4), _day(1582, 10, 14), _day(1582, 10, 15), _day(1900, 1, 1), _day(1, 1, 1),
        _day(9999, 12, 31), _day(1969, 12, 31),
    ),
    "timestamp": (
        -1, 1, 999, _micros(2024, 2, 29, 12, 30, 0, 123456), _micros(2024, 2, 29, 12, 30, 0, 999999),
        _micros(1969, 12, 31, 23, 59, 59, 999999), _micros(1582, 10, 4), _micros(1582, 10, 15),
        _micros(1900, 1, 1), _micros(1, 1, 1), _micros(1, 1, 1, 0, 0, 0, 1), _micros(9999, 12, 31, 23, 59, 59, 999999),
    ),
}  # fmt: skip

STRANGE_DOUBLES = (math.nan, -0.0)
"""Values on whose order, and even equality, SQL engines disagree."""

HOSTILE_TEXTS = (
    "a\x00b",
    "__HIVE_DEFAULT_PARTITION__",
    "\x7f",
    "a\rb",
    "_a",
    "#1",
    "?x=1",
    "[a]",
    "*",
    "~",
    "`a`",
    "$",
)


def plain_values(data_type: DataType) -> tuple[Value, ...]:
    """Return ordinary values of a type, the simplest first."""
    if isinstance(data_type, DecimalType):
        scale, largest = data_type.scale, 10**data_type.precision - 1
        wanted = (0, 1, 10**scale, 15 * 10**scale // 10, 2 * 10**scale)
        return tuple(Decimal(unscaled, scale) for unscaled in dict.fromkeys(wanted) if unscaled <= largest)
    assert isinstance(data_type, Primitive)  # noqa: S101 - what is drawn are these two
    return PLAIN[data_type.name]


def special_values(data_type: DataType, *, strange: bool, hostile: bool) -> tuple[Value, ...]:
    """Return values at the limits of a type, and such as need quoting or escaping somewhere."""
    if isinstance(data_type, DecimalType):
        largest = 10**data_type.precision - 1
        return tuple(Decimal(unscaled, data_type.scale) for unscaled in (-1, largest, -largest, largest - 1))
    assert isinstance(data_type, Primitive)  # noqa: S101 - what is drawn are these two
    values = SPECIAL[data_type.name]
    if strange and data_type.name == "double":
        return values + STRANGE_DOUBLES
    if hostile and data_type.name == "string":
        return values + HOSTILE_TEXTS
    return values
