"""The fields of structs go by their names in writes by name, at any depth; in writes by position by their place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import INTEGER, LONG, STRING, Array, DataType, Map, Struct, struct
from delta_models.table import ModelHistory
from delta_models.values import Row, Rows, Value

Wrap = tuple[Callable[[DataType], DataType], Callable[[Value], Value]]
STRUCT: Wrap = (lambda data_type: data_type, lambda value: value)
ARRAY: Wrap = (Array, lambda value: (value,))
MAP: Wrap = (lambda data_type: Map(STRING, data_type), lambda value: (("k", value),))
NESTED: Wrap = (lambda data_type: struct(("i", data_type)), lambda value: (value,))
WRAPS = pytest.mark.parametrize(
    "wrap", (STRUCT, ARRAY, MAP, NESTED), ids=("struct", "array", "map", "nested")
)
AB = struct(("a", LONG), ("b", LONG))
BA = struct(("b", LONG), ("a", LONG))
ON_ID = Compare("=", Column(("source", "id")), Column(("target", "id")))
ALL = (
    ops.MergeClause("matched", "update", everything=True),
    ops.MergeClause("not-matched", "insert", everything=True),
)
SET = (ops.MergeClause("matched", "update", (("s", Column(("source", "s"))),)),)


def schema(wrap: Wrap, inner: Struct) -> Struct:
    return struct(("id", LONG), ("s", wrap[0](inner)))


def row(wrap: Wrap, inner: Value, identity: int = 1) -> Row:
    return (identity, wrap[1](inner))


def model_history(wrap: Wrap, *rows: Row) -> ModelHistory:
    mine = schema(wrap, AB)
    return ModelHistory().after(ops.Create(mine)).after(ops.Append(Rows(mine, rows)))


def kinds(now: ModelHistory, operation: ops.Operation) -> set[str]:
    return {
        allowed.outcome.kind
        for allowed in now.expect(operation).allowed_outcomes
        if isinstance(allowed.outcome, Rejected)
    }


@WRAPS
def test_every_write_by_name_pairs_fields_by_their_names(wrap: Wrap) -> None:
    rows = Rows(schema(wrap, BA), (row(wrap, (2, 1)),))
    for operation in (
        ops.Append(rows),
        ops.Append(rows, schema_mode="merge"),
        ops.Overwrite(rows),
        ops.Overwrite(rows, where=Compare("=", Column(("id",)), Literal(LONG, 1))),
        ops.Merge(rows, ON_ID, ALL),
        ops.Merge(rows, ON_ID, ALL, schema_evolution=True),
        ops.WriteStream(rows),
    ):
        now = model_history(wrap)
        assert kinds(now, operation) == set(), operation
        assert now.after(operation).table.rows == (row(wrap, (1, 2)),), operation
        assert now.after(operation).table.schema == schema(wrap, AB)


@WRAPS
def test_assignments_pair_fields_by_their_names(wrap: Wrap) -> None:
    now = model_history(wrap, row(wrap, (10, 20)))
    merge = ops.Merge(Rows(schema(wrap, BA), (row(wrap, (2, 1)),)), ON_ID, SET)
    update = ops.Update((("s", Literal(wrap[0](BA), wrap[1]((2, 1)))),))
    for operation in (merge, update):
        assert kinds(now, operation) == set()
        assert now.after(operation).table.rows == (row(wrap, (1, 2)),)


@WRAPS
def test_the_case_of_names_does_not_count_and_types_are_cast(wrap: Wrap) -> None:
    other = struct(("B", INTEGER), ("A", INTEGER))
    append = ops.Append(Rows(schema(wrap, other), (row(wrap, (2, 1)),)))
    assert model_history(wrap).after(append).table.rows == (row(wrap, (1, 2)),)
    assert kinds(model_history(wrap), append) == {"schema"}


@WRAPS
def test_a_field_that_rows_lack_becomes_null_or_the_write_is_refused(wrap: Wrap) -> None:
    rows = Rows(schema(wrap, struct(("b", LONG))), (row(wrap, (2,)),))
    now = model_history(wrap)
    assert now.after(ops.Append(rows)).table.rows == (row(wrap, (None, 2)),)
    assert "schema" in kinds(now, ops.Append(rows))
    assert now.expect(ops.Merge(rows, ON_ID, ALL)).ordinary.outcome == Rejected("schema")
    grown = ops.Merge(rows, ON_ID, ALL, schema_evolution=True)
    assert now.after(grown).table.rows == (row(wrap, (None, 2)),)


@WRAPS
@pytest.mark.parametrize(
    "inner", (struct(("x", LONG), ("y", LONG)), struct(("b", LONG), ("x", LONG))), ids=str
)
def test_a_field_that_the_table_lacks_is_refused_or_added(wrap: Wrap, inner: Struct) -> None:
    rows = Rows(schema(wrap, inner), (row(wrap, (2, 1)),))
    now = model_history(wrap)
    for operation in (ops.Append(rows), ops.Overwrite(rows), ops.Merge(rows, ON_ID, ALL)):
        assert now.expect(operation).ordinary.outcome == Rejected("schema"), operation
    update = ops.Update((("s", Literal(wrap[0](inner), wrap[1]((2, 1)))),))
    assert now.expect(update).ordinary.outcome == Rejected("schema")
    merged = now.after(ops.Append(rows, schema_mode="merge")).table
    values = {"a": None, "b": None} | dict(zip(inner.names, (2, 1), strict=True))
    assert merged.rows == (row(wrap, tuple(values.values())),)


@WRAPS
def test_a_write_by_position_pairs_fields_by_their_place(wrap: Wrap) -> None:
    other = struct(("x", LONG), ("y", LONG))
    rows = Rows(struct(("c0", LONG), ("c1", wrap[0](other))), (row(wrap, (1, 2)),))
    assert model_history(wrap).after(ops.Append(rows, by_name=False)).table.rows == (row(wrap, (1, 2)),)


@WRAPS
def test_in_a_write_by_position_fields_of_the_same_names_may_go_by_these(wrap: Wrap) -> None:
    rows = Rows(struct(("c0", LONG), ("c1", wrap[0](BA))), (row(wrap, (2, 1)),))
    allowed = model_history(wrap).expect(ops.Append(rows, by_name=False)).allowed_outcomes
    ends = {one.table.rows for one in allowed if isinstance(one.outcome, Committed)}
    assert ends == {(row(wrap, (2, 1)),), (row(wrap, (1, 2)),)}


def test_a_stream_pairs_the_columns_of_earlier_batches_by_their_names() -> None:
    mine = struct(("a", LONG), ("b", LONG))
    now = ModelHistory().after(ops.Create(mine))
    waiting = ops.WriteStream(Rows(BA, ((2, 1),)))
    reached = now.expect(ops.Checkpoint()).allowed_outcomes[0]
    now = now.after(waiting, reached)
    assert now.after(ops.WriteStream(Rows(mine, ((3, 4),)))).table.rows == ((1, 2), (3, 4))
