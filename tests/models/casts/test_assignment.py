"""Values written to a column of another type, and the text forms of values."""

from __future__ import annotations

import math
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delta_models.casts.assignment import (
    NotAssignable,
    Overflow,
    assigner,
    can_assign,
    civil,
    date_text,
    double_text,
    round_decimal,
    shortest_digits,
    timestamp_text,
)
from delta_models.schema import (
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Array,
    DataType,
    DecimalType,
    Field,
    Map,
    struct,
)  # fmt: skip
from delta_models.values import Decimal, Value

D52 = DecimalType(5, 2)


@pytest.mark.parametrize(
    ("source", "value", "target", "stored"),
    (
        (INTEGER, 7, LONG, 7),
        (LONG, -128, BYTE, -128),
        (DOUBLE, 2.9, INTEGER, 2),
        (DOUBLE, -2.9, INTEGER, -2),
        (D52, Decimal(-299, 2), LONG, -2),
        (LONG, 2**53 + 1, DOUBLE, float(2**53)),
        (DOUBLE, 0.1, FLOAT, 0.10000000149011612),
        (DOUBLE, 1e300, FLOAT, math.inf),
        (DOUBLE, 1.005, D52, Decimal(101, 2)),
        (DOUBLE, -1.005, D52, Decimal(-101, 2)),
        (LONG, 12, D52, Decimal(1200, 2)),
        (DecimalType(10, 4), Decimal(12345, 4), D52, Decimal(123, 2)),
        (DecimalType(10, 4), Decimal(12350, 4), D52, Decimal(124, 2)),
        (BOOLEAN, True, STRING, "true"),
        (LONG, -5, STRING, "-5"),
        (D52, Decimal(-5, 2), STRING, "-0.05"),
        (DATE, -719_162, STRING, "0001-01-01"),
        (DATE, 1, TIMESTAMP, 86_400_000_000),
        (TIMESTAMP, -1, DATE, -1),
        (TIMESTAMP, 5, TIMESTAMP_NTZ, 5),
        (VOID, None, LONG, None),
        (INTEGER, None, LONG, None),
        (Array(INTEGER), (1, None), Array(LONG), (1, None)),
        (Map(STRING, INTEGER), (("a", 1),), Map(STRING, DOUBLE), (("a", 1.0),)),
        (struct(("a", INTEGER)), (3,), struct(("A", STRING)), ("3",)),
        (struct(("b", LONG), ("a", LONG)), (2, 1), struct(("a", LONG), ("b", STRING)), (1, "2")),
    ),
)
def test_a_value_that_fits_is_stored_as_the_columns_type(
    source: DataType, value: Value, target: DataType, stored: Value
) -> None:
    assert assigner(source, target)(value) == stored


@pytest.mark.parametrize(
    ("source", "value", "target"),
    (
        (LONG, 128, BYTE),
        (INTEGER, -(2**15) - 1, SHORT),
        (DOUBLE, math.nan, LONG),
        (DOUBLE, math.inf, D52),
        (DOUBLE, 2.0**63, LONG),
        (DOUBLE, 999.995, D52),
        (DecimalType(38, 0), Decimal(10**37, 0), D52),
    ),
)
def test_a_value_that_does_not_fit_is_an_overflow(source: DataType, value: Value, target: DataType) -> None:
    with pytest.raises(Overflow):
        assigner(source, target)(value)


@pytest.mark.parametrize(
    ("source", "target"),
    (
        (STRING, LONG),
        (STRING, DATE),
        (STRING, BOOLEAN),
        (DOUBLE, BOOLEAN),
        (BOOLEAN, LONG),
        (LONG, TIMESTAMP),
        (TIMESTAMP, LONG),
        (DATE, LONG),
        (Array(LONG), LONG),
        (Array(LONG), Array(LONG, contains_null=False)),
        (struct(("a", LONG)), struct(("a", LONG), ("b", LONG))),
        (struct(("a", LONG)), struct(("b", LONG))),
        (struct(("a", LONG), ("A", LONG)), struct(("a", LONG), ("b", LONG))),
        (struct(("a", LONG)), struct(Field("a", LONG, nullable=False))),
    ),
)
def test_some_types_never_fit_others(source: DataType, target: DataType) -> None:
    assert not can_assign(source, target)
    with pytest.raises(NotAssignable):
        assigner(source, target)


@pytest.mark.parametrize(
    ("value", "text"),
    (
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (0.001, "0.001"), (0.0001, "1.0E-4"), (1e7, "1.0E7"),
        (9_999_999.0, "9999999.0"), (123456.789, "123456.789"), (-1.5e-10, "-1.5E-10"), (1e22, "1.0E22"),
        (math.inf, "Infinity"), (-math.inf, "-Infinity"), (math.nan, "NaN"), (5e-324, "4.9E-324"), (2e-323, "2.0E-323"),
    ),
)  # fmt: skip
def test_doubles_become_text_as_the_jvm_writes_them(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(
    ("micros", "text"),
    (
        (0, "1970-01-01 00:00:00"),
        (-1, "1969-12-31 23:59:59.999999"),
        (1_500_000, "1970-01-01 00:00:01.5"),
        (253_402_300_799_999_999, "9999-12-31 23:59:59.999999"),
        (253_402_300_800_000_000, "+10000-01-01 00:00:00"),
    ),
)
def test_timestamps_become_text_without_trailing_zeros(micros: int, text: str) -> None:
    assert timestamp_text(micros) == text


def test_dates_before_year_one_and_after_9999_have_texts_too() -> None:
    assert date_text(-719_163) == "0000-12-31"
    assert date_text(2_932_897) == "+10000-01-01"


@given(st.integers(-719_162, 2_932_896))
def test_the_calendar_agrees_with_pythons(days: int) -> None:
    moment = date(1970, 1, 1) + timedelta(days=days)
    assert civil(days) == (moment.year, moment.month, moment.day)


@given(st.integers(-(10**7), 10**7), st.integers(-3, 3))
def test_the_calendar_repeats_every_four_hundred_years(days: int, cycles: int) -> None:
    year, month, day = civil(days)
    assert civil(days + cycles * 146_097) == (year + 400 * cycles, month, day)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_shortest_digits_read_as_the_double(value: float) -> None:
    digits, exponent = shortest_digits(value)
    assert float(f"{digits}e{exponent}") == abs(value)
    if abs(value) > 1e-300:
        assert float(double_text(value)) == value


@given(st.integers(-(10**9), 10**9), st.integers(0, 8))
def test_rounding_is_half_up_away_from_zero(unscaled: int, scale: int) -> None:
    target = DecimalType(38, 3)
    stored = round_decimal(Decimal(unscaled, scale), target)
    error = abs(stored.unscaled * 10**scale - unscaled * 10**3)
    assert 2 * error <= 10**scale
    if 2 * error == 10**scale:
        assert abs(stored.unscaled) * 10**scale > abs(unscaled) * 10**3
