"""What it means to create, replace, clone, convert and drop a table."""

from __future__ import annotations

from delta_models import operations as ops
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import (
    LONG,
    Field,
    struct,
)  # fmt: skip
from delta_models.table import ModelHistory, Table
from delta_models.values import Rows
from tests.models.table import nested_rows
from tests.models.table.three_rows import SCHEMA, THREE, A, B, C, bag_of, bagged, kinds, model_history, rows


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


class TestAppendOnly:
    ONLY = (("delta.appendOnly", "true"),)

    def filled(self) -> ModelHistory:
        return ModelHistory().after(ops.Create(SCHEMA, properties=self.ONLY)).after(THREE)

    def test_a_definition_that_takes_rows_away_is_refused_though_it_lifts_the_property(self) -> None:
        assert kinds(self.filled(), ops.Replace(SCHEMA)) == {"append-only"}
        assert kinds(self.filled(), ops.CreateAs(rows(A, B), replace=True)) == {"append-only"}

    def test_an_empty_table_may_get_another_definition(self) -> None:
        empty = ModelHistory().after(ops.Create(SCHEMA, properties=self.ONLY))
        ends = empty.expect(ops.Replace(struct(("other", LONG)), properties=self.ONLY))
        assert isinstance(ends.ordinary.outcome, Committed)
        assert ends.fitting_outcomes(Rejected("append-only"), 0)

    def test_the_new_definition_may_be_append_only_whatever_rows_go(self) -> None:
        assert kinds(model_history(THREE), ops.Replace(SCHEMA, properties=self.ONLY)) == {"Committed"}

    def test_a_definition_that_fits_no_table_is_refused_as_such(self) -> None:
        assert kinds(self.filled(), ops.Replace(SCHEMA, ("nowhere",))) == {"schema", "bad-argument"}


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


class TestTables:
    def test_replacing_leaves_a_new_empty_table(self) -> None:
        table = nested_rows.model_history(ops.Replace(struct(("other", LONG)))).table
        assert table.schema.names == ("other",)
        assert table.rows == ()
        assert nested_rows.kinds(ModelHistory(), ops.Replace(nested_rows.SCHEMA, or_create=False)) == {
            "missing-table"
        }

    def test_a_table_made_from_rows_holds_them(self) -> None:
        operation = ops.CreateAs(Rows(nested_rows.SCHEMA, (nested_rows.A, nested_rows.B)), ("part",))
        assert ModelHistory().after(operation).table.rows == (nested_rows.A, nested_rows.B)
        assert "Committed" not in nested_rows.kinds(nested_rows.model_history(), operation)
        assert nested_rows.kinds(
            nested_rows.model_history(),
            ops.CreateAs(Rows(nested_rows.SCHEMA, (nested_rows.A,)), replace=True),
        ) == {"Committed"}

    def test_a_table_made_from_another_one_keeps_its_rows_when_that_is_dropped(self) -> None:
        rows = Rows(nested_rows.SCHEMA, (nested_rows.A, nested_rows.B))
        for replaces in (False, True):
            now = nested_rows.model_history() if replaces else ModelHistory()
            made = now.after(ops.CreateAs(rows, replace=replaces, source_dropped=True))
            assert made.table == now.after(ops.CreateAs(rows, replace=replaces)).table
            assert made.table.rows == (nested_rows.A, nested_rows.B)
            later = made.after(ops.Append(Rows(nested_rows.SCHEMA, (nested_rows.A,))))
            assert later.state(made.step - 1).rows == (nested_rows.A, nested_rows.B)

    def test_a_converted_folder_is_a_table(self) -> None:
        now = ModelHistory().after(
            ops.ConvertFromParquet(Rows(nested_rows.SCHEMA, (nested_rows.A, nested_rows.B)), ("part",))
        )
        assert now.table.rows == (nested_rows.A, nested_rows.B)
        assert "NoChange" in nested_rows.kinds(
            now, ops.ConvertFromParquet(Rows(nested_rows.SCHEMA, (nested_rows.A, nested_rows.B)))
        )

    def test_cloning_leaves_the_source_as_it_is(self) -> None:
        ends = nested_rows.model_history().expect(ops.CloneTo("other", shallow=True))
        assert ends.fitting_outcomes(Committed(), 0)
        assert not ends.fitting_outcomes(Committed(), 1)

    def test_a_restore_brings_the_definition_back_but_not_the_transactions(self) -> None:
        write = ops.Append(Rows(nested_rows.SCHEMA, ()), transaction=("job", 1))
        now = nested_rows.model_history(write, ops.AddColumn(Field("new", LONG)), ops.Restore(ops.AtState(1)))
        assert now.table.schema == nested_rows.SCHEMA
        assert now.table.rows == (nested_rows.A, nested_rows.B)
