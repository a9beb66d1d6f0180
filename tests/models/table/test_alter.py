"""What operations on columns mean."""

from __future__ import annotations

import pytest

from delta_models import operations as ops
from delta_models.expressions import Literal
from delta_models.outcomes import Committed
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
from delta_models.values import Rows
from tests.models.table.nested_rows import (
    DEFAULTS,
    INNER,
    MAPPED,
    SCHEMA,
    WIDENING,
    A,
    B,
    kinds,
    model_history,
    positive,
)


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

    def test_names_with_blanks_may_be_refused_where_column_mapping_is_off(self) -> None:
        blank, plain = ops.AddColumn(Field("x y", LONG)), ops.AddColumn(Field("x-y", LONG))
        assert {"Committed", "schema"} <= kinds(model_history(), blank)
        assert kinds(model_history(), plain) == {"Committed"}
        assert kinds(model_history(properties=MAPPED), blank) == {"Committed"}

    def test_a_column_that_may_not_be_null_may_be_added_where_there_are_no_rows(self) -> None:
        strict = ops.AddColumn(Field("new", LONG, nullable=False))
        empty = ModelHistory().after(ops.Create(struct(("id", LONG))))
        assert {"Committed", "constraint"} <= kinds(empty, strict)
        (done,) = (
            allowed.table
            for allowed in empty.expect(strict).allowed_outcomes
            if isinstance(allowed.outcome, Committed)
        )
        assert done.schema == struct(("id", LONG), Field("new", LONG, nullable=False))
        assert "Committed" not in kinds(empty, ops.AddColumn(Field("ID", LONG, nullable=False)))
        one = empty.after(ops.Append(Rows(struct(("id", LONG)), ((1,),))))
        assert "Committed" not in kinds(one, strict)
        assert "Committed" in kinds(one.after(ops.Delete()), strict)

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
