"""What appends and overwrites mean."""

from __future__ import annotations

import pytest

from delta_models import operations as ops
from delta_models.expressions import Column, Compare
from delta_models.outcomes import Committed, NoChange, Rejected, Unsupported
from delta_models.schema import (
    BINARY,
    DATE,
    LONG,
    STRING,
    Array,
    Field,
    Map,
    Struct,
    struct,
)  # fmt: skip
from delta_models.table import ModelHistory, NotModelled
from delta_models.values import Rows
from tests.models.table import nested_rows
from tests.models.table.three_rows import (
    SCHEMA,
    THREE,
    A,
    B,
    C,
    bag_of,
    bagged,
    equals,
    kinds,
    lit,
    model_history,
    rows,
)


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

    def test_empty_bytes_in_a_partition_column_are_null(self) -> None:
        schema = struct(("id", LONG), ("key", BINARY))
        now = ModelHistory().after(ops.Create(schema, partition_by=("key",)))
        written = now.after(ops.Append(Rows(schema, ((1, b""), (2, b"a"), (3, None)))))
        assert written.table.rows == ((1, None), (2, b"a"), (3, None))

    def test_rows_of_a_wrong_type_that_break_a_rule_too_may_be_refused_for_either(self) -> None:
        definition = Struct((Field("id", LONG), Field("day", DATE, nullable=False)))
        positive = ops.AddConstraint("positive", Compare(">", Column(("id",)), lit(LONG, 0)))
        now = ModelHistory().after(ops.Create(definition)).after(positive)
        lists = struct(("id", LONG), ("day", Array(LONG)))
        for row, reasons in (
            ((1, (2,)), {"schema"}),
            ((1, None), {"schema", "constraint"}),
            ((0, (2,)), {"schema", "constraint"}),
        ):
            assert kinds(now, ops.Append(Rows(lists, (row,)), schema_mode="merge")) == reasons
        without_day = Rows(struct(("id", Array(LONG))), (((2,),),))
        assert kinds(now, ops.Append(without_day)) == {"schema", "constraint"}

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
            assert {allowed.outcome.kind for allowed in ends.allowed_outcomes} == {"constraint", "schema"}

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
            assert not now.expect(operation).fitting_outcomes(Committed(), 1)

    def test_an_overwrite_with_two_reasons_is_refused_for_either(self) -> None:
        only = (
            ModelHistory().after(ops.Create(SCHEMA, properties=(("delta.appendOnly", "true"),))).after(THREE)
        )
        misfit = ops.Overwrite(Rows(struct(("nowhere", LONG)), ((1,),)))
        assert kinds(only, misfit) == {"append-only", "schema"}

    def test_an_append_only_table_may_take_what_leaves_all_its_rows(self) -> None:
        only = ModelHistory().after(ops.Create(SCHEMA, properties=(("delta.appendOnly", "true"),)))
        nowhere = equals("part", "nowhere", STRING)
        for now, operation in (
            (only, ops.Overwrite(rows(A))), (only, ops.Delete()),
            (only.after(THREE), ops.Delete(nowhere)),
            (only.after(THREE), ops.Update((("id", lit(LONG, 1)),), nowhere)),
            (only.after(THREE), ops.Overwrite(rows((9, "n", "nowhere")), where=nowhere)),
        ):  # fmt: skip
            expectation = now.expect(operation)
            assert expectation.ordinary.outcome == Rejected("append-only")
            assert expectation.fitting_outcomes(Committed(), 1)


class TestTransaction:
    def test_a_write_under_a_transaction_id_is_done_once(self) -> None:
        write = ops.Append(Rows(nested_rows.SCHEMA, ((3, None, None),)), transaction=("job", 7))
        now = nested_rows.model_history(write)
        assert len(now.table.rows) == 3
        again = now.expect(write)
        assert again.ordinary.outcome == NoChange()
        (repeated,) = again.fitting_outcomes(Committed(), 1)
        assert repeated.breaks == "outcome.repeated-transaction-skipped"
        later = ops.Append(Rows(nested_rows.SCHEMA, ((4, None, None),)), transaction=("job", 8))
        assert len(now.after(later).table.rows) == 4


def test_rows_that_lack_a_column_and_break_a_constraint_are_refused_for_either() -> None:
    now = model_history(ops.AddConstraint("known", equals("part", "x", STRING)))
    less = ops.Append(Rows(struct(("id", LONG)), ((1,),)))
    assert kinds(now, less) == {"constraint", "schema"}
    assert kinds(now, ops.Append(rows((1, "a", "y")))) == {"constraint"}


class TestAnOverwriteOfTheSchemaThatRulesHangOn:
    LESS = struct(("id", LONG), ("name", STRING))
    GENERATED = Struct(
        (Field("id", LONG), Field("next", LONG, metadata_json='{"delta.generationExpression":"id + 1"}'))
    )

    def constrained(self) -> ModelHistory:
        return model_history(ops.AddConstraint("known", equals("part", "x", STRING)))

    def test_it_is_refused_if_it_takes_a_column_of_a_constraint(self) -> None:
        less = ops.Overwrite(Rows(self.LESS, ((1, "a"),)), schema_mode="overwrite")
        expectation = self.constrained().expect(less)
        assert not expectation.fitting_outcomes(Committed(), 1)
        assert expectation.ordinary.requirement == "outcome.column-in-use"
        kept = ops.Overwrite(rows((1, "a", "x")), schema_mode="overwrite")
        assert kinds(self.constrained(), kept) == {"Committed"}

    def test_it_is_refused_if_it_takes_the_source_of_a_generated_column(self) -> None:
        now = ModelHistory().after(ops.Create(self.GENERATED))
        alone = Rows(Struct((self.GENERATED.fields[1],)), ((1,),))
        assert "Committed" not in kinds(now, ops.Overwrite(alone, schema_mode="overwrite"))
        plain = Rows(Struct((self.GENERATED.fields[0],)), ((1,),))
        assert kinds(now, ops.Overwrite(plain, schema_mode="overwrite")) == {"Committed"}

    def test_without_rows_nothing_says_what_it_does(self) -> None:
        with pytest.raises(NotModelled, match="a rule names"):
            self.constrained().expect(ops.Overwrite(Rows(self.LESS, ()), schema_mode="overwrite"))


def test_an_overwrite_of_the_schema_may_keep_not_null_or_take_the_rows_for_those_of_a_query() -> None:
    inner = Struct((Field("x", LONG, nullable=False),))
    strict = Struct(
        (Field("id", LONG, nullable=False), Field("inner", inner), Field("n", Array(LONG, False)))
    )
    free = Struct((Field("id", LONG), Field("inner", struct(("x", LONG))), Field("n", Array(LONG))))
    now = model_history(THREE)
    whole = ops.Overwrite(Rows(strict, ((1, (2,), (3,)),)), schema_mode="overwrite")
    assert [allowed.table.schema for allowed in now.expect(whole).allowed_outcomes] == [free, strict]
    broken = ops.Overwrite(Rows(strict, ((None, (2,), (3,)),)), schema_mode="overwrite")
    assert {"Committed", "constraint"} <= kinds(now, broken)
    assert now.after(broken).table.schema == free
