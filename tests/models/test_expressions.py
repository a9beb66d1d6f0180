"""Predicates with three-valued logic."""

import math

import pytest

from delta_models.expressions import (
    And,
    Between,
    Call,
    Column,
    Compare,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    NotEvaluable,
    Or,
    columns_of,
    evaluate,
    holds,
    type_of,
)
from delta_models.schema import BOOLEAN, DOUBLE, LONG, STRING, struct

SCHEMA = struct(("n", LONG), ("d", DOUBLE), ("s", STRING), ("in", struct(("x", LONG))))
N, D, S, X = Column(("n",)), Column(("d",)), Column(("s",)), Column(("in", "x"))
ROW = (5, math.nan, None, (7,))
TRUE, FALSE = Compare("=", N, Literal(LONG, 5)), Compare("=", N, Literal(LONG, 6))
UNKNOWN = Compare("=", S, Literal(STRING, "a"))


def truth(expression, row=ROW):
    return evaluate(expression, SCHEMA, row)


@pytest.mark.parametrize(
    ("expression", "expected"),
    (
        (UNKNOWN, None),
        (Not(UNKNOWN), None),
        (And((TRUE, UNKNOWN)), None),
        (And((FALSE, UNKNOWN)), False),
        (Or((TRUE, UNKNOWN)), True),
        (Or((FALSE, UNKNOWN)), None),
        (IsNull(S), True),
        (IsNotNull(S), False),
        (IsNull(UNKNOWN), True),
        (Compare("<=>", S, Literal(STRING, None)), True),
        (Compare("<=>", S, Literal(STRING, "a")), False),
        (Compare("=", S, Literal(STRING, None)), None),
        (In(N, (Literal(LONG, 1), Literal(LONG, 5))), True),
        (In(N, (Literal(LONG, 1), Literal(LONG, None))), None),
        (Not(In(N, (Literal(LONG, 1), Literal(LONG, None)))), None),
        (In(N, (Literal(LONG, 1),)), False),
        (Between(N, Literal(LONG, 5), Literal(LONG, 5)), True),
        (Between(N, Literal(LONG, 6), Literal(LONG, None)), False),
        (Compare("=", D, Literal(DOUBLE, math.nan)), True),
        (Compare(">", D, Literal(DOUBLE, math.inf)), True),
        (Compare("!=", D, Literal(DOUBLE, math.nan)), False),
        (Compare("=", X, Literal(LONG, 7)), True),
    ),
)
def test_three_valued_logic(expression, expected):
    assert truth(expression) is expected


def test_a_field_of_a_null_struct_is_null():
    assert truth(IsNull(X), (1, 1.0, "", None)) is True


def test_only_true_picks_a_row():
    assert holds(TRUE, SCHEMA, ROW)
    assert not holds(UNKNOWN, SCHEMA, ROW)
    assert holds(None, SCHEMA, ROW)


def test_types_are_inferred_through_paths():
    assert type_of(X, SCHEMA) == LONG
    assert type_of(UNKNOWN, SCHEMA) == BOOLEAN


def test_an_expression_names_its_columns_in_order():
    assert columns_of(And((Compare("<", N, X), Not(IsNull(S))))) == (N, X, S)
    assert columns_of(None) == ()


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(KeyError, match="nope"):
        truth(IsNull(Column(("nope",))))


def test_a_function_that_the_model_does_not_know_is_never_guessed():
    with pytest.raises(NotEvaluable, match="frobnicate"):
        truth(Call("frobnicate", (N,), LONG))
