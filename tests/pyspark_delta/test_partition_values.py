"""Partition values and paths survive the log, for all characters, years and zones."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_delta.exceptions import CorruptLog, InvalidArgument
from pyspark_delta.partition_values import (
    absolute_path,
    decode_path,
    encode_path,
    hive_path,
    internal,
    parse,
    parse_column,
    serialize,
)

VALUES = {
    StringType(): st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    LongType(): st.integers(-(2**63), 2**63 - 1),
    ByteType(): st.integers(-128, 127),
    DoubleType(): st.floats(allow_nan=False),
    FloatType(): st.floats(width=32, allow_nan=False),
    DecimalType(20, 3): st.decimals(-(10**17) + 1, 10**17 - 1, places=3),
    BooleanType(): st.booleans(),
    DateType(): st.dates(),
    TimestampType(): st.datetimes(timezones=st.just(dt.UTC)),
    TimestampNTZType(): st.datetimes(),
    BinaryType(): st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.encode),
}


@pytest.mark.parametrize("data_type", tuple(VALUES), ids=lambda kind: kind.simpleString())
def test_a_value_comes_back_from_its_text(data_type):
    @given(VALUES[data_type])
    def check(value):
        text = serialize(value, data_type)
        assert parse(text, data_type) == value
        assert parse_column(pa.array([None, text, text, ""]), data_type).to_pylist() == [
            None,
            value,
            value,
            None,
        ]

    check()


@pytest.mark.parametrize("data_type", tuple(VALUES), ids=lambda kind: kind.simpleString())
def test_nothing_and_the_empty_text_are_null(data_type):
    assert parse("", data_type) is None
    assert parse(None, data_type) is None
    assert serialize(None, data_type) is None


def test_the_empty_text_can_not_be_distinguished_from_null():
    assert serialize("", StringType()) is None
    assert serialize(b"", BinaryType()) is None


@pytest.mark.parametrize(
    ("text", "data_type", "zone", "expected"),
    (
        ("2020-01-02", TimestampType(), "UTC", "2020-01-02T00:00:00"),
        ("2020-01-02 03:04:05", TimestampType(), "UTC", "2020-01-02T03:04:05"),
        ("2020-01-02 03:04:05.1", TimestampType(), "UTC", "2020-01-02T03:04:05.100000"),
        ("2020-01-02T03:04:05.123456Z", TimestampType(), "Asia/Tokyo", "2020-01-02T03:04:05.123456"),
        ("2020-01-02 03:04:05", TimestampType(), "Asia/Tokyo", "2020-01-01T18:04:05"),
        ("2020-07-02 03:04:05", TimestampType(), "+02:00", "2020-07-02T01:04:05"),
        ("2020-01-02T03:04:05-08:00", TimestampType(), "UTC", "2020-01-02T11:04:05"),
        ("0001-01-01 00:00:00", TimestampNTZType(), "UTC", "0001-01-01T00:00:00"),
    ),
)
def test_times_are_read_in_all_forms_that_writers_use(text, data_type, zone, expected):
    assert parse(text, data_type, zone).replace(tzinfo=None).isoformat() == expected


def test_years_beyond_python_are_numbers():
    assert internal("+10000-01-01", DateType()) == 2_932_897
    assert internal("-0001-12-31", DateType()) == -719_529
    assert parse_column(pa.array(["+10000-01-01"]), DateType()).cast(pa.int32()).to_pylist() == [2_932_897]
    with pytest.raises(InvalidArgument, match="beyond what a Python date can hold"):
        parse("+10000-01-01", DateType())


@pytest.mark.parametrize(
    ("text", "data_type"),
    (("x", IntegerType()), ("maybe", BooleanType()), ("2020-13-01", DateType()), ("1,5", DecimalType(5, 2))),
)
def test_a_text_that_is_no_value_of_the_column_is_corruption(text, data_type):
    with pytest.raises(CorruptLog, match="which is no"):
        internal(text, data_type)


def test_bytes_that_are_no_text_can_not_be_partition_values():
    with pytest.raises(InvalidArgument, match="UTF-8"):
        serialize(b"\xff", BinaryType())


def test_folders_are_escaped_as_hive_does():
    values = {"a b": "x/y=z%", "c": None, "d": "", "e": "tab\tü"}
    assert hive_path(values) == (
        "a b=x%2Fy%3Dz%25/c=__HIVE_DEFAULT_PARTITION__/d=__HIVE_DEFAULT_PARTITION__/e=tab%09ü"
    )
    assert hive_path({}) == ""


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1))
def test_a_path_comes_back_from_its_uri(name):
    path = f"folder/{name}"
    encoded = encode_path(path)
    assert decode_path(encoded) == path
    assert encoded.isascii()
    assert ":" not in encoded
    assert absolute_path(encoded, "/table") == f"/table/{path}"


@pytest.mark.parametrize(
    ("path", "expected"),
    (
        ("a%20b/c", "/t/a b/c"),
        ("file:/x/a%20b", "/x/a b"),
        ("file:///x/y", "/x/y"),
        ("/x/a%2520b", "/x/a%20b"),
        ("a:b", "/t/a:b"),
    ),
)
def test_absolute_paths_stand_for_themselves(path, expected):
    assert absolute_path(path, "/t") == expected
