"""What changes of a table's definition mean: schema, constraints, features, transactions, and time."""

from __future__ import annotations

import pytest

from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Expression, IsNotNull, Literal
from delta_models.outcomes import Committed, NoChange, Rejected
from delta_models.schema import (
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    DataType,
    DecimalType,
    Field,
    struct,
)  # fmt: skip
from delta_models.table import ModelHistory
from delta_models.table.alter import can_widen
from delta_models.table.retention import parse_interval
from delta_models.values import Row, Rows
from delta_models.wire_names import name_of

INNER = struct(("x", LONG), ("y", STRING))
SCHEMA = struct(("id", INTEGER), ("part", STRING), ("inner", INNER))
A: Row = (1, "p", (10, "a"))
B: Row = (2, None, None)
MAPPED = (("delta.columnMapping.mode", "name"),)
WIDENING = (("delta.enableTypeWidening", "true"),)
DEFAULTS = (("delta.feature.allowColumnDefaults", "supported"),)


def model_history(
    *operations: ops.Operation, properties: ops.Properties = (), partition_by: tuple[str, ...] = ()
) -> ModelHistory:
    now = (
        ModelHistory()
        .after(ops.Create(SCHEMA, partition_by, properties))
        .after(ops.Append(Rows(SCHEMA, (A, B))))
    )
    for operation in operations:
        now = now.after(operation)
    return now


def kinds(now: ModelHistory, operation: ops.Operation) -> set[str]:
    return {
        branch.outcome.kind if isinstance(branch.outcome, Rejected) else name_of(branch.outcome)
        for branch in now.expect(operation).allowed_outcomes
    }


def positive(name: str = "id") -> Expression:
    return Compare(">", Column((name,)), Literal(INTEGER, 0))


