"""What a merge means."""

from __future__ import annotations

from delta_models import operations as ops
from delta_models.expressions import And, Column, Compare
from delta_models.outcomes import Committed, NoChange, Rejected
from delta_models.schema import (
    INTEGER,
    LONG,
    STRING,
    struct,
)  # fmt: skip
from delta_models.table import Expectation, ModelHistory
from delta_models.values import Rows
from tests.models.table import nested_rows
from tests.models.table.three_rows import (
    THREE,
    A,
    B,
    C,
    bag_of,
    bagged,
    col,
    equals_source,
    equals_target,
    kinds,
    lit,
    model_history,
    rows,
)

ON_ID = Compare("=", col("source", "id"), col("target", "id"))


UPDATE_ALL = ops.MergeClause("matched", "update", everything=True)


DELETE = ops.MergeClause("matched", "delete")


INSERT_ALL = ops.MergeClause("not-matched", "insert", everything=True)


class TestMerge:
    def test_matched_rows_are_updated_and_others_inserted(self) -> None:
        now = model_history(
            THREE, ops.Merge(rows((1, "new", "x"), (9, "nine", "z")), ON_ID, (UPDATE_ALL, INSERT_ALL))
        )
        assert bag_of(now) == bagged((1, "new", "x"), B, C, (9, "nine", "z"))

    def test_null_keys_match_nothing(self) -> None:
        now = model_history(THREE, ops.Merge(rows(C), ON_ID, (DELETE, INSERT_ALL)))
        assert bag_of(now) == bagged(A, B, C, C)

    def test_a_condition_that_is_no_equality_joins_too(self) -> None:
        on = Compare("<", col("source", "id"), col("target", "id"))
        assert bag_of(model_history(THREE, ops.Merge(rows(A), on, (DELETE,)))) == bagged(A, C)

    def test_an_equality_and_more_must_both_hold(self) -> None:
        on = And((ON_ID, Compare("=", col("target", "part"), lit(STRING, "nowhere"))))
        assert bag_of(model_history(THREE, ops.Merge(rows(A), on, (DELETE,)))) == bagged(A, B, C)

    def test_one_source_row_may_change_several_target_rows(self) -> None:
        now = model_history(THREE, ops.Append(rows(A)), ops.Merge(rows((1, "m", "x")), ON_ID, (UPDATE_ALL,)))
        assert bag_of(now) == bagged((1, "m", "x"), (1, "m", "x"), B, C)

    def test_several_source_rows_for_one_target_row_are_ambiguous(self) -> None:
        source = rows((1, "p", "x"), (1, "q", "x"))
        assert kinds(model_history(THREE), ops.Merge(source, ON_ID, (UPDATE_ALL,))) == {"ambiguous-match"}

    def test_ambiguity_counts_only_where_a_clause_applies(self) -> None:
        source = rows((1, "p", "x"), (1, "q", "x"))
        only_p = ops.MergeClause(
            "matched", "update", (("name", col("source", "name")),), equals_source("name", "p")
        )
        assert bag_of(model_history(THREE, ops.Merge(source, ON_ID, (only_p,)))) == bagged(
            (1, "p", "x"), B, C
        )
        assert bag_of(model_history(THREE, ops.Merge(source, ON_ID, (INSERT_ALL,)))) == bagged(A, B, C)

    def test_an_unconditional_delete_may_be_asked_for_twice(self) -> None:
        ends = model_history(THREE).expect(ops.Merge(rows(A, A), ON_ID, (DELETE,)))
        assert len(ends.ordinary.table.rows) == 2
        (strict,) = ends.fitting_outcomes(Rejected("ambiguous-match"), 0)
        assert strict.breaks == "outcome.merge-deletes-once"

    def test_the_first_clause_that_applies_acts(self) -> None:
        first = ops.MergeClause("matched", "delete", condition=equals_target("id", 1, LONG))
        second = ops.MergeClause("matched", "update", (("name", lit(STRING, "second")),))
        now = model_history(THREE, ops.Merge(rows(A, B), ON_ID, (first, second)))
        assert bag_of(now) == bagged((2, "second", "y"), C)

    def test_rows_that_nothing_in_the_source_matches_have_clauses_too(self) -> None:
        clause = ops.MergeClause("not-matched-by-source", "delete")
        assert bag_of(model_history(THREE, ops.Merge(rows(A), ON_ID, (clause,)))) == bagged(A)

    def test_unnamed_columns_of_an_insert_are_null(self) -> None:
        clause = ops.MergeClause("not-matched", "insert", (("id", col("source", "id")),))
        assert model_history(ops.Merge(rows(A), ON_ID, (clause,))).table.rows == ((1, None, None),)

    def test_every_unmatched_source_row_is_inserted(self) -> None:
        assert bag_of(model_history(ops.Merge(rows(A, A), ON_ID, (UPDATE_ALL, INSERT_ALL)))) == bagged(A, A)

    def test_a_merge_in_which_nothing_acts_may_commit_or_not(self) -> None:
        ends = model_history(THREE).expect(ops.Merge(rows((9, "z", "z")), ON_ID, (UPDATE_ALL,)))
        assert ends.fitting_outcomes(Committed(), 1)
        assert ends.fitting_outcomes(NoChange(), 0)


