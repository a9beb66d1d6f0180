"""What a table stores as SQL text, and what is cast on the way in, depends on the time zone of the session."""

from __future__ import annotations

from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.outcomes import Rejected
from delta_models.schema import DATE, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, Field, struct
from delta_models.table import ModelHistory
from delta_models.values import Row, Rows

DAY = 86_400_000_000
ONE_AT_NIGHT = DAY + 3_600_000_000  # 1970-01-02 01:00 in UTC, the day before in Los Angeles
EIGHT_HOURS = 8 * 3_600_000_000
WEST, EAST = ops.SetZone("America/Los_Angeles"), ops.SetZone("Asia/Kathmandu")
BARE = struct(("id", LONG), ("at", TIMESTAMP))
COMPUTED = struct(
    *BARE.fields, Field("day", DATE).with_metadata({"delta.generationExpression": "CAST(at AS DATE)"})
)
ON_DAY = (("delta.constraints.early", "CAST(at AS DATE) = DATE '1970-01-01'"),)
ONE = ops.Append(Rows(BARE, ((1, ONE_AT_NIGHT),)))


def model_history(*operations: ops.Operation, properties: ops.Properties = ()) -> ModelHistory:
    now = ModelHistory()
    for operation in operations:
        now = now.after(operation)
    return now


def rows(*operations: ops.Operation) -> tuple[Row, ...]:
    return model_history(*operations).table.rows


def kinds(now: ModelHistory, operation: ops.Operation) -> set[str]:
    return {
        allowed.outcome.kind
        for allowed in now.expect(operation).allowed_outcomes
        if isinstance(allowed.outcome, Rejected)
    }


class TestGeneratedColumns:
    def test_a_column_is_computed_in_the_zone_of_the_session(self) -> None:
        create = ops.Create(COMPUTED)
        assert rows(create, ONE) == ((1, ONE_AT_NIGHT, 1),)
        assert rows(create, WEST, ONE) == ((1, ONE_AT_NIGHT, 0),)
        assert rows(create, WEST, ops.SetZone("UTC"), ONE) == ((1, ONE_AT_NIGHT, 1),)
        assert rows(create, EAST, ops.Append(Rows(BARE, ((1, DAY - 1),)))) == ((1, DAY - 1, 1),)

    def test_a_value_that_is_given_must_be_the_one_of_the_session(self) -> None:
        now = model_history(ops.Create(COMPUTED), WEST)
        assert now.expect(ops.Append(Rows(COMPUTED, ((1, ONE_AT_NIGHT, 1),)))).ordinary.outcome == Rejected(
            "constraint"
        )
        assert kinds(now, ops.Append(Rows(COMPUTED, ((1, ONE_AT_NIGHT, 0),)))) == set()

    def test_rows_of_another_zone_stay_or_what_rewrites_them_is_refused(self) -> None:
        create, two = ops.Create(COMPUTED), ops.Append(Rows(BARE, ((2, ONE_AT_NIGHT),)))
        first = Compare("=", Column(("id",)), Literal(LONG, 1))
        now = model_history(create, ONE, two, WEST)
        for operation in (ops.Delete(first), ops.Optimize()):
            assert "constraint" in kinds(now, operation)
            assert kinds(model_history(create, ONE, two), operation) == set()
        assert now.after(ops.Delete(first)).table.rows == ((2, ONE_AT_NIGHT, 1),)
        assert kinds(model_history(create, ONE, two, WEST, ops.SetZone("UTC")), ops.Delete(first)) == set()


class TestRules:
    def test_a_constraint_holds_in_the_zone_of_the_session(self) -> None:
        create = ops.Create(BARE, properties=ON_DAY)
        assert model_history(create).expect(ONE).ordinary.outcome == Rejected("constraint")
        assert kinds(model_history(create, WEST), ONE) == set()


class TestStoreAssignment:
    def test_days_and_moments_are_cast_by_the_clocks_of_the_session(self) -> None:
        create = ops.Create(
            struct(("at", TIMESTAMP), ("day", DATE), ("text", STRING), ("ntz", TIMESTAMP_NTZ))
        )
        given = struct(("at", DATE), ("day", TIMESTAMP), ("text", TIMESTAMP), ("ntz", TIMESTAMP))
        append = ops.Append(Rows(given, ((1, ONE_AT_NIGHT, ONE_AT_NIGHT, ONE_AT_NIGHT),)))
        local = ONE_AT_NIGHT - EIGHT_HOURS
        assert rows(create, append) == ((DAY, 1, "1970-01-02 01:00:00", ONE_AT_NIGHT),)
        assert rows(create, WEST, append) == ((DAY + EIGHT_HOURS, 0, "1970-01-01 17:00:00", local),)

    def test_so_is_what_an_update_assigns(self) -> None:
        update = ops.Update((("at", Literal(DATE, 1)),))
        assert rows(ops.Create(BARE), ONE, WEST, update) == ((1, DAY + EIGHT_HOURS),)