class TestColumns:
    def test_a_new_column_is_null_everywhere_and_comes_where_it_is_asked_to(self) -> None:
        table = model_history(ops.AddColumn(Field("new", DATE), after="id")).table
        assert table.schema.names == ("id", "new", "part", "inner")
        assert table.rows == ((1, None, "p", (10, "a")), (2, None, None, None))
        first = model_history(ops.AddColumn(Field("new", DATE), first=True)).table
        assert first.schema.names[0] == "new"

    def test_a_new_field_inside_a_struct_is_null_where_there_is_a_struct(self) -> None:
        table = model_history(ops.AddColumn(Field("z", LONG), parent=("inner",))).table
        assert table.rows == ((1, "p", (10, "a", None)), (2, None, None))

    def test_a_field_inside_the_elements_of_an_array(self) -> None:
        schema = struct(("items", Array(INNER)))
        now = ModelHistory().after(ops.Create(schema)).after(ops.Append(Rows(schema, ((((1, "a"), None),),))))
        table = now.after(ops.AddColumn(Field("z", LONG), parent=("items", "element"), first=True)).table
        assert table.rows == ((((None, 1, "a"), None),),)

    def test_columns_that_exist_or_may_not_be_null_are_refused(self) -> None:
        assert "schema" in kinds(model_history(), ops.AddColumn(Field("ID", LONG)))
        assert "Committed" not in kinds(model_history(), ops.AddColumn(Field("new", LONG, nullable=False)))
        assert "Committed" not in kinds(
            model_history(), ops.AddColumn(Field("new", LONG), parent=("nowhere",))
        )

    def test_columns_go_and_change_names_only_with_column_mapping(self) -> None:
        for operation in (ops.DropColumn(("inner",)), ops.RenameColumn(("id",), "key")):
            assert "Committed" not in kinds(model_history(), operation)
            assert kinds(model_history(properties=MAPPED), operation) == {"Committed"}

    def test_a_dropped_column_takes_its_values(self) -> None:
        table = model_history(ops.DropColumn(("inner", "x")), properties=MAPPED).table
        assert table.rows == ((1, "p", ("a",)), (2, None, None))
        assert "Committed" not in kinds(
            model_history(properties=MAPPED, partition_by=("part",)), ops.DropColumn(("part",))
        )

    def test_a_column_added_under_the_name_of_a_dropped_one_is_empty(self) -> None:
        now = model_history(
            ops.DropColumn(("inner",)), ops.AddColumn(Field("inner", INNER)), properties=MAPPED
        )
        assert now.table.rows == ((1, "p", None), (2, None, None))

    def test_a_renamed_column_keeps_its_values_and_partitions_as_before(self) -> None:
        table = model_history(
            ops.RenameColumn(("part",), "zone"), properties=MAPPED, partition_by=("part",)
        ).table
        assert table.partition_by == ("zone",)
        assert table.schema.names == ("id", "zone", "inner")
        assert table.rows == (A, B)

    def test_a_constraint_holds_its_column_fast(self) -> None:
        now = model_history(ops.AddConstraint("positive", positive()), properties=MAPPED)
        assert "Committed" not in kinds(now, ops.DropColumn(("id",)))
        assert "Committed" not in kinds(now, ops.RenameColumn(("id",), "key"))

    def test_a_moved_column_keeps_its_values(self) -> None:
        assert model_history(ops.ReorderColumn(("inner",))).table.rows == (
            ((10, "a"), 1, "p"),
            (None, 2, None),
        )
        table = model_history(ops.ReorderColumn(("inner", "x"), after="y")).table
        assert table.rows[0] == (1, "p", ("a", 10))
        assert kinds(model_history(), ops.ReorderColumn(("part",), after="id")) == {"NoChange", "Committed"}

    def test_a_wider_type_keeps_the_values(self) -> None:
        widen = ops.WidenColumn(("id",), LONG)
        assert "Committed" not in kinds(model_history(), widen)
        now = model_history(widen, properties=WIDENING)
        assert now.table.schema["id"].type == LONG
        assert now.table.rows == (A, B)
        assert model_history(ops.WidenColumn(("id",), DOUBLE), properties=WIDENING).table.rows[0][0] == 1.0
        assert "Committed" not in kinds(now, ops.WidenColumn(("id",), INTEGER))

    def test_nullability_goes_freely_and_comes_only_where_there_are_no_nulls(self) -> None:
        assert "Committed" in kinds(model_history(), ops.SetNullable(("id",), nullable=False))
        assert "Committed" not in kinds(model_history(), ops.SetNullable(("part",), nullable=False))
        now = model_history(ops.SetNullable(("id",), nullable=False))
        assert kinds(now, ops.Append(Rows(SCHEMA, ((None, "p", None),)))) == {"constraint"}
        assert kinds(now, ops.SetNullable(("id",), nullable=True)) == {"Committed"}

    def test_a_default_stands_in_for_a_column_that_is_not_named(self) -> None:
        default = ops.SetDefault("part", Literal(STRING, "none"))
        assert "Committed" not in kinds(model_history(), default)
        now = model_history(default, ops.Append(Rows(struct(("id", INTEGER)), ((3,),))), properties=DEFAULTS)
        assert now.table.rows == (A, B, (3, "none", None))
        assert now.after(ops.SetDefault("part", None)).table.defaults == ()


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    (
        (BYTE, SHORT, True), (BYTE, DOUBLE, True), (INTEGER, LONG, True), (LONG, INTEGER, False), (LONG, DOUBLE, False),
        (FLOAT, DOUBLE, True), (DOUBLE, FLOAT, False), (DATE, TIMESTAMP_NTZ, True), (DATE, TIMESTAMP, False),
        (INTEGER, DecimalType(10, 0), True), (INTEGER, DecimalType(11, 2), False), (INTEGER, DecimalType(12, 2), True),
        (LONG, DecimalType(19, 0), False), (LONG, DecimalType(20, 0), True), (STRING, DecimalType(20, 0), False),
        (DecimalType(5, 2), DecimalType(6, 3), True), (DecimalType(5, 2), DecimalType(5, 3), False),
        (DecimalType(5, 2), DecimalType(6, 1), False), (STRING, LONG, False),
    ),
)  # fmt: skip
def test_only_the_listed_changes_of_type_widen(old: DataType, new: DataType, allowed: bool) -> None:
    assert can_widen(old, new) == allowed


