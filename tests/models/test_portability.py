"""Predicates on which all SQL engines must agree, and those for which delta-spark is the reference."""

from __future__ import annotations

import math

import pytest

from delta_models.expressions import (
    And,
    Between,
    Call,
    Column,
    Compare,
    Expression,
    In,
    IsNull,
    Literal,
    Not,
    Or,
)
from delta_models.portability import is_strange, strength_of
from delta_models.schema import BOOLEAN, DOUBLE, FLOAT, LONG, STRING, struct
from delta_models.values import Rows

SCHEMA = struct(
    ("id", LONG),
    ("plain", DOUBLE),
    ("odd", DOUBLE),
    ("zero", DOUBLE),
    ("text", STRING),
    ("inner", struct(("x", DOUBLE))),
)
ROWS = Rows(SCHEMA, ((1, 1.0, math.nan, -0.0, "a", (1.0,)), (None, None, None, None, None, None)))


def col(*path: str) -> Column:
    return Column(path)


def double(value: float) -> Literal:
    return Literal(DOUBLE, value)


@pytest.mark.parametrize(
    "predicate",
    (
        None,
        Compare("<", col("id"), Literal(LONG, 5)),
        Compare(">=", col("plain"), double(math.inf)),
        Compare("=", col("odd"), double(1.0)),
        Compare("!=", col("zero"), double(1.0)),
        In(col("odd"), (double(1.0), double(2.0))),
        Between(col("plain"), double(0.5), double(1.0)),
        IsNull(col("odd")),
        Not(And((IsNull(col("odd")), Or((IsNull(col("text")),))))),
        Compare("<", col("text"), col("text")),
        Compare("=", col("plain"), double(0.0)),
        Compare("=", col("inner", "x"), double(1.0)),
    ),
)
def test_the_portable_core_is_a_must(predicate: Expression | None) -> None:
    assert strength_of(predicate, ROWS) == "must"


@pytest.mark.parametrize(
    "predicate",
    (
        Compare("<", col("odd"), double(1.0)),
        Compare("=", col("plain"), double(math.nan)),
        Compare("=", col("plain"), double(-0.0)),
        Compare("=", col("zero"), double(0.0)),
        Compare("=", col("odd"), col("plain")),
        In(col("plain"), (double(1.0), double(math.nan))),
        In(col("zero"), (double(0.0),)),
        Between(col("zero"), double(-1.0), double(1.0)),
        Compare("<", col("inner", "x"), double(1.0)),
        Compare("=", col("id"), double(1.0)),
        Compare("=", Call("abs", (col("id"),), LONG), Literal(LONG, 1)),
        Call("like", (col("text"), Literal(STRING, "a%")), BOOLEAN),
        Not(Or((IsNull(col("id")), Compare("<", col("odd"), double(1.0))))),
    ),
)
def test_beyond_it_everything_is_reference(predicate: Expression) -> None:
    assert strength_of(predicate, ROWS) == "reference"


def test_what_is_strange_depends_on_the_rows() -> None:
    without = Rows(SCHEMA, ROWS.rows[1:])
    assert strength_of(Compare("<", col("odd"), double(1.0)), without) == "must"


def test_nan_and_minus_zero_are_strange_in_floating_types_alone() -> None:
    assert is_strange(DOUBLE, math.nan)
    assert is_strange(FLOAT, -0.0)
    assert not is_strange(DOUBLE, 0.0)
    assert not is_strange(DOUBLE, None)
    assert not is_strange(LONG, 0)
