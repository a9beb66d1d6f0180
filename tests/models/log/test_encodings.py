"""Paths, partition values, durations and the canonical form of JSON, as the protocol writes them."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from delta_models.log import canonical_json, paths, retention
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
FAR_DAY = 3_663_382  # the first of January in the year 12000


@pytest.mark.parametrize(
    ("written", "meant"),
    (
        ("a.parquet", "/t/a.parquet"),
        ("p=a%20b/x%25y.parquet", "/t/p=a b/x%y.parquet"),
        ("p=%C3%A4/x.parquet", "/t/p=ä/x.parquet"),
        ("p=a+b/x.parquet", "/t/p=a+b/x.parquet"),
        ("/elsewhere/x%20y", "/elsewhere/x y"),
        ("file:/elsewhere/x", "/elsewhere/x"),
        ("file:///elsewhere/x%23", "/elsewhere/x#"),
        ("file://host/elsewhere/x", "/elsewhere/x"),
    ),
)
def test_a_path_means_a_file(written, meant):
    assert paths.resolve(Path("/t"), written) == Path(meant)


def test_bytes_that_are_no_utf_8_stay_in_a_path():
    assert paths.decode("%FF").encode("utf-8", "surrogateescape") == b"\xff"


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
    found = parse_partition_value(data_type, text)
    assert found == value
    assert not isinstance(value, float) or math.copysign(1, found) == math.copysign(1, value)


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


@pytest.mark.parametrize(
    ("text", "millis"),
    (
        ("interval 1 week", 604_800_000),
        ("interval 2 days 3 hours", 183_600_000),
        ("0 hours", 0),
        ("INTERVAL 30 MINUTES", 1_800_000),
    ),
)
def test_a_duration_has_its_milliseconds(text, millis):
    assert retention.parse_duration(text) == millis


@pytest.mark.parametrize("text", ("", "interval", "soon", "1 month", "1 day and more"))
def test_what_is_no_fixed_time_is_no_duration(text):
    with pytest.raises(ValueError, match="not a duration"):
        retention.parse_duration(text)


EXAMPLE = (
    '{"k0":"\'v 0\'", "checksum": "adsaskfljadfkjadfkj", "k1":{"k2": 2, "k3": ["v3", [1, 2], '
    '{"k4": "v4", "k5": ["v5", "v6", "v7"]}]}}'
)


def test_the_example_of_the_protocol_has_its_canonical_form_and_checksum():
    assert canonical_json.canonical(EXAMPLE) == (
        '"k0"="%27v%200%27","k1"+"k2"=2,"k1"+"k3"+0="v3","k1"+"k3"+1+0=1,"k1"+"k3"+1+1=2,'
        '"k1"+"k3"+2+"k4"="v4","k1"+"k3"+2+"k5"+0="v5","k1"+"k3"+2+"k5"+1="v6","k1"+"k3"+2+"k5"+2="v7"'
    )
    assert canonical_json.checksum(EXAMPLE) == "6a92d155a59bf2eecbd4b4ec7fd1f875"


def test_numbers_and_literals_stand_as_they_are_written():
    text = '{"b": 1.50, "a": [true, null, -0, 1e5], "c": "\u00e4~"}'
    assert canonical_json.canonical(text) == '"a"+0=true,"a"+1=null,"a"+2=-0,"a"+3=1e5,"b"=1.50,"c"="%C3%A4~"'


def test_a_key_that_stands_twice_is_an_error():
    with pytest.raises(canonical_json.DuplicateKey):
        canonical_json.canonical('{"a": 1, "a": 1}')


def test_only_the_checksum_of_the_top_is_left_out():
    assert canonical_json.canonical(json.dumps({"checksum": 1, "x": {"checksum": 2}})) == '"x"+"checksum"=2'


@pytest.mark.parametrize("year", (1, 1582, 2262, 9999))
def test_a_checkpoint_with_old_spark_timestamps_of_any_year_in_its_statistics_is_read(table, year):
    protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
    table.create(protocol)
    action = table.add()
    table.write(action)
    path = table.checkpoint({"protocol": protocol}, table.metadata(), action)
    held = pq.read_table(path)
    adds = held.column("add").combine_chunks()
    moment = pa.array([None, None, datetime(year, 7, 1, tzinfo=UTC)], pa.timestamp("us", tz="UTC"))
    day = pa.array([None, None, FAR_DAY], pa.int32()).cast(pa.date32())
    bounds = pa.StructArray.from_arrays([moment, day], ["when", "day"])
    stats = pa.StructArray.from_arrays([bounds], ["minValues"])
    fields = [(each.name, adds.field(at)) for at, each in enumerate(adds.type)]
    arrays, names = [*(each for _, each in fields), stats], [*(name for name, _ in fields), "stats_parsed"]
    grown = pa.StructArray.from_arrays(arrays, names, mask=adds.is_null())
    columns = {name: grown if name == "add" else held.column(name) for name in held.column_names}
    pq.write_table(pa.table(columns), path, use_deprecated_int96_timestamps=True)
    assert not table.violations()
    (add,) = table.reader.replayed(1, table.reader.starts(1)[0]).live.values()
    assert add.stats_parsed["minValues"] == {"when": f"{year:04}-07-01 00:00:00", "day": "+12000-01-01"}