class TestRules:
    def test_a_constraint_must_hold_for_the_rows_that_there_are_and_for_new_ones(self) -> None:
        assert kinds(model_history(), ops.AddConstraint("c", IsNotNull(Column(("part",))))) == {"constraint"}
        now = model_history(ops.AddConstraint("positive", positive()))
        assert kinds(now, ops.Append(Rows(SCHEMA, ((0, None, None),)))) == {"constraint"}
        assert kinds(now, ops.Update((("id", Literal(INTEGER, -1)),))) == {"constraint"}
        assert "Committed" not in kinds(now, ops.AddConstraint("POSITIVE", positive()))

    def test_unknown_breaks_a_constraint(self) -> None:
        now = model_history(ops.AddConstraint("positive", positive()))
        assert kinds(now, ops.Append(Rows(SCHEMA, ((None, None, None),)))) == {"constraint"}

    def test_a_dropped_constraint_binds_nobody(self) -> None:
        now = model_history(ops.AddConstraint("positive", positive()), ops.DropConstraint("Positive"))
        assert kinds(now, ops.Append(Rows(SCHEMA, ((0, None, None),)))) == {"Committed"}
        assert kinds(now, ops.DropConstraint("positive")) == {"NoChange", "Committed"}
        assert "Committed" not in kinds(now, ops.DropConstraint("positive", if_exists=False))

    def test_features_are_named_once(self) -> None:
        now = model_history(ops.EnableFeature("deletionVectors"))
        assert now.table.supports("deletionVectors")
        assert kinds(now, ops.EnableFeature("deletionVectors")) == {"NoChange", "Committed"}
        assert "Committed" not in kinds(now, ops.EnableFeature("noSuchThing"))
        assert not now.after(ops.DropFeature("deletionVectors")).table.supports("deletionVectors")

    def test_a_feature_that_a_property_brought_may_be_there_already(self) -> None:
        on, off = (
            ops.SetProperties((("delta.enableInCommitTimestamps", each),)) for each in ("true", "false")
        )
        enable = ops.EnableFeature("inCommitTimestamp")
        assert "NoChange" not in kinds(model_history(), enable)
        assert "NoChange" in kinds(model_history(on), enable)
        assert "NoChange" in kinds(
            model_history(on, off, ops.UnsetProperties(("delta.enableInCommitTimestamps",))), enable
        )

    def test_row_tracking_brings_domains(self) -> None:
        assert "NoChange" in kinds(
            model_history(ops.EnableFeature("rowTracking")), ops.EnableFeature("domainMetadata")
        )

    def test_row_tracking_that_is_switched_on_may_take_several_commits_and_leaves_the_rows(self) -> None:
        on = ops.SetProperties((("delta.enableRowTracking", "true"),))
        ends = model_history().expect(on)
        assert ends.fitting_outcomes(Committed(), 3)
        assert not ends.fitting_outcomes(Committed(), 0)
        assert ends.ordinary.table.rows == model_history().table.rows
        assert not model_history(on).expect(on).fitting_outcomes(Committed(), 3)

    def test_a_dropped_feature_takes_the_property_that_asked_for_it(self) -> None:
        table = model_history(
            ops.DropFeature("allowColumnDefaults"), properties=(*DEFAULTS, ("other", "kept"))
        ).table
        assert table.properties == (("other", "kept"),)

    def test_clustering_and_partitioning_exclude_each_other(self) -> None:
        assert model_history(ops.Cluster(("id",))).table.cluster_by == ("id",)
        assert "Committed" not in kinds(model_history(partition_by=("part",)), ops.Cluster(("id",)))


class TestWrites:
    def test_values_of_other_types_are_cast_or_refused(self) -> None:
        source = struct(("id", LONG), ("part", INTEGER), ("inner", INNER))
        ends = model_history().expect(ops.Append(Rows(source, ((3, 4, None),))))
        assert ends.ordinary.table.rows[-1] == (3, "4", None)
        assert ends.fitting_outcomes(Rejected("schema"), 0)

    def test_what_does_not_fit_is_refused_and_never_cut(self) -> None:
        source = struct(("id", LONG), ("part", STRING), ("inner", INNER))
        assert "Committed" not in kinds(model_history(), ops.Append(Rows(source, ((2**31, None, None),))))
        assert "Committed" not in kinds(model_history(), ops.Update((("id", Literal(LONG, 2**31)),)))

    def test_a_write_under_a_transaction_id_is_done_once(self) -> None:
        write = ops.Append(Rows(SCHEMA, ((3, None, None),)), transaction=("job", 7))
        now = model_history(write)
        assert len(now.table.rows) == 3
        again = now.expect(write)
        assert again.ordinary.outcome == NoChange()
        (repeated,) = again.fitting_outcomes(Committed(), 1)
        assert repeated.breaks == "outcome.repeated-transaction-skipped"
        later = ops.Append(Rows(SCHEMA, ((4, None, None),)), transaction=("job", 8))
        assert len(now.after(later).table.rows) == 4

    def test_a_merge_may_bring_new_columns(self) -> None:
        source = struct(("id", INTEGER), ("extra", LONG))
        clauses = (
            ops.MergeClause("matched", "update", everything=True),
            ops.MergeClause("not-matched", "insert", everything=True),
        )
        on = Compare("=", Column(("source", "id")), Column(("target", "id")))
        merge = ops.Merge(Rows(source, ((1, 100), (9, 900))), on, clauses, schema_evolution=True)
        table = model_history(merge).table
        assert table.schema.names == ("id", "part", "inner", "extra")
        assert set(table.rows) == {(*A, 100), (*B, None), (9, None, None, 900)}

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
        wrong = struct(
            ("id", LONG),
            (
                "st",
                struct(
                    ("b", struct(("x", LONG))),
                ),
            ),
        )
        merge = ops.Merge(Rows(wrong, ((1, ((1,),)),)), on, clauses, schema_evolution=True)
        assert "Committed" not in kinds(now, merge)