class TestAppendOnly:
    ONLY = ops.Create(THREE.rows.schema, properties=(("delta.appendOnly", "true"),))

    def expectation_of(self, source: Rows, *clauses: ops.MergeClause) -> Expectation:
        return ModelHistory().after(self.ONLY).after(THREE).expect(ops.Merge(source, ON_ID, clauses))

    def test_a_merge_that_acts_on_a_row_of_the_table_is_refused(self) -> None:
        for clause in (DELETE, UPDATE_ALL):
            allowed = self.expectation_of(rows((1, "new", "x")), clause, INSERT_ALL).allowed_outcomes
            assert {one.outcome for one in allowed} == {Rejected("append-only")}

    def test_a_merge_with_two_reasons_is_refused_for_either(self) -> None:
        twice = rows((1, "one", "x"), (1, "another", "x"))
        expectation = self.expectation_of(twice, UPDATE_ALL)
        assert {one.outcome for one in expectation.allowed_outcomes} == {
            Rejected("append-only"), Rejected("ambiguous-match")
        }  # fmt: skip

    def test_a_merge_that_acts_on_no_row_of_the_table_may_be_refused_but_need_not(self) -> None:
        source = rows((9, "nine", "z"))
        expectation = self.expectation_of(source, DELETE, INSERT_ALL)
        (done,) = expectation.fitting_outcomes(Committed(), 1)
        assert len(done.table.rows) == 4
        (refused,) = expectation.fitting_outcomes(Rejected("append-only"), 0)
        assert len(refused.table.rows) == 3

    def test_a_merge_that_fails_for_another_reason_may_be_refused_for_its_clauses(self) -> None:
        unknown = ops.MergeClause("matched", "delete", condition=equals_target("nowhere", 1))
        expectation = self.expectation_of(rows((9, "nine", "z")), unknown)
        assert expectation.fitting_outcomes(Rejected("schema"), 0)
        assert expectation.fitting_outcomes(Rejected("append-only"), 0)
        inserts = ops.MergeClause(
            "not-matched", "insert", condition=equals_source("nowhere", 1), everything=True
        )
        assert not self.expectation_of(rows((9, "nine", "z")), inserts).fitting_outcomes(
            Rejected("append-only"), 0
        )

    def test_a_merge_that_only_inserts_is_never_refused(self) -> None:
        expectation = self.expectation_of(rows((9, "nine", "z")), INSERT_ALL)
        assert not expectation.fitting_outcomes(Rejected("append-only"), 0)


class TestSchemaEvolution:
    def test_a_merge_may_bring_new_columns(self) -> None:
        source = struct(("id", INTEGER), ("extra", LONG))
        clauses = (
            ops.MergeClause("matched", "update", everything=True),
            ops.MergeClause("not-matched", "insert", everything=True),
        )
        on = Compare("=", Column(("source", "id")), Column(("target", "id")))
        merge = ops.Merge(Rows(source, ((1, 100), (9, 900))), on, clauses, schema_evolution=True)
        table = nested_rows.model_history(merge).table
        assert table.schema.names == ("id", "part", "inner", "extra")
        assert set(table.rows) == {(*nested_rows.A, 100), (*nested_rows.B, None), (9, None, None, 900)}

    def test_a_merge_that_lets_the_schema_grow_keeps_the_fields_that_a_source_struct_lacks(self) -> None:
        table = struct(("id", LONG), ("st", struct(("a", LONG), ("b", LONG))))
        source = struct(("id", LONG), ("st", struct(("b", LONG), ("c", LONG))))
        now = ModelHistory().after(ops.Create(table))
        now = now.after(ops.Append(Rows(table, ((1, (1, 2)), (2, (1, 2)), (3, (None, 2)), (4, None)))))
        clauses = (
            ops.MergeClause("matched", "update", everything=True),
            ops.MergeClause("not-matched", "insert", everything=True),
        )
        on = Compare("=", Column(("source", "id")), Column(("target", "id")))
        rows = ((1, (20, 30)), (2, None), (3, None), (4, None), (9, (7, 8)), (10, None))
        merge = ops.Merge(Rows(source, rows), on, clauses, schema_evolution=True)
        assert now.after(merge).table.rows == (
            (1, (1, 20, 30)),
            (2, (1, None, None)),
            (3, (None, None, None)),
            (4, None),
            (9, (None, 7, 8)),
            (10, None),
        )
        misfit = struct(
            ("id", LONG),
            (
                "st",
                struct(
                    ("b", struct(("x", LONG))),
                ),
            ),
        )
        merge = ops.Merge(Rows(misfit, ((1, ((1,),)),)), on, clauses, schema_evolution=True)
        assert "Committed" not in nested_rows.kinds(now, merge)
