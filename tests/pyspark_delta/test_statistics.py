"""Statistics from footers are bounds by SQL's rules, exact if possible, and absent if they can't be guaranteed."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_delta.exceptions import InvalidArgument
from pyspark_delta.statistics import indexed_columns, of_file, of_files, truncated_max, truncated_min


def statistics_of(tmp_path: Path, column: pa.Array, data_type: DataType, **options: Any) -> dict[str, Any]:
    path = str(tmp_path / "file.parquet")
    pq.write_table(pa.table({"c": column}), path, **options)
    return told_of(path, StructType([StructField("c", data_type)]))


def told_of(path: str, schema: StructType) -> dict[str, Any]:
    facts = of_file(path, indexed_columns(schema, (), {}))
    parsed: dict[str, Any] = json.loads(facts.text, parse_float=Decimal)
    return parsed


def bounds(statistics: dict[str, Any], name: str = "c") -> tuple[Any, Any]:
    return statistics.get("minValues", {}).get(name), statistics.get("maxValues", {}).get(name)


def test_rows_and_nulls_are_counted_over_all_row_groups(tmp_path: Path):
    statistics = statistics_of(tmp_path, pa.array([1, None, 3, None, None, 6]), LongType(), row_group_size=2)
    assert statistics["numRecords"] == 6
    assert statistics["nullCount"] == {"c": 3}
    assert bounds(statistics) == (1, 6)


def test_a_column_of_nulls_has_no_bounds(tmp_path: Path):
    statistics = statistics_of(tmp_path, pa.array([None, None], pa.int64()), LongType())
    assert statistics["nullCount"] == {"c": 2}
    assert bounds(statistics) == (None, None)


def test_a_file_without_rows_has_no_bounds(tmp_path: Path):
    statistics = statistics_of(tmp_path, pa.array([], pa.int64()), LongType())
    assert statistics["numRecords"] == 0
    assert bounds(statistics) == (None, None)


def test_a_row_group_that_keeps_its_bounds_to_itself_takes_them_from_the_file(tmp_path: Path):
    statistics = statistics_of(tmp_path, pa.array(["a", "b" * 100_000]), StringType(), row_group_size=1)
    assert bounds(statistics) == (None, None)
    assert statistics["nullCount"] == {"c": 0}


def test_nan_makes_no_bound_and_arrow_s_maximum_is_not_trusted(tmp_path: Path):
    statistics = statistics_of(tmp_path, pa.array([1.5, math.nan, 2.5]), DoubleType())
    assert bounds(statistics) == (Decimal("1.5"), None)


def test_zeros_are_widened_to_both_signs_and_infinities_left_out(tmp_path: Path):
    assert str(bounds(statistics_of(tmp_path, pa.array([0.0, 1.0]), DoubleType()))[0]) == "-0.0"
    assert bounds(statistics_of(tmp_path, pa.array([-math.inf, 1.0]), DoubleType())) == (None, None)


@pytest.mark.parametrize(
    ("unscaled", "precision", "scale", "text"),
    (
        (1234567890123456789012345678901234567, 38, 18, "1234567890123456789.012345678901234567"),
        (-5, 5, 2, "-0.05"),
        (0, 38, 18, "0.000000000000000000"),
        (99, 9, 0, "99"),
    ),
)
def test_decimals_keep_every_digit(tmp_path: Path, unscaled: int, precision: int, scale: int, text: str):
    value = Decimal((int(unscaled < 0), tuple(int(digit) for digit in str(abs(unscaled))), -scale))
    path = str(tmp_path / "file.parquet")
    for as_integer in (False, True):
        column = pa.array([value, None], pa.decimal128(precision, scale))
        pq.write_table(pa.table({"c": column}), path, store_decimal_as_integer=as_integer)
        schema = StructType([StructField("c", DecimalType(precision, scale))])
        assert f'"minValues":{{"c":{text}}}' in of_file(path, indexed_columns(schema, (), {})).text


def test_times_are_cut_to_milliseconds_outwards(tmp_path: Path):
    column = pa.array([-1, 1_000_001], pa.timestamp("us", "UTC"))
    assert bounds(statistics_of(tmp_path, column, TimestampType())) == (
        "1969-12-31T23:59:59.999Z",
        "1970-01-01T00:00:01.001Z",
    )


def test_times_without_a_zone_say_none(tmp_path: Path):
    column = pa.array([0, 1_000_000], pa.timestamp("us"))
    assert bounds(statistics_of(tmp_path, column, TimestampNTZType())) == (
        "1970-01-01T00:00:00.000",
        "1970-01-01T00:00:01.000",
    )


def test_times_of_the_other_kind_than_the_column_say_nothing(tmp_path: Path):
    assert bounds(statistics_of(tmp_path, pa.array([0], pa.timestamp("us")), TimestampType())) == (None, None)


def test_dates_beyond_four_digit_years_are_left_out(tmp_path: Path):
    days = pa.array([-719_162, 3_000_000], pa.int32()).cast(pa.date32())
    assert bounds(statistics_of(tmp_path, days, DateType())) == ("0001-01-01", None)
    assert bounds(statistics_of(tmp_path, pa.array([dt.date(2024, 2, 29)]), DateType())) == (
        "2024-02-29",
        "2024-02-29",
    )


def test_texts_are_cut_to_32_characters_and_the_maximum_rounded_up(tmp_path: Path):
    statistics = statistics_of(tmp_path, pa.array(["a" * 40, "z" * 40]), StringType())
    assert bounds(statistics) == ("a" * 32, "z" * 31 + "{")


@pytest.mark.parametrize(
    ("text", "cut"),
    (
        ("b" * 32, "b" * 32),
        ("b" * 33, "b" * 31 + "c"),
        ("b" * 31 + "\ud7ff" + "x", "b" * 31 + "\ue000"),
        ("b" * 31 + "\U0010ffff" + "x", "b" * 30 + "c"),
        ("\U0010ffff" * 33, None),
    ),
)
def test_the_cut_maximum_is_after_every_text_that_begins_so(text: str, cut: str | None):
    assert truncated_max(text) == cut
    if cut is not None:
        assert cut.encode() >= text.encode()
    assert truncated_min(text).encode() <= text.encode()


def test_binary_and_boolean_columns_have_null_counts_only(tmp_path: Path):
    for column, kind in ((pa.array([b"\xff", None]), BinaryType()), (pa.array([True, None]), BooleanType())):
        statistics = statistics_of(tmp_path, column, kind)
        assert statistics["nullCount"] == {"c": 1}
        assert bounds(statistics) == (None, None)


def test_nested_columns_mirror_the_schema_and_arrays_say_nothing(tmp_path: Path):
    path = str(tmp_path / "file.parquet")
    rows = [
        {"s": {"x": 1, "t": {"y": "b"}}, "l": [1]},
        {"s": None, "l": []},
        {"s": {"x": None, "t": None}, "l": None},
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    inner = StructType([StructField("y", StringType())])
    struct = StructType([StructField("x", LongType()), StructField("t", inner)])
    statistics = told_of(
        path, StructType([StructField("s", struct), StructField("l", ArrayType(LongType()))])
    )
    assert statistics["nullCount"] == {"s": {"x": 2, "t": {"y": 2}}}
    assert statistics["minValues"] == {"s": {"x": 1, "t": {"y": "b"}}}


def test_a_name_with_a_dot_that_could_be_a_nested_column_says_nothing(tmp_path: Path):
    path = str(tmp_path / "file.parquet")
    pq.write_table(pa.table({"s": [{"x": 1}], "s.x": [100]}), path)
    struct = StructType([StructField("x", LongType())])
    statistics = told_of(path, StructType([StructField("s", struct), StructField("s.x", LongType())]))
    assert "minValues" not in statistics or not statistics["minValues"]


def test_the_first_32_leaf_columns_have_statistics_unless_the_table_says_otherwise():
    pair = StructType([StructField("x", LongType()), StructField("y", LongType())])
    schema = StructType([StructField("p", LongType()), *(StructField(f"c{n}", pair) for n in range(20))])
    columns = indexed_columns(schema, ["p"], {})
    assert len(columns) == 32
    assert columns[-1][0] == ("c15", "y")
    assert len(indexed_columns(schema, ["p"], {"delta.dataSkippingNumIndexedCols": "3"})) == 3
    assert len(indexed_columns(schema, ["p"], {"delta.dataSkippingNumIndexedCols": "-1"})) == 40
    chosen = {
        "delta.dataSkippingStatsColumns": "c19, C2.`y` ,nothing",
        "delta.dataSkippingNumIndexedCols": "1",
    }
    assert [path for path, _ in indexed_columns(schema, ["p"], chosen)] == [
        ("c2", "y"),
        ("c19", "x"),
        ("c19", "y"),
    ]
    with pytest.raises(InvalidArgument, match="dataSkippingNumIndexedCols"):
        indexed_columns(schema, ["p"], {"delta.dataSkippingNumIndexedCols": "many"})


def test_many_files_are_read_in_their_order(tmp_path: Path):
    paths = [str(tmp_path / f"{number}.parquet") for number in range(12)]
    for number, path in enumerate(paths):
        pq.write_table(pa.table({"c": [number]}), path)
    facts = of_files(paths, indexed_columns(StructType([StructField("c", LongType())]), (), {}))
    assert [json.loads(fact.text)["minValues"]["c"] for fact in facts] == list(range(12))
