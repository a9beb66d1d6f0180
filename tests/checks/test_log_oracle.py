"""Which predicates depend on what NaN equals or exceeds, where engines may differ, and which do not."""

from __future__ import annotations

import math

import pytest

from conformance.checks.log_oracle import nan_matters
from delta_models.expressions import (
    And,
    Between,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
)
from delta_models.schema import DOUBLE, struct
from delta_models.values import Rows

SCHEMA = struct(("v", DOUBLE), ("w", DOUBLE))
WITH_NAN = Rows(SCHEMA, ((1.0, 1.0), (math.nan, 2.0)))
WITHOUT = Rows(SCHEMA, ((1.0, 1.0),))
V, W = Column(("v",)), Column(("w",))
ONE, NAN, NULL = (Literal(DOUBLE, value) for value in (1.0, math.nan, None))


@pytest.mark.parametrize(
    "predicate",
    (
        IsNull(V), IsNotNull(V), Not(IsNull(V)), Compare("=", V, ONE), Compare("!=", V, ONE), Compare("=", ONE, V),
        In(V, (ONE, NULL)), Compare("<", W, ONE), And((IsNotNull(V), Compare(">", W, ONE))),
    ),
    ids=str,
)  # fmt: skip
def test_null_checks_and_equality_with_numbers_do_not_depend_on_nan(predicate: Expression) -> None:
    assert not nan_matters([predicate], WITH_NAN)


@pytest.mark.parametrize(
    "predicate",
    (
        Compare("<", V, ONE), Compare(">=", ONE, V), Between(V, ONE, ONE), Compare("=", V, NAN), In(V, (ONE, NAN)),
        Compare("=", V, W), Compare("=", V, V), Not(Compare(">", V, ONE)), Compare("=", W, NAN),
        And((IsNotNull(V), Compare("<", V, ONE))),
    ),
    ids=str,
)  # fmt: skip
def test_comparisons_that_nan_may_meet_depend_on_it(predicate: Expression) -> None:
    assert nan_matters([predicate], WITH_NAN)


def test_nothing_depends_on_nan_in_a_table_without_it() -> None:
    assert not nan_matters([Compare("<", V, ONE), None], WITHOUT)
    assert nan_matters([Compare("<", V, ONE)], WITHOUT, WITH_NAN)
