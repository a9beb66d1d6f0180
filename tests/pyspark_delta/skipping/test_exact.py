"""No file is skipped that has a row for which the predicate is true."""

from __future__ import annotations

import datetime as dt
import json
import math
import operator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import (
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pyspark_delta.log.actions import Add
from pyspark_delta.log.file_set import Files
from pyspark_delta.partition_values import internal
from pyspark_delta.predicates import (
    FALSE,
    NULL,
    TRUE,
    And,
    Comparison,
    Constant,
    In,
    IsNull,
    Not,
    Or,
    Predicate,
    StartsWith,
    Unknown,
)
from pyspark_delta.skipping.exact import Pruner

SCHEMA = StructType(
    [
        StructField("p", IntegerType()),
        StructField("q", StringType()),
        StructField("id", LongType()),
        StructField("s", StringType()),
        StructField("d", DateType()),
        StructField("ts", TimestampType()),
        StructField("dec", DecimalType(38, 2)),
        StructField("f", DoubleType()),
        StructField("st", StructType([StructField("x", LongType())])),
    ]
)
PRUNER = Pruner(SCHEMA, ["p", "q"])


def stats(low: Any = None, high: Any = None, nulls: int = 0, records: int = 10, column: str = "id") -> str:
    body: dict[str, Any] = {
        "numRecords": records,
        "minValues": {},
        "maxValues": {},
        "nullCount": {column: nulls},
    }
    if low is not None:
        body["minValues"][column] = low
    if high is not None:
        body["maxValues"][column] = high
    return json.dumps(body)


def outcomes(predicate: Predicate, text: str | None = None, **partition: str | None) -> int:
    return PRUNER.outcomes(predicate, {"p": None, "q": None, **partition}, text)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    (
        (Comparison("=", ("p",), 5), TRUE),
        (Comparison("<", ("p",), 5), FALSE),
        (Comparison("<=", ("P",), 5), TRUE),
        (Comparison(">", ("p",), None), NULL),
        (Comparison("<=>", ("q",), None), TRUE),
        (Comparison("=", ("q",), "x"), NULL),
        (Not(Comparison("=", ("q",), "x")), NULL),
        (IsNull(("q",)), TRUE),
        (In(("p",), (1, 5)), TRUE),
        (In(("p",), (1, None)), NULL),
        (Not(In(("p",), (1, None))), NULL),
        (And((Comparison("=", ("p",), 5), Comparison("=", ("q",), "x"))), NULL),
        (Or((Comparison("=", ("p",), 5), Comparison("=", ("q",), "x"))), TRUE),
        (And((Comparison("=", ("p",), 6), Unknown())), FALSE),
        (Constant(None), NULL),
    ),
    ids=str,
)
def test_partition_values_decide_exactly(predicate, expected):
    assert outcomes(predicate, p="5", q=None) == expected


@pytest.mark.parametrize(
    ("operator_", "value", "may"),
    (
        ("=", 9, False),
        ("=", 10, True),
        ("=", 20, True),
        ("=", 21, False),
        ("<", 10, False),
        ("<=", 10, True),
        (">", 20, False),
        (">=", 20, True),
        (">", 19, True),
    ),
)
def test_statistics_leave_out_what_can_not_be_there(operator_, value, may):
    possible = outcomes(Comparison(operator_, ("id",), value), stats(10, 20))
    assert bool(possible & TRUE) is may


def test_a_file_all_of_whose_rows_are_picked_is_known():
    assert outcomes(Comparison(">", ("id",), 9), stats(10, 20)) == TRUE
    assert outcomes(Comparison(">", ("id",), 9), stats(10, 20, nulls=1)) == TRUE | NULL
    assert outcomes(Comparison(">=", ("id",), 11), stats(10, 20)) == TRUE | FALSE


def test_a_column_of_nothing_but_nulls_matches_only_the_test_for_null():
    text = stats(nulls=10)
    assert outcomes(Comparison("=", ("id",), 1), text) == NULL
    assert outcomes(IsNull(("id",)), text) == TRUE
    assert outcomes(Not(IsNull(("id",))), text) == FALSE


