"""Void columns are null in every row, and make some writes impossible."""

from __future__ import annotations

import pytest

from delta_models import operations as ops
from delta_models.expressions import Literal
from delta_models.outcomes import Committed
from delta_models.schema import LONG, STRING, VOID, Array, Map, Struct, struct
from delta_models.table import ModelHistory
from delta_models.values import Row, Rows

PLAIN = struct(("id", LONG), ("nothing", VOID))
INSIDE = struct(("id", LONG), ("x", struct(("text", STRING), ("nothing", VOID))))


def appended(schema: Struct, row: Row, *partition_by: str) -> str:
    model_history = ModelHistory().after(ops.Create(schema, partition_by))
    end = model_history.expect(ops.Append(Rows(schema, (row,)))).ordinary
    return "" if isinstance(end.outcome, Committed) else end.requirement


@pytest.mark.parametrize(("schema", "row"), ((PLAIN, (1, None)), (INSIDE, (1, ("a", None)))))
def test_rows_with_void_beside_other_columns_or_fields_are_written(schema, row):
    assert appended(schema, row) == ""


@pytest.mark.parametrize(
    ("schema", "row", "partition_by"),
    (
        (struct(("nothing", VOID)), (None,), ()),
        (PLAIN, (1, None), ("id",)),
        (struct(("id", LONG), ("x", Array(VOID))), (1, None), ()),
        (struct(("id", LONG), ("x", Map(STRING, VOID))), (1, None), ()),
        (struct(("id", LONG), ("x", struct(("nothing", VOID)))), (1, None), ()),
        (struct(("id", LONG), ("x", Array(struct(("nothing", VOID))))), (1, None), ()),
    ),
    ids=str,
)
def test_rows_are_refused_where_void_is_in_a_container_or_all_that_there_is(schema, row, partition_by):
    assert appended(schema, row, *partition_by) == "outcome.void-refused"


def test_what_writes_no_row_is_no_concern_of_it():
    schema = struct(("id", LONG), ("x", Array(VOID)))
    model_history = ModelHistory().after(ops.Create(schema))
    for operation in (
        ops.Append(Rows(schema, ())),
        ops.Delete(),
        ops.Update((("id", Literal(LONG, 1)),)),
        ops.SetProperties((("a", "b"),)),
    ):
        assert all(
            allowed.requirement != "outcome.void-refused"
            for allowed in model_history.expect(operation).allowed_outcomes
        )


def test_an_overwrite_is_judged_by_the_schema_that_it_leaves():
    bad = struct(("id", LONG), ("x", Array(VOID)))
    rows = Rows(PLAIN, ((1, None),))
    mended = ModelHistory().after(ops.Create(bad)).expect(ops.Overwrite(rows, schema_mode="overwrite"))
    assert mended.ordinary.table.rows == ((1, None),)
    broken = (
        ModelHistory()
        .after(ops.Create(PLAIN))
        .expect(ops.Overwrite(Rows(bad, ((1, ()),)), schema_mode="overwrite"))
    )
    assert broken.ordinary.requirement == "outcome.void-refused"
