"""Skipping many files at once never excludes a file that has a row for the predicate."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import StructField, StructType

from pyspark_delta.log.actions import Add
from pyspark_delta.log.file_set import Files
from pyspark_delta.partition_values import internal
from pyspark_delta.predicates import FALSE, NULL, TRUE, And, Comparison, In, Or, Predicate, columns
from pyspark_delta.skipping import exact
from pyspark_delta.skipping.exact import Pruner
from pyspark_delta.skipping.vectorized import certainly_excluded
from tests.pyspark_delta.skipping import test_exact as single

PRUNER = single.PRUNER


def none_of(predicate, *texts: str | None) -> list[bool]:
    return list(certainly_excluded(pa.array(texts, pa.string()), predicate, PRUNER._bounds_of))


@given(st.lists(single.rows(), min_size=1, max_size=4), single.predicates())
def test_no_file_is_ruled_out_that_has_a_row_for_the_predicate(files, predicate):
    pruner = drawn_pruner()
    texts = pa.array([single.written_statistics(rows) for rows in files], pa.string())
    for rows, is_excluded in zip(files, certainly_excluded(texts, predicate, pruner._bounds_of), strict=True):
        for row in rows:
            values = {
                name: None if value is None else single.plain(name, value) for name, value in row.items()
            }
            assert not is_excluded or single.evaluate(predicate, values) is not True


def drawn_pruner() -> Pruner:
    return Pruner(StructType([StructField(name, kind[0]) for name, kind in single._COLUMNS.items()]), [])


def is_plain(predicate: Predicate) -> bool:
    """Whether the predicate has only comparisons of columns with values, so that bounds decide it completely."""
    if isinstance(predicate, And | Or):
        return all(is_plain(part) for part in predicate.parts)
    if isinstance(predicate, In):
        return any(value is not None for value in predicate.values)
    return isinstance(predicate, Comparison) and predicate.value is not None


def has_bounds(stats: str, predicate: Predicate) -> bool:
    parsed = json.loads(stats)
    return all(
        column[0] in parsed["minValues"] and column[0] in parsed["maxValues"] for column in columns(predicate)
    )


@given(st.lists(single.rows().map(single.written_statistics), min_size=1, max_size=4), single.predicates())
def test_both_judges_of_files_rule_out_the_same_where_bounds_decide_and_the_fast_one_never_more(
    texts, predicate
):
    pruner = drawn_pruner()
    fast = certainly_excluded(pa.array(texts, pa.string()), predicate, pruner._bounds_of)
    for text, none in zip(texts, fast, strict=True):
        slow = not pruner.may_match(predicate, {}, text)
        assert slow or not none
        if is_plain(predicate) and has_bounds(text, predicate):
            assert slow == none


def test_what_one_file_alone_would_rule_out_is_ruled_out_of_many():
    low, high = single.stats(10, 20), single.stats(30, 40)
    for predicate, expected in (
        (Comparison("=", ("id",), 15), [False, True]),
        (Comparison("<", ("id",), 30), [False, True]),
        (Comparison("<=", ("id",), 30), [False, False]),
        (Comparison(">", ("ID",), 20), [True, False]),
        (In(("id",), (1, 35, None)), [True, False]),
        (In(("id",), tuple(range(100, 200))), [True, True]),
        (And((Comparison("=", ("p",), 1), Comparison(">", ("id",), 25))), [True, False]),
        (Or((Comparison("=", ("p",), 1), Comparison(">", ("id",), 25))), [False, False]),
    ):
        assert none_of(predicate, low, high) == expected
    assert none_of(Comparison("=", ("id",), 5), low, None, "", "{}", high) == [
        True,
        False,
        False,
        False,
        True,
    ]


def test_dates_times_and_columns_inside_of_structs_are_compared_too():
    day = single.stats("2020-01-01", "2020-01-31", column="d")
    assert none_of(Comparison("=", ("d",), internal("2020-02-01", single.SCHEMA["d"].dataType)), day) == [
        True
    ]
    time = single.stats("2020-01-01T00:00:00.123Z", "2020-01-01T00:00:00.123Z", column="ts")
    kind = single.SCHEMA["ts"].dataType
    assert none_of(Comparison("=", ("ts",), internal("2020-01-01 00:00:00.123999", kind)), time) == [False]
    assert none_of(Comparison("=", ("ts",), internal("2020-01-01 00:00:00.125", kind)), time) == [True]
    inside = '{"numRecords": 1, "minValues": {"st": {"x": 1}}, "maxValues": {"st": {"x": 2}}}'
    assert none_of(Comparison("=", ("st", "x"), 3), inside) == [True]


@pytest.mark.parametrize(
    "odd",
    (
        "no json",
        "[1]",
        '{"minValues":{"id":"x"}}',
        '{"minValues":{"id":1.5}}',
        '{"minValues":3}',
        '{"minValues":{"id":NaN}}',
        '{"a":1}\n{"b":2}',
    ),
)
def test_a_text_that_arrow_can_not_parse_rules_nothing_out(odd):
    assert none_of(Comparison("=", ("id",), 5), single.stats(10, 20), odd) == [False, False]


def test_a_year_beyond_four_digits_rules_nothing_out():
    predicate = Comparison("=", ("d",), 0)
    assert none_of(predicate, single.stats("+12020-01-01", "+12020-01-31", column="d")) == [False]
    assert none_of(predicate, single.stats("-0044-03-15", "-0044-03-15", column="d")) == [False]


def test_the_outcomes_of_many_files_are_those_of_each(monkeypatch):
    adds = [
        Add(f"f{number}", {"p": str(number % 3), "q": None}, 1, 1, stats=single.stats(number, number + 5))
        for number in range(40)
    ]
    files = Files.of([*adds, Add("last", {"p": "1", "q": None}, 1, 1)], "/t")
    predicate = And((Comparison("=", ("p",), 1), Comparison(">=", ("id",), 20)))
    one_by_one = PRUNER.classify(files, predicate)
    monkeypatch.setattr(exact, "_MANY", 1)
    all_at_once = PRUNER.classify(files, predicate)
    assert ((all_at_once & TRUE) == (one_by_one & TRUE)).all()
    assert all(
        many & one == one or many == FALSE | NULL for many, one in zip(all_at_once, one_by_one, strict=True)
    )
    decimal = PRUNER.classify(files, Comparison(">", ("id",), Decimal("43.5")))
    assert (decimal & TRUE != 0).tolist() == [number + 5 > 43.5 for number in range(40)] + [True]