def test_without_statistics_everything_may_be_there():
    for text in (None, "", "{}", "[1]", "no json", '{"numRecords":5}', stats(low=1)):
        assert outcomes(Comparison("=", ("id",), 1), text) & TRUE


def test_the_end_of_a_long_text_may_be_cut_off():
    text = stats("aaa", "zzz", column="s")
    assert outcomes(Comparison(">", ("s",), "zzz"), text) & TRUE
    assert outcomes(Comparison("=", ("s",), "zzzzzz"), text) & TRUE
    assert outcomes(StartsWith(("s",), "zzzy"), text) & TRUE
    assert not outcomes(Comparison("=", ("s",), "aa"), text) & TRUE
    assert not outcomes(StartsWith(("s",), "aa0"), text) & TRUE
    assert not outcomes(Comparison(">", ("s",), "zzzz"), stats("aaa", "zzy", column="s")) & TRUE


def test_texts_compare_by_their_bytes():
    text = stats("\uffee", "\U0001f600", column="s")
    assert outcomes(Comparison("=", ("s",), "\U00010000"), text) & TRUE


def test_nan_may_be_beyond_every_maximum():
    text = stats(0.0, 1.0, column="f")
    assert outcomes(Comparison("=", ("f",), math.nan), text) & TRUE
    assert outcomes(Comparison(">", ("f",), 5.0), text) & TRUE
    assert not outcomes(Comparison("<", ("f",), -1.0), text) & TRUE
    assert outcomes(Comparison("=", ("f",), -0.0), text) & TRUE


def test_milliseconds_are_no_microseconds():
    text = stats("2020-01-01T00:00:00.123Z", "2020-01-01T00:00:00.123Z", column="ts")
    moment = internal("2020-01-01 00:00:00.123999", TimestampType())
    assert outcomes(Comparison("=", ("ts",), moment), text) & TRUE
    later = internal("2020-01-01 00:00:00.125", TimestampType())
    assert not outcomes(Comparison("=", ("ts",), later), text) & TRUE


def test_decimals_may_have_lost_their_last_digits():
    exact = Decimal("123456789012345678901234567890.12")
    text = stats(float(exact), float(exact), column="dec")
    assert outcomes(Comparison("=", ("dec",), exact), text) & TRUE
    assert not outcomes(Comparison("=", ("dec",), Decimal(5)), text) & TRUE


def test_columns_inside_of_structs_have_statistics_too():
    text = json.dumps({"numRecords": 1, "minValues": {"st": {"x": 1}}, "maxValues": {"st": {"x": 2}}})
    assert outcomes(Comparison("=", ("st", "x"), 2), text) & TRUE
    assert not outcomes(Comparison("=", ("st", "x"), 3), text) & TRUE


def test_columns_are_looked_up_under_their_names_in_files():
    metadata = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1"}
    pruner = Pruner(StructType([StructField("id", LongType(), True, metadata)]), [])
    assert not pruner.may_match(Comparison("=", ("id",), 9), {}, stats(1, 2, column="col-1"))
    assert pruner.may_match(Comparison("=", ("id",), 9), {}, stats(1, 2, column="id"))


def test_files_keep_their_order_and_each_its_outcomes():
    adds = [
        Add("a", {"p": "1", "q": "x"}, 1, 1, stats=stats(0, 9)),
        Add("b", {"p": "2", "q": "x"}, 1, 1, stats=stats(10, 19)),
        Add("c", {"p": "1", "q": None}, 1, 1, stats=stats(10, 19)),
        Add("d", {"p": "1", "q": "x"}, 1, 1),
    ]
    files = Files.of(adds, "/t")
    predicate = And((Comparison("=", ("p",), 1), Comparison(">=", ("id",), 10)))
    assert PRUNER.matching(files, predicate).raw_paths() == ["c", "d"]
    assert PRUNER.classify(files, predicate).tolist() == [FALSE, FALSE, TRUE, TRUE | FALSE | NULL]
    assert PRUNER.matching(files, None) is files
    assert len(PRUNER.matching(files, Constant(False))) == 0


