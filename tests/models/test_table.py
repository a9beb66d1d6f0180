"""What each operation means, one sentence a test."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import delta_models.table as package
from delta_models import operations as ops
from delta_models.expressions import And, Column, Compare, Expression, Literal
from delta_models.outcomes import Committed, NoChange, Rejected, Unsupported
from delta_models.requirements import BY_ID
from delta_models.schema import DATE, DOUBLE, LONG, STRING, Array, DataType, Field, Map, struct
from delta_models.table import ModelHistory, NotModelled, Table
from delta_models.values import Row, Rows
from delta_models.wire_names import name_of

SCHEMA = struct(("id", LONG), ("name", STRING), ("part", STRING))


def col(*path: str) -> Column:
    return Column(path)


def lit(data_type: DataType, value: object) -> Literal:
    return Literal(data_type, value)


def equals(name: str, value: object, data_type: DataType = LONG) -> Expression:
    return Compare("=", col(name), lit(data_type, value))


def rows(*values: Row) -> Rows:
    return Rows(SCHEMA, values)


def model_history(*operations: ops.Operation, partition_by: tuple[str, ...] = ()) -> ModelHistory:
    now = ModelHistory().after(ops.Create(SCHEMA, partition_by))
    for operation in operations:
        now = now.after(operation)
    return now


def kinds(now: ModelHistory, operation: ops.Operation) -> set[str]:
    return {
        branch.outcome.kind if isinstance(branch.outcome, Rejected) else name_of(branch.outcome)
        for branch in now.expect(operation).allowed_outcomes
    }


A, B, C = (1, "a", "x"), (2, "b", "y"), (None, None, None)
THREE = ops.Append(rows(A, B, C))


def bag_of(now: ModelHistory) -> list[Row]:
    return sorted(now.table.rows, key=repr)


def bagged(*values: Row) -> list[Row]:
    return sorted(values, key=repr)


class TestCreate:
    def test_a_new_table_has_its_definition_and_no_rows(self) -> None:
        operation = ops.Create(SCHEMA, ("part",), (("delta.checkpointInterval", "2"),))
        table = ModelHistory().after(operation).table
        assert table == Table(True, SCHEMA, ("part",), (("delta.checkpointInterval", "2"),), ())

    def test_creating_twice_is_refused_unless_asked_to_look_first(self) -> None:
        assert kinds(model_history(), ops.Create(SCHEMA)) == {"table-exists"}
        assert kinds(model_history(), ops.Create(SCHEMA, if_not_exists=True)) == {"NoChange", "Committed"}

    def test_a_table_partitioned_by_all_or_by_unknown_columns_is_refused(self) -> None:
        assert "Committed" not in kinds(ModelHistory(), ops.Create(SCHEMA, ("id", "name", "part")))
        assert "Committed" not in kinds(ModelHistory(), ops.Create(SCHEMA, ("nowhere",)))

    def test_nothing_but_creating_works_where_there_is_no_table(self) -> None:
        for operation in (THREE, ops.Delete(), ops.Optimize(), ops.Vacuum(), ops.Checkpoint()):
            assert kinds(ModelHistory(), operation) == {"missing-table"}


class TestDrop:
    def test_a_managed_table_is_gone_and_can_be_made_again(self) -> None:
        now = ModelHistory().after(ops.Create(SCHEMA, name="t", managed=True)).after(THREE).after(ops.Drop())
        assert not now.table.exists
        assert now.readable_steps() == ()
        assert kinds(now, ops.Create(SCHEMA)) == {"Committed"}

    def test_an_external_table_can_still_be_read(self) -> None:
        now = ModelHistory().after(ops.Create(SCHEMA, name="t")).after(THREE).after(ops.Drop())
        assert bag_of(now) == bagged(A, B, C)
        assert "Committed" not in kinds(now, ops.Drop())

    def test_a_table_that_is_replaced_keeps_its_name(self) -> None:
        named = ModelHistory().after(ops.Create(SCHEMA, name="t", managed=True))
        for again in (ops.Replace(SCHEMA), ops.CreateAs(rows(A), replace=True)):
            assert not named.after(again).after(ops.Drop()).table.exists


class TestAppend:
    def test_rows_are_added_duplicates_included(self) -> None:
        assert bag_of(model_history(THREE, ops.Append(rows(A)))) == bagged(A, A, B, C)

    def test_an_empty_append_may_add_a_version_or_not(self) -> None:
        ends = model_history(THREE).expect(ops.Append(rows()))
        assert ends.fitting_outcomes(Committed(), 0)
        assert ends.fitting_outcomes(Committed(), 1)
        assert ends.fitting_outcomes(NoChange(), 0)
        assert not ends.fitting_outcomes(Committed(), 2)
        assert not ends.fitting_outcomes(NoChange(), 1)

    def test_an_append_adds_exactly_one_version(self) -> None:
        ends = model_history().expect(THREE)
        assert ends.fitting_outcomes(Committed(), 1)
        assert not ends.fitting_outcomes(Committed(), 0)
        assert not ends.fitting_outcomes(NoChange(), 0)
        assert not ends.fitting_outcomes(Unsupported("no"), 0)

    def test_columns_are_matched_by_name_without_regard_to_case(self) -> None:
        swapped = Rows(struct(("PART", STRING), ("Id", LONG), ("name", STRING)), (("x", 1, "a"),))
        assert model_history(ops.Append(swapped)).table.rows == (A,)

    def test_a_misfit_is_refused_for_its_schema(self) -> None:
        extra = Rows(
            struct(("id", LONG), ("name", STRING), ("part", STRING), ("more", LONG)), ((1, "a", "x", 1),)
        )
        typed = Rows(struct(("id", DATE), ("name", STRING), ("part", STRING)), ((1, "a", "x"),))
        assert kinds(model_history(), ops.Append(extra)) == {"schema"}
        assert kinds(model_history(), ops.Append(typed)) == {"schema"}

    def test_missing_columns_are_null_or_refused(self) -> None:
        ends = model_history().expect(ops.Append(Rows(struct(("id", LONG)), ((1,),))))
        assert ends.ordinary.table.rows == ((1, None, None),)
        assert ends.fitting_outcomes(Rejected("schema", "whatever words"), 0)

    def test_new_columns_come_last_when_schemas_are_merged(self) -> None:
        wide = Rows(struct(("id", LONG), ("more", LONG)), ((9, 9),))
        now = model_history(THREE, ops.Append(wide, schema_mode="merge"))
        assert now.table.schema.names == ("id", "name", "part", "more")
        assert (1, "a", "x", None) in now.table.rows
        assert (9, None, None, 9) in now.table.rows

    def test_an_empty_text_in_a_partition_column_is_null(self) -> None:
        now = model_history(ops.Append(rows((1, "", ""))), partition_by=("part",))
        assert now.table.rows == ((1, "", None),)

    def test_null_where_no_element_or_value_may_be_null_breaks_a_rule(self) -> None:
        lists, maps = Array(LONG, contains_null=False), Map(STRING, LONG, value_contains_null=False)
        schema = struct(("id", LONG), ("lists", Array(lists)), ("maps", struct(("inner", maps))))
        now = ModelHistory().after(ops.Create(schema))
        row = (1, ((1, 2), None, ()), ((("a", 1),),))
        assert now.after(ops.Append(Rows(schema, (row, (2, None, None))))).table.rows == (
            row,
            (2, None, None),
        )
        for bad in ((1, ((1, None),), None), (1, None, ((("a", None),),))):
            ends = now.expect(ops.Append(Rows(schema, (bad,))))
            assert {branch.outcome.kind for branch in ends.allowed_outcomes} == {"constraint", "schema"}

    def test_null_in_a_column_that_is_not_null_breaks_a_rule(self) -> None:
        schema = struct(Field("id", LONG, nullable=False))
        now = ModelHistory().after(ops.Create(schema))
        assert kinds(now, ops.Append(Rows(schema, ((None,),)))) == {"constraint"}


class TestOverwrite:
    def test_the_whole_table_is_replaced(self) -> None:
        assert model_history(THREE, ops.Overwrite(rows(A))).table.rows == (A,)

    def test_only_the_rows_that_the_predicate_picks_are_replaced(self) -> None:
        new = (7, "new", "x")
        now = model_history(THREE, ops.Overwrite(rows(new), where=equals("part", "x", STRING)))
        assert bag_of(now) == bagged(B, C, new)

    def test_new_rows_outside_of_the_predicate_are_refused(self) -> None:
        operation = ops.Overwrite(rows((7, "new", "z")), where=equals("part", "x", STRING))
        assert "constraint" in kinds(model_history(THREE), operation)

    def test_only_the_partitions_that_new_rows_touch_are_replaced(self) -> None:
        now = model_history(
            THREE, ops.Overwrite(rows((7, "n", "x"), (8, "n", "")), dynamic=True), partition_by=("part",)
        )
        assert bag_of(now) == bagged((7, "n", "x"), (8, "n", None), B)

    def test_an_append_only_table_refuses_to_lose_rows(self) -> None:
        now = (
            ModelHistory().after(ops.Create(SCHEMA, properties=(("delta.appendOnly", "true"),))).after(THREE)
        )
        for operation in (ops.Overwrite(rows()), ops.Delete(), ops.Update((("id", lit(LONG, 1)),))):
            assert kinds(now, operation) == {"append-only"}


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


def equals_source(name: str, value: object, data_type: DataType = STRING) -> Expression:
    return Compare("=", col("source", name), lit(data_type, value))


def equals_target(name: str, value: object, data_type: DataType = STRING) -> Expression:
    return Compare("=", col("target", name), lit(data_type, value))


class TestUpkeep:
    def test_compacting_keeps_rows_and_takes_partition_predicates_only(self) -> None:
        now = model_history(THREE, partition_by=("part",))
        assert now.expect(ops.Optimize()).fitting_outcomes(Committed(), 3)
        assert "Committed" in kinds(now, ops.Optimize(equals("part", "x", STRING)))
        assert "Committed" not in kinds(now, ops.Optimize(equals("id", 1)))

    def test_a_vacuum_adds_up_to_two_versions(self) -> None:
        ends = model_history(THREE).expect(ops.Vacuum())
        assert ends.fitting_outcomes(Committed(), 2)
        assert not ends.fitting_outcomes(Committed(), 3)
        assert not ends.fitting_outcomes(Rejected("retention"), 0)
        assert model_history(THREE).expect(ops.Vacuum(0)).fitting_outcomes(Rejected("retention"), 0)

    def test_a_checkpoint_adds_none(self) -> None:
        ends = model_history(THREE).expect(ops.Checkpoint())
        assert ends.fitting_outcomes(Committed(), 0)
        assert not ends.fitting_outcomes(Committed(), 1)

    def test_what_is_not_modelled_is_named(self) -> None:
        with pytest.raises(NotModelled, match="Interleave"):
            model_history().expect(ops.Interleave((), ()))


class TestLooks:
    def test_filters_and_columns(self) -> None:
        expected = model_history(THREE).expect_read(ops.Read(where=equals("id", 1), columns=("part", "id")))
        assert expected.rows == Rows(struct(("part", STRING), ("id", LONG)), (("x", 1),))
        assert expected.refusals == ()

    def test_an_earlier_state_is_as_it_was(self) -> None:
        now = model_history(THREE, ops.Delete())
        look = now.expect_read(ops.Read(ops.AtState(1)))
        assert look.rows is not None
        assert bagged(*look.rows.rows) == bagged(A, B, C)

    def test_where_there_is_no_table_a_read_is_refused(self) -> None:
        assert ModelHistory().expect_read(ops.Read()).rows is None

    def test_a_vacuum_protects_states_whose_files_are_still_live(self) -> None:
        now = model_history(
            THREE, ops.Delete(equals("id", 1)), ops.Append(rows(A)), ops.Checkpoint(), ops.Vacuum(0)
        )
        assert now.readable_steps() == (2, 3, 4, 5)
        assert now.expect_read(ops.Read(ops.AtState(1))).refusals
        assert now.expect_read(ops.Read(ops.AtState(1))).rows is not None

    def test_a_vacuum_with_the_default_retention_protects_all(self) -> None:
        assert model_history(THREE, ops.Delete(), ops.Vacuum()).readable_steps() == (0, 1, 2, 3)


class TestRestore:
    def test_an_earlier_state_comes_back(self) -> None:
        now = model_history(THREE, ops.Delete(equals("id", 1)), ops.Restore(ops.AtState(1)))
        assert bag_of(now) == bagged(A, B, C)

    def test_restoring_now_may_be_nothing_or_refused(self) -> None:
        ends = model_history(THREE, ops.Checkpoint()).expect(ops.Restore(ops.AtState(1)))
        assert ends.fitting_outcomes(NoChange(), 0)
        assert ends.fitting_outcomes(Committed(), 1)
        assert ends.fitting_outcomes(Rejected("bad-argument"), 0)

    def test_restoring_another_version_must_succeed(self) -> None:
        ends = model_history(THREE, ops.Append(rows(A))).expect(ops.Restore(ops.AtState(1)))
        assert not ends.fitting_outcomes(Rejected("bad-argument"), 0)
        assert not ends.fitting_outcomes(NoChange(), 0)

    def test_a_vacuumed_state_is_restored_or_refused(self) -> None:
        now = model_history(THREE, ops.Delete(), ops.Vacuum(0))
        ends = now.expect(ops.Restore(ops.AtState(1)))
        assert ends.fitting_outcomes(Rejected("missing-file"), 0)
        assert ends.ordinary.table.same_contents(now.state(1))


def test_every_rule_that_a_branch_names_stands_in_the_catalogue() -> None:
    text = "".join(path.read_text() for path in Path(package.__file__).parent.glob("*.py"))
    named = set(re.findall(r'"((?:contents|outcome)\.[a-z-]+)"', text))
    assert named
    assert named <= set(BY_ID)