class TestTables:
    def test_replacing_leaves_a_new_empty_table(self) -> None:
        table = model_history(ops.Replace(struct(("other", LONG)))).table
        assert table.schema.names == ("other",)
        assert table.rows == ()
        assert kinds(ModelHistory(), ops.Replace(SCHEMA, or_create=False)) == {"missing-table"}

    def test_a_table_made_from_rows_holds_them(self) -> None:
        operation = ops.CreateAs(Rows(SCHEMA, (A, B)), ("part",))
        assert ModelHistory().after(operation).table.rows == (A, B)
        assert "Committed" not in kinds(model_history(), operation)
        assert kinds(model_history(), ops.CreateAs(Rows(SCHEMA, (A,)), replace=True)) == {"Committed"}

    def test_a_table_made_from_another_one_keeps_its_rows_when_that_is_dropped(self) -> None:
        rows = Rows(SCHEMA, (A, B))
        for replaces in (False, True):
            now = model_history() if replaces else ModelHistory()
            made = now.after(ops.CreateAs(rows, replace=replaces, source_dropped=True))
            assert made.table == now.after(ops.CreateAs(rows, replace=replaces)).table
            assert made.table.rows == (A, B)
            later = made.after(ops.Append(Rows(SCHEMA, (A,))))
            assert later.state(made.step - 1).rows == (A, B)

    def test_a_converted_folder_is_a_table(self) -> None:
        now = ModelHistory().after(ops.ConvertFromParquet(Rows(SCHEMA, (A, B)), ("part",)))
        assert now.table.rows == (A, B)
        assert "NoChange" in kinds(now, ops.ConvertFromParquet(Rows(SCHEMA, (A, B))))

    def test_cloning_leaves_the_source_as_it_is(self) -> None:
        ends = model_history().expect(ops.CloneTo("other", shallow=True))
        assert ends.fitting_outcomes(Committed(), 0)
        assert not ends.fitting_outcomes(Committed(), 1)

    def test_a_restore_brings_the_definition_back_but_not_the_transactions(self) -> None:
        write = ops.Append(Rows(SCHEMA, ()), transaction=("job", 1))
        now = model_history(write, ops.AddColumn(Field("new", LONG)), ops.Restore(ops.AtState(1)))
        assert now.table.schema == SCHEMA
        assert now.table.rows == (A, B)


class TestTime:
    def test_a_vacuum_takes_what_was_removed_long_enough_ago(self) -> None:
        now = model_history(ops.Delete(), ops.AdvanceClock(100), ops.Append(Rows(SCHEMA, (A,))), ops.Delete())
        assert now.after(ops.Vacuum()).readable_steps() == tuple(range(7))
        assert now.after(ops.Vacuum(50)).readable_steps()[0] == 2
        assert now.after(ops.AdvanceClock(100)).after(ops.Vacuum()).readable_steps()[0] == 2

    def test_a_dry_run_takes_nothing(self) -> None:
        assert model_history(ops.Delete(), ops.Vacuum(0, dry_run=True)).readable_steps() == (0, 1, 2, 3)

    def test_versions_older_than_the_log_is_kept_may_be_gone(self) -> None:
        now = model_history(ops.AdvanceClock(800), ops.Append(Rows(SCHEMA, (A,))), ops.CleanLog())
        assert now.readable_steps() == (2, 3, 4)
        still = model_history(ops.AdvanceClock(800), ops.CleanLog())
        assert still.readable_steps()[-1] == 3

    def test_the_retention_is_the_tables_own(self) -> None:
        short = (("delta.deletedFileRetentionDuration", "interval 2 hours"),)
        now = model_history(ops.Delete(), ops.AdvanceClock(3), properties=short)
        assert now.after(ops.Vacuum()).readable_steps()[0] == 2
        assert kinds(now, ops.Vacuum(2)) == {"NoChange", "Committed"}

    def test_a_state_can_be_named_by_its_time(self) -> None:
        look = model_history(ops.Delete()).expect_read(ops.Read(ops.AtTime(1)))
        assert look.rows == Rows(SCHEMA, (A, B))

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