_COLUMNS: dict[str, tuple[DataType, st.SearchStrategy[Any]]] = {
    "id": (LongType(), st.integers(-3, 3)),
    "s": (StringType(), st.text("ab\uffff\U0001f600", max_size=3)),
    "d": (DateType(), st.dates(dt.date(1969, 12, 30), dt.date(1970, 1, 2))),
    "f": (DoubleType(), st.sampled_from([-1.0, -0.0, 0.0, 1.0, math.nan, math.inf])),
}
_OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}


def rank(value: Any) -> Any:
    return (math.isnan(value), 0.0 if math.isnan(value) else value) if isinstance(value, float) else value


def evaluate(predicate: Predicate, row: dict[str, Any]) -> bool | None:
    """Evaluate the predicate for a row in three-valued logic."""
    if isinstance(predicate, And | Or):
        results = [evaluate(part, row) for part in predicate.parts]
        decisive = isinstance(predicate, Or)
        return decisive if decisive in results else None if None in results else not decisive
    if isinstance(predicate, Not):
        inner = evaluate(predicate.part, row)
        return None if inner is None else not inner
    assert isinstance(predicate, Comparison | IsNull | In)
    value = row[predicate.column[0]]
    if isinstance(predicate, IsNull):
        return value is None
    if isinstance(predicate, In):
        return evaluate(
            Or(tuple(Comparison("=", predicate.column, element) for element in predicate.values)), row
        )
    if predicate.operator == "<=>":
        return (
            rank(value) == rank(predicate.value)
            if None not in {value, predicate.value}
            else value is predicate.value
        )
    if value is None or predicate.value is None:
        return None
    return bool(_OPERATORS[predicate.operator](rank(value), rank(predicate.value)))


def plain(name: str, value: Any) -> Any:
    return internal(value.isoformat(), DateType()) if name == "d" else value


@st.composite
def predicates(draw: st.DrawFn, depth: int = 2) -> Predicate:
    kind = draw(
        st.sampled_from(["compare", "in", "null", "not", "and", "or"] if depth else ["compare", "null"])
    )
    if kind == "not":
        return Not(draw(predicates(depth - 1)))
    if kind in {"and", "or"}:
        return (And if kind == "and" else Or)((draw(predicates(depth - 1)), draw(predicates(depth - 1))))
    name = draw(st.sampled_from(sorted(_COLUMNS)))
    values = st.none() | _COLUMNS[name][1].map(lambda value: plain(name, value))
    if kind == "null":
        return IsNull((name,))
    if kind == "in":
        return In((name,), tuple(draw(st.lists(values, min_size=1, max_size=3))))
    return Comparison(draw(st.sampled_from(["=", "<=>", "<", "<=", ">", ">="])), (name,), draw(values))


@st.composite
def rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    row = st.fixed_dictionaries({name: st.none() | kind[1] for name, kind in _COLUMNS.items()})
    return draw(st.lists(row, min_size=1, max_size=4))


def written_statistics(rows: list[dict[str, Any]]) -> str:
    """Statistics as a writer takes them from Parquet footers: without NaN, texts truncated to two characters."""
    body: dict[str, Any] = {"numRecords": len(rows), "minValues": {}, "maxValues": {}, "nullCount": {}}
    for name in _COLUMNS:
        values = [row[name] for row in rows if row[name] is not None]
        body["nullCount"][name] = len(rows) - len(values)
        values = [value for value in values if not (isinstance(value, float) and not math.isfinite(value))]
        if values:
            for bound, pick in (("minValues", min), ("maxValues", max)):
                value = pick(values)
                text = value.isoformat() if isinstance(value, dt.date) else value
                body[bound][name] = text[:2] if name == "s" else text
    return json.dumps(body)


@given(rows(), predicates())
def test_whatever_the_rows_and_the_predicate_each_outcome_is_foreseen(file_rows, predicate):
    pruner = Pruner(StructType([StructField(name, kind[0]) for name, kind in _COLUMNS.items()]), [])
    foreseen = pruner.outcomes(predicate, {}, written_statistics(file_rows))
    for row in file_rows:
        values = {name: None if value is None else plain(name, value) for name, value in row.items()}
        outcome = evaluate(predicate, values)
        assert foreseen & {True: TRUE, False: FALSE, None: NULL}[outcome]
