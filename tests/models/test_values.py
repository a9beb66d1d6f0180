"""The two ways to compare values, their order and their JSON form."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delta_models.schema import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    STRING,
    TIMESTAMP,
    VARIANT,
    Array,
    DecimalType,
    Map,
    struct,
)
from delta_models.values import (
    Decimal,
    Variant,
    bag,
    order_key,
    parse_decimal,
    same,
    sql_equal,
    to_single,
    value_from_json,
    value_to_json,
)

NAN = math.nan
POINT = struct(("x", DOUBLE), ("y", INTEGER))
VALUES = {
    LONG: st.integers(-(2**63), 2**63 - 1),
    DOUBLE: st.floats(),
    BOOLEAN: st.booleans(),
    STRING: st.text(),
    BINARY: st.binary(),
    DATE: st.integers(-719162, 2932896),
    TIMESTAMP: st.integers(-(2**63), 2**63 - 1),
    DecimalType(38, 10): st.integers(-(10**38) + 1, 10**38 - 1).map(lambda unscaled: Decimal(unscaled, 10)),
    VARIANT: st.builds(Variant, st.binary(), st.binary()),
    POINT: st.tuples(st.floats(), st.none() | st.integers(-5, 5)),
    Array(STRING): st.lists(st.none() | st.text()).map(tuple),
    Map(STRING, DOUBLE): st.dictionaries(st.text(), st.none() | st.floats()).map(
        lambda drawn: tuple(drawn.items())
    ),
}
TYPED = st.sampled_from(list(VALUES)).flatmap(
    lambda drawn: st.tuples(st.just(drawn), st.none() | VALUES[drawn])
)


@given(TYPED)
def test_a_value_survives_its_json_form(typed):
    data_type, value = typed
    text = json.dumps(value_to_json(data_type, value))
    assert same(data_type, value_from_json(data_type, json.loads(text)), value)


@given(TYPED)
def test_a_value_is_the_same_as_itself(typed):
    data_type, value = typed
    assert same(data_type, value, value)


@pytest.mark.parametrize(
    ("data_type", "left", "right", "stored_the_same", "equal_in_sql"),
    (
        (DOUBLE, NAN, NAN, True, True),
        (DOUBLE, -0.0, 0.0, False, True),
        (DOUBLE, 1.0, 1.0, True, True),
        (DOUBLE, math.inf, -math.inf, False, False),
        (DOUBLE, None, None, True, None),
        (STRING, None, "", False, None),
        (STRING, "a", "A", False, False),
        (DecimalType(5, 2), Decimal(100, 2), Decimal(1, 0), True, True),
        (POINT, (NAN, 1), (NAN, 1), True, True),
        (POINT, (-0.0, None), (0.0, None), False, True),
        (Map(STRING, LONG), (("a", 1), ("b", 2)), (("b", 2), ("a", 1)), True, True),
        (Array(LONG), (1, 2), (2, 1), False, False),
    ),
)
def test_what_is_stored_the_same_and_what_sql_takes_for_equal(
    data_type, left, right, stored_the_same, equal_in_sql
):
    assert same(data_type, left, right) is stored_the_same
    assert sql_equal(data_type, left, right) is equal_in_sql


def test_true_and_one_do_not_fall_together_in_a_bag_of_rows_of_their_own_types():
    assert bag(struct(("a", LONG)), [(1,), (1,), (None,)]) == {(1,): 2, (None,): 1}


def test_nan_sorts_above_infinity_and_strings_by_their_bytes():
    floats = [NAN, math.inf, -1.0, -math.inf, 0.0]
    assert [str(value) for value in sorted(floats, key=lambda value: order_key(DOUBLE, value))] == [
        "-inf",
        "-1.0",
        "0.0",
        "inf",
        "nan",
    ]
    # In UTF-16 the second would come first.
    assert sorted(["\U0001f600", "\uffee"], key=lambda value: order_key(STRING, value)) == [
        "\uffee",
        "\U0001f600",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    (
        ("-0.05", Decimal(-5, 2)),
        ("12", Decimal(12, 0)),
        ("-12.50", Decimal(-1250, 2)),
        ("0.000", Decimal(0, 3)),
    ),
)
def test_decimals_are_read_and_written_digit_by_digit(text, value):
    assert parse_decimal(text) == value
    assert str(value) == text


def test_a_decimal_never_loses_digits_to_a_smaller_scale():
    assert Decimal(1200, 3).at_scale(1) == Decimal(12, 1)
    with pytest.raises(ValueError, match=r"1\.234 does not fit scale 2"):
        Decimal(1234, 3).at_scale(2)


def test_single_precision_rounds_and_overflows_to_infinity():
    assert to_single(0.1) == 0.10000000149011612
    assert to_single(1e300) == math.inf
    assert to_single(-1e300) == -math.inf
    assert same(FLOAT, to_single(-0.0), -0.0)
