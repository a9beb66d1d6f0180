"""What maintenance, reads, restores and the passing of time mean for a history."""

from __future__ import annotations

import pytest

from delta_models import operations as ops
from delta_models.outcomes import Committed, NoChange, Rejected
from delta_models.schema import (
    LONG,
    STRING,
    Field,
    struct,
)  # fmt: skip
from delta_models.table import ModelHistory, NotModelled
from delta_models.table.retention import parse_interval
from delta_models.values import Rows
from tests.models.table import nested_rows
from tests.models.table.three_rows import THREE, A, B, C, bag_of, bagged, equals, kinds, model_history, rows


class TestMaintenance:
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


class TestReads:
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


class TestRestoreOfAnAppendOnlyTable:
    def history(self, *operations: ops.Operation) -> ModelHistory:
        return model_history(THREE, ops.SetProperties((("delta.appendOnly", "true"),)), *operations)

    def test_a_state_without_some_of_the_rows_is_refused(self) -> None:
        assert kinds(self.history(ops.Append(rows(A))), ops.Restore(ops.AtState(1))) == {"append-only"}

    def test_a_state_with_all_rows_comes_back_or_is_refused_since_files_may_change(self) -> None:
        ends = self.history(ops.Optimize()).expect(ops.Restore(ops.AtState(1)))
        assert isinstance(ends.ordinary.outcome, Committed)
        assert ends.ordinary.table.property("delta.appendOnly") == ""
        assert ends.fitting_outcomes(Rejected("append-only"), 0)

    def test_a_column_without_values_may_go_and_rows_of_it_may_not(self) -> None:
        wider = self.history(ops.AddColumn(Field("more", LONG)))
        assert "Committed" in kinds(wider, ops.Restore(ops.AtState(1)))
        more = ops.Append(Rows(struct(("id", LONG)), ((7,),)))
        assert kinds(wider.after(more), ops.Restore(ops.AtState(1))) == {"append-only"}

    def test_what_counts_is_the_property_before_the_restore(self) -> None:
        now = self.history(ops.UnsetProperties(("delta.appendOnly",)), ops.Delete())
        assert kinds(now, ops.Restore(ops.AtState(2))) == {"Committed"}


class TestTime:
    def test_a_vacuum_takes_what_was_removed_long_enough_ago(self) -> None:
        now = nested_rows.model_history(
            ops.Delete(),
            ops.AdvanceClock(100),
            ops.Append(Rows(nested_rows.SCHEMA, (nested_rows.A,))),
            ops.Delete(),
        )
        assert now.after(ops.Vacuum()).readable_steps() == tuple(range(7))
        assert now.after(ops.Vacuum(50)).readable_steps()[0] == 2
        assert now.after(ops.AdvanceClock(100)).after(ops.Vacuum()).readable_steps()[0] == 2

    def test_a_vacuum_in_a_race_takes_what_any_vacuum_takes(self) -> None:
        now = nested_rows.model_history(ops.Delete())
        race = ops.Interleave((ops.Vacuum(0), ops.Append(Rows(nested_rows.SCHEMA, (nested_rows.A,)))), ())
        reached = now.expect(ops.Append(Rows(nested_rows.SCHEMA, (nested_rows.A,)))).ordinary
        assert now.after(race, reached).readable_steps() == (3,)
        assert now.after(race, reached).recorded_steps() == ()

    def test_change_data_is_vacuumed_by_its_age(self) -> None:
        now = nested_rows.model_history(
            ops.Delete(), ops.AdvanceClock(100), ops.Append(Rows(nested_rows.SCHEMA, ()))
        )
        assert now.after(ops.Vacuum()).recorded_steps() == tuple(range(6))
        assert now.after(ops.Vacuum(50)).after(ops.Vacuum()).recorded_steps() == (3, 4, 5, 6)

    def test_a_dry_run_takes_nothing(self) -> None:
        assert nested_rows.model_history(ops.Delete(), ops.Vacuum(0, dry_run=True)).readable_steps() == (
            0,
            1,
            2,
            3,
        )

    def test_versions_older_than_the_log_is_kept_may_be_gone(self) -> None:
        now = nested_rows.model_history(
            ops.AdvanceClock(800), ops.Append(Rows(nested_rows.SCHEMA, (nested_rows.A,))), ops.CleanLog()
        )
        assert now.readable_steps() == (2, 3, 4)
        still = nested_rows.model_history(ops.AdvanceClock(800), ops.CleanLog())
        assert still.readable_steps()[-1] == 3

    def test_the_retention_is_the_tables_own(self) -> None:
        short = (("delta.deletedFileRetentionDuration", "interval 2 hours"),)
        now = nested_rows.model_history(ops.Delete(), ops.AdvanceClock(3), properties=short)
        assert now.after(ops.Vacuum()).readable_steps()[0] == 2
        assert nested_rows.kinds(now, ops.Vacuum(2)) == {"NoChange", "Committed"}

    def test_a_state_can_be_named_by_its_time(self) -> None:
        look = nested_rows.model_history(ops.Delete()).expect_read(ops.Read(ops.AtTime(1)))
        assert look.rows == Rows(nested_rows.SCHEMA, (nested_rows.A, nested_rows.B))

    @pytest.mark.parametrize(
        ("text", "hours"),
        (
            ("interval 1 week", 168),
            ("interval 2 days", 48),
            ("interval 1 day 6 hours", 30),
            ("soon", None),
            ("", None),
        ),
    )
    def test_intervals(self, text: str, hours: float | None) -> None:
        assert parse_interval(text) == hours
