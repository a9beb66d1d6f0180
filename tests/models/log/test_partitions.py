"""The value that a partition value in the log means."""

from __future__ import annotations

import math
from zoneinfo import ZoneInfo

import pytest

from delta_models.log.partitions import parse_partition_value
from delta_models.schema import (
    BINARY,
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
    Array,
    DecimalType,
)
from delta_models.values import Decimal

DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("data_type", "text", "value"),
    (
        (STRING, "a b", "a b"),
        (STRING, "", None),
        (LONG, None, None),
        (LONG, "", None),
        (BYTE, "-128", -128),
        (SHORT, "32767", 32767),
        (INTEGER, "-2147483648", -(1 << 31)),
        (LONG, "9223372036854775807", (1 << 63) - 1),
        (BOOLEAN, "true", True),
        (DOUBLE, "-0.0", -0.0),
        (DOUBLE, "1.5E10", 1.5e10),
        (DOUBLE, "-Infinity", -math.inf),
        (FLOAT, "0.1", 0.10000000149011612),
        (DATE, "1970-01-02", 1),
        (DATE, "0001-01-01", -719162),
        (DATE, "-0001-01-01", -719893),
        (DATE, "12024-02-29", 25 * 146_097 + 19_782),
        (TIMESTAMP, "1970-01-01 00:00:00", 0),
        (TIMESTAMP, "1970-01-01 00:00:00.000001", 1),
        (TIMESTAMP, "1970-01-01 00:00:00.5", 500_000),
        (TIMESTAMP, "1970-01-01T00:00:00.123456Z", 123_456),
        (TIMESTAMP, "1970-01-01T01:00:00+01:00", 0),
        (TIMESTAMP, "1969-12-31 23:59:59.999999", -1),
        (TIMESTAMP, "0001-01-01 00:00:00", -719162 * DAY),
        (TIMESTAMP_NTZ, "1970-01-02 00:00:00", DAY),
        (DecimalType(5, 2), "-12.5", Decimal(-1250, 2)),
        (DecimalType(38, 0), "9" * 38, Decimal(10**38 - 1, 0)),
        (DecimalType(10, 2), "1E+3", Decimal(100_000, 2)),
        (BINARY, "\u0001\u0002", b"\x01\x02"),
    ),
)
def test_a_partition_value_means_a_value(data_type, text, value):
    parsed = parse_partition_value(data_type, text)
    assert parsed == value
    assert not isinstance(value, float) or math.copysign(1, parsed) == math.copysign(1, value)


def test_a_timestamp_without_offset_is_of_the_writers_zone():
    zone = ZoneInfo("America/Los_Angeles")
    assert parse_partition_value(TIMESTAMP, "1970-01-01 00:00:00", zone) == 8 * 3_600_000_000
    assert parse_partition_value(TIMESTAMP, "1970-01-01T00:00:00Z", zone) == 0
    assert parse_partition_value(TIMESTAMP_NTZ, "1970-01-01 00:00:00", zone) == 0


@pytest.mark.parametrize(
    ("data_type", "text"),
    (
        (BYTE, "128"),
        (LONG, "1.5"),
        (BOOLEAN, "yes"),
        (DATE, "2024-02-30"),
        (DATE, "yesterday"),
        (TIMESTAMP, "2024-01-01 25:00:00"),
        (TIMESTAMP, "2024-01-01 00:00"),
        (DecimalType(3, 1), "12.34"),
        (DecimalType(3, 1), "100.0"),
        (Array(LONG), "[1]"),
    ),
)
def test_a_partition_value_that_means_nothing_is_an_error(data_type, text):
    with pytest.raises(ValueError, match=r"."):
        parse_partition_value(data_type, text)
