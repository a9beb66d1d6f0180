"""Rules that a table stores as SQL text."""

from __future__ import annotations

import json

import pytest

from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.outcomes import Rejected
from delta_models.schema import DATE, INTEGER, LONG, STRING, TIMESTAMP, Field, struct
from delta_models.table import ModelHistory
from delta_models.values import Row, Rows

DAY = 86_400_000_000
SCHEMA = struct(
    ("at", TIMESTAMP),
    Field("day", DATE).with_metadata({"delta.generationExpression": "CAST(at AS DATE)"}),
    Field("size", INTEGER).with_metadata({"CURRENT_DEFAULT": "7"}),
)
BARE = struct(("at", TIMESTAMP), ("size", INTEGER))
PLAIN = struct(("at", TIMESTAMP), ("day", DATE), ("size", INTEGER))
ON_SIZE = Compare("=", Column(("source", "size")), Column(("target", "size")))


def model_history(*operations: ops.Operation, properties: ops.Properties = ()) -> ModelHistory:
    now = ModelHistory().after(ops.Create(SCHEMA, properties=properties))
    for operation in operations:
        now = now.after(operation)
    return now


def refusal(now: ModelHistory, operation: ops.Operation) -> str | None:
    outcome = now.expect(operation).ordinary.outcome
    return outcome.kind if isinstance(outcome, Rejected) else None


ONE = ops.Append(Rows(BARE, ((3 * DAY + 5, 1), (None, 2))))


class TestGenerated:
    def test_a_column_that_is_not_given_is_computed(self) -> None:
        assert model_history(ONE).table.rows == ((3 * DAY + 5, 3, 1), (None, None, 2))

    def test_a_column_that_is_given_must_be_what_it_would_be(self) -> None:
        assert refusal(model_history(), ops.Append(Rows(PLAIN, ((DAY, 1, 0), (None, None, 0))))) is None
        assert refusal(model_history(), ops.Append(Rows(PLAIN, ((DAY, 2, 0),)))) == "constraint"
        assert refusal(model_history(), ops.Append(Rows(PLAIN, ((DAY, None, 0),)))) == "constraint"

    def test_an_update_of_its_source_computes_it_anew(self) -> None:
        now = model_history(ONE, ops.Update((("at", Literal(TIMESTAMP, DAY)),)))
        assert now.table.rows == ((DAY, 1, 1), (DAY, 1, 2))
        assert refusal(model_history(ONE), ops.Update((("day", Literal(DATE, 9)),))) == "constraint"

    def test_a_merge_computes_it_for_what_it_updates_and_inserts(self) -> None:
        clauses = (
            ops.MergeClause("matched", "update", (("at", Column(("source", "at"))),)),
            ops.MergeClause(
                "not-matched",
                "insert",
                (("at", Column(("source", "at"))), ("size", Column(("source", "size")))),
            ),
        )
        now = model_history(ONE, ops.Merge(Rows(BARE, ((DAY, 1), (2 * DAY, 9))), ON_SIZE, clauses))
        assert set(now.table.rows) == {(DAY, 1, 1), (None, None, 2), (2 * DAY, 2, 9)}


class TestDefaults:
    def test_a_default_stands_in_for_what_is_not_given(self) -> None:
        assert model_history(ops.Append(Rows(struct(("at", TIMESTAMP)), ((None,),)))).table.rows == (
            (None, None, 7),
        )


class TestConstraints:
    @pytest.mark.parametrize(("size", "kind"), ((5, None), (50, "constraint"), (None, "constraint")))
    def test_a_constraint_among_the_properties_must_be_true(self, size: int | None, kind: str | None) -> None:
        now = model_history(properties=(("delta.constraints.small", "size < 10"),))
        rows: tuple[Row, ...] = ((None, None, size),)
        assert refusal(now, ops.Append(Rows(PLAIN, rows))) == kind

    def test_an_invariant_of_a_column_must_be_true(self) -> None:
        rule = json.dumps({"expression": {"expression": "length(name) > 1"}})
        schema = struct(("id", LONG), Field("name", STRING).with_metadata({"delta.invariants": rule}))
        now = ModelHistory().after(ops.Create(schema))
        assert refusal(now, ops.Append(Rows(schema, ((1, "ab"),)))) is None
        assert refusal(now, ops.Append(Rows(schema, ((1, "a"),)))) == "constraint"

    def test_a_rule_that_has_no_value_for_a_row_refuses_it(self) -> None:
        now = model_history(properties=(("delta.constraints.ratio", "10 / size > 1"),))
        assert refusal(now, ops.Append(Rows(PLAIN, ((None, None, 0),)))) == "overflow"
