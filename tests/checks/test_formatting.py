"""Values and differences as text: SQL literals, cut to a readable length."""

from __future__ import annotations

import math

import pytest

from conformance.checks.formatting import SHOWN_CHARACTERS, difference, differing_columns, sql_text
from delta_models.schema import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    DecimalType,
    Map,
    struct,
)
from delta_models.values import Decimal, Rows

PAIR = struct(("id", LONG), ("name", STRING))


def rows(*values: tuple[object, ...]) -> Rows:
    return Rows(PAIR, values)


@pytest.mark.parametrize(
    ("data_type", "value", "text"),
    (
        (LONG, None, "NULL"),
        (LONG, -5, "-5"),
        (BOOLEAN, True, "TRUE"),
        (DOUBLE, -0.0, "-0.0"),
        (DOUBLE, math.nan, "NaN"),
        (DOUBLE, -math.inf, "-Infinity"),
        (STRING, "it's", "'it''s'"),
        (STRING, "a\tb\x00", "'a\\u0009b\\u0000'"),
        (BINARY, b"\x00\xff", "X'00ff'"),
        (DATE, 0, "DATE '1970-01-01'"),
        (DATE, -800_000, "DATE '1970-01-01 + -800000 days'"),
        (TIMESTAMP, 1, "TIMESTAMP '1970-01-01 00:00:00.000001Z'"),
        (TIMESTAMP_NTZ, 0, "TIMESTAMP_NTZ '1970-01-01 00:00:00'"),
        (TIMESTAMP, 2**62, "TIMESTAMP '1970-01-01 00:00:00 + 4611686018427387904 microsecondsZ'"),
        (DecimalType(5, 2), Decimal(-5, 2), "-0.05"),
        (Array(LONG), (1, None), "[1, NULL]"),
        (Map(STRING, LONG), (("a", 1),), "{'a': 1}"),
        (PAIR, (1, "a"), "(1, 'a')"),
    ),
)  # fmt: skip
def test_a_value_is_an_unambiguous_literal(data_type, value, text: str):
    assert sql_text(data_type, value) == text


def test_a_long_text_is_cut():
    assert len(sql_text(STRING, "x" * 1000)) == SHOWN_CHARACTERS


def test_equal_bags_have_no_difference_whatever_their_order():
    assert difference(rows((1, "a"), (2, "b")), rows((2, "b"), (1, "a"))) is None


def test_a_missing_duplicate_is_a_difference():
    assert difference(rows((1, "a"), (1, "a")), rows((1, "a"))) == "1 rows instead of 2; missing (1, 'a')"


def test_a_difference_names_missing_and_unexpected_rows():
    text = difference(rows((1, "a"), (2, None)), rows((1, "a"), (3, None)))
    assert text == "2 rows; missing (2, NULL); not expected (3, NULL)"


def test_a_long_difference_is_capped():
    text = difference(rows(*((number, "x") for number in range(100))), rows())
    assert text is not None
    assert text.endswith("and 95 more")
    assert len(text) < 200


def test_zeros_of_two_signs_differ_and_nans_do_not():
    schema = struct(("x", DOUBLE))
    assert (
        difference(Rows(schema, ((0.0,),)), Rows(schema, ((-0.0,),)))
        == "1 rows; missing (0.0); not expected (-0.0)"
    )
    assert difference(Rows(schema, ((math.nan,),)), Rows(schema, ((math.nan,),))) is None


def test_a_different_number_of_columns_comes_before_any_row():
    assert difference(rows(), Rows(struct(("id", LONG)), ())) == "1 columns (id) instead of 2"


def test_the_columns_that_show_a_difference_are_named():
    assert differing_columns(rows((1, "a"), (2, "b")), rows((1, "a"), (2, "c"))) == ("name",)
    assert differing_columns(rows((1, "a"), (2, "b")), rows((1, "b"), (2, "a"))) == ()
    assert differing_columns(rows((1, "a")), rows()) == ()
