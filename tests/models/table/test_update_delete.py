"""What deletes and updates mean."""

from __future__ import annotations

import math

from delta_models import operations as ops
from delta_models.expressions import Compare
from delta_models.outcomes import Committed, NoChange
from delta_models.schema import DOUBLE, LONG, STRING, struct
from delta_models.table import ModelHistory
from delta_models.values import Rows
from tests.models.table.three_rows import (
    THREE,
    A,
    B,
    C,
    bag_of,
    bagged,
    col,
    equals,
    kinds,
    lit,
    model_history,
)


class TestDeleteAndUpdate:
    def test_rows_for_which_the_predicate_is_unknown_stay(self) -> None:
        assert bag_of(model_history(THREE, ops.Delete(equals("id", 1)))) == bagged(B, C)
        assert bag_of(model_history(THREE, ops.Delete(Compare("!=", col("id"), lit(LONG, 1))))) == bagged(
            A, C
        )

    def test_without_a_predicate_all_rows_go(self) -> None:
        assert model_history(THREE, ops.Delete()).table.rows == ()

    def test_a_delete_that_picks_nothing_may_commit_or_not(self) -> None:
        ends = model_history(THREE).expect(ops.Delete(equals("id", 99)))
        assert ends.fitting_outcomes(Committed(), 1)
        assert ends.fitting_outcomes(NoChange(), 0)

    def test_assignments_see_the_old_row(self) -> None:
        swap = ops.Update((("name", col("part")), ("part", col("name"))), equals("id", 1))
        assert (1, "x", "a") in model_history(THREE, swap).table.rows

    def test_an_update_to_the_same_values_may_do_nothing(self) -> None:
        ends = model_history(THREE).expect(ops.Update((("id", col("id")),)))
        assert ends.fitting_outcomes(NoChange(), 0)
        assert ends.fitting_outcomes(Committed(), 1)

    def test_an_update_that_changes_something_must_commit(self) -> None:
        ends = model_history(THREE).expect(ops.Update((("id", lit(LONG, 5)),)))
        assert not ends.fitting_outcomes(NoChange(), 0)

    def test_minus_zero_is_a_change_and_yet_equal(self) -> None:
        schema = struct(("d", DOUBLE))
        now = ModelHistory().after(ops.Create(schema)).after(ops.Append(Rows(schema, ((0.0,), (math.nan,)))))
        zero = ops.Update((("d", lit(DOUBLE, -0.0)),), Compare("=", col("d"), lit(DOUBLE, -0.0)))
        after = now.after(zero).table
        assert [math.copysign(1, row[0]) for row in after.rows if not math.isnan(row[0])] == [-1.0]
        assert not now.expect(zero).fitting_outcomes(NoChange(), 0)
        assert now.after(ops.Delete(equals("d", math.nan, DOUBLE))).table.rows == ((0.0,),)

    def test_unknown_columns_and_wrong_types_are_refused(self) -> None:
        assert kinds(model_history(THREE), ops.Delete(equals("nowhere", 1))) == {"schema", "bad-argument"}
        assert kinds(model_history(THREE), ops.Update((("id", lit(STRING, "1")),))) == {
            "schema",
            "bad-argument",
        }
