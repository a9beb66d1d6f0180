"""Arrow arrays give the same values in every form: views, dictionaries, units, zones, widths, slices."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import time
from typing import Any

import pyarrow as pa
import pytest

from delta_models.log.parquet import ArrowMismatch, arrow_to_rows, column_values
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
    VARIANT,
    VOID,
    Array,
    DataType,
    DecimalType,
    Map,
    struct,
)
from delta_models.values import Decimal, Variant

D = decimal.Decimal
TEXTS = ["", "ä", None, "abc" * 9, "\U0010ffff"]
CENTS = DecimalType(10, 2)
PRICES = [Decimal(125, 2), None, Decimal(-1, 2), Decimal(0, 2), Decimal(9_999_999_999, 2)]
PRICED = [D("1.25"), None, D("-0.01"), D("0.00"), D("99999999.99")]
BIG = [D("-" + "9" * 36 + ".99"), None, D("0.01")]
BIGGEST = [Decimal(1 - 10**38, 2), None, Decimal(1, 2)]
INNER = struct(("a", LONG), ("b", STRING))
CASES: dict[str, tuple[Any, DataType, list[Any]]] = {
    "int8": (pa.array([-128, None, 127], pa.int8()), BYTE, [-128, None, 127]),
    "int16": (pa.array([-32768, None], pa.int16()), SHORT, [-32768, None]),
    "int32 as a long": (pa.array([1, None], pa.int32()), LONG, [1, None]),
    "int64": (
        pa.array([-(1 << 63), None, (1 << 63) - 1], pa.int64()),
        LONG,
        [-(1 << 63), None, (1 << 63) - 1],
    ),
    "uint8": (pa.array([255], pa.uint8()), INTEGER, [255]),
    "float16": (pa.array([1.5, None], pa.float16()), FLOAT, [1.5, None]),
    "float32": (pa.array([0.1, None], pa.float32()), FLOAT, [0.10000000149011612, None]),
    "float32 as a double": (pa.array([1.5], pa.float32()), DOUBLE, [1.5]),
    "int32 as a double": (pa.array([7, None], pa.int32()), DOUBLE, [7.0, None]),
    "string": (pa.array(TEXTS), STRING, TEXTS),
    "large string": (pa.array(TEXTS, pa.large_string()), STRING, TEXTS),
    "string view": (pa.array(TEXTS, pa.string_view()), STRING, TEXTS),
    "dictionary": (pa.array(TEXTS).dictionary_encode(), STRING, TEXTS),
    "dictionary of views": (
        pa.array(TEXTS).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
        STRING,
        TEXTS,
    ),
    "run ends": (pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(["x", None])), STRING, ["x", "x", None]),
    "bytes that are no text": (pa.array([b"\xff", b"a"]), STRING, ["\udcff", "a"]),
    "binary": (pa.array([b"\xff\0", None, b""]), BINARY, [b"\xff\0", None, b""]),
    "large binary": (pa.array([b"\xff\0", None], pa.large_binary()), BINARY, [b"\xff\0", None]),
    "binary view": (pa.array([b"\xff\0", None], pa.binary_view()), BINARY, [b"\xff\0", None]),
    "fixed binary": (pa.array([b"ab", None], pa.binary(2)), BINARY, [b"ab", None]),
    "boolean": (pa.array([True, None, False]), BOOLEAN, [True, None, False]),
    "date32": (pa.array([-719162, None, 1], pa.date32()), DATE, [-719162, None, 1]),
    "date64": (pa.array([dt.date(1969, 12, 31), None], pa.date64()), DATE, [-1, None]),
    "seconds": (pa.array([-1, None], pa.timestamp("s", "UTC")), TIMESTAMP, [-1_000_000, None]),
    "millis": (pa.array([-1, None], pa.timestamp("ms", "Asia/Tokyo")), TIMESTAMP, [-1000, None]),
    "micros": (pa.array([-1, None], pa.timestamp("us", "UTC")), TIMESTAMP, [-1, None]),
    "nanos": (pa.array([-1, 1999, None], pa.timestamp("ns", "UTC")), TIMESTAMP, [-1, 1, None]),
    "local micros": (pa.array([5, None], pa.timestamp("us")), TIMESTAMP_NTZ, [5, None]),
    "date as a local timestamp": (pa.array([1], pa.date32()), TIMESTAMP_NTZ, [86_400_000_000]),
    "decimal128": (pa.array(PRICED, pa.decimal128(10, 2)), CENTS, PRICES),
    "decimal64": (pa.array(PRICED, pa.decimal64(10, 2)), CENTS, PRICES),
    "decimal256": (pa.array(PRICED, pa.decimal256(10, 2)), CENTS, PRICES),
    "decimal32": (pa.array([D("1.25"), None], pa.decimal32(5, 2)), CENTS, [Decimal(125, 2), None]),
    "widest decimal": (pa.array(BIG, pa.decimal128(38, 2)), DecimalType(38, 2), BIGGEST),
    "decimal of a smaller scale": (pa.array([D("1.2")], pa.decimal128(5, 1)), CENTS, [Decimal(120, 2)]),
    "int32 as a decimal": (pa.array([7, None], pa.int32()), CENTS, [Decimal(700, 2), None]),
    "null": (pa.nulls(2), LONG, [None, None]),
    "void": (pa.nulls(2), VOID, [None, None]),
    "list": (pa.array([[1, None], None, []]), Array(LONG), [(1, None), None, ()]),
    "large list": (pa.array([[1], None], pa.large_list(pa.int64())), Array(LONG), [(1,), None]),
    "list view": (pa.array([[1], None], pa.list_view(pa.int64())), Array(LONG), [(1,), None]),
    "fixed list": (pa.array([[1, 2], None], pa.list_(pa.int64(), 2)), Array(LONG), [(1, 2), None]),
    "map": (
        pa.array([[("a", 1), ("b", None)], None, []], pa.map_(pa.string(), pa.int64())),
        Map(STRING, LONG),
        [(("a", 1), ("b", None)), None, ()],
    ),
    "struct": (
        pa.array([{"b": "x", "a": 1}, None, {"a": None, "b": None}]),
        INNER,
        [(1, "x"), None, (None, None)],
    ),
    "struct without a field": (pa.array([{"a": 1}]), INNER, [(1, None)]),
    "list of structs": (pa.array([[{"b": "x", "a": 1}], None]), Array(INNER), [((1, "x"),), None]),
    "variant": (
        pa.array([{"value": b"\x0c\x01", "metadata": b"\x01\0\0"}, None]),
        VARIANT,
        [Variant(b"\x01\0\0", b"\x0c\x01"), None],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_array_holds_values(name):
    array, data_type, values = CASES[name]
    assert column_values(array, data_type) == values


@pytest.mark.parametrize("name", [name for name in CASES if name != "run ends"])
def test_a_slice_of_an_array_holds_its_part_of_the_values(name):
    array, data_type, values = CASES[name]
    assert column_values(array.slice(1), data_type) == values[1:]
    assert column_values(array.slice(0, 0), data_type) == []
    tripled = pa.chunked_array([array, array.slice(1), array], array.type)
    assert column_values(tripled, data_type) == values + values[1:] + values


def test_special_doubles_stay_what_they_are():
    values = column_values(pa.array([math.nan, -0.0, math.inf]), DOUBLE)
    assert math.isnan(values[0])
    assert math.copysign(1, values[1]) == -1
    assert values[2] == math.inf


def test_columns_are_found_by_name_and_missing_ones_are_null():
    table = pa.table({"B": [1, 2], "extra": [0, 0], "a": ["x", None]})
    schema = struct(("a", STRING), ("b", LONG), ("c", DATE))
    assert arrow_to_rows(table, schema).rows == (("x", 1, None), (None, 2, None))


def test_an_exact_name_goes_before_one_in_other_case():
    assert arrow_to_rows(pa.table({"A": [1], "a": [2]}), struct(("a", LONG))).rows == ((2,),)


def test_a_table_without_columns_has_its_rows():
    assert len(arrow_to_rows(pa.table({"x": [1, 2, 3]}), struct())) == 3


@pytest.mark.parametrize(
    ("array", "data_type"),
    (
        (pa.array(["1"]), LONG),
        (pa.array([1.0]), LONG),
        (pa.array([1]), STRING),
        (pa.array([1]), TIMESTAMP),
        (pa.array([D("1.234")]), DecimalType(10, 2)),
        (pa.array([{"a": 1}]), LONG),
        (pa.array([{"x": 1}]), VARIANT),
    ),
)
def test_an_array_of_another_kind_is_refused(array, data_type):
    with pytest.raises(ArrowMismatch):
        column_values(array, data_type)


def test_the_column_that_does_not_fit_is_named():
    with pytest.raises(ArrowMismatch, match="column 'b'"):
        arrow_to_rows(pa.table({"a": [1], "b": ["x"]}), struct(("a", LONG), ("b", LONG)))


def test_a_hundred_thousand_rows_are_read_without_a_detour_through_scalars():
    count = 100_000
    numbers = pa.array(range(count))
    table = pa.table(
        {
            "a": numbers,
            "b": numbers.cast(pa.string()),
            "c": numbers.cast(pa.float64()),
            "d": numbers.cast(pa.int32()),
        }
    )
    began = time.process_time()
    rows = arrow_to_rows(table, struct(("a", LONG), ("b", STRING), ("c", DOUBLE), ("d", INTEGER)))
    assert rows.rows[-1] == (count - 1, str(count - 1), float(count - 1), count - 1)
    assert time.process_time() - began < 1
