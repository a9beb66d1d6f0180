"""What the change feed must contain."""

from __future__ import annotations

import pytest

from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.schema import LONG, STRING, Field, struct
from delta_models.table import ModelHistory, NotModelled
from delta_models.values import Row, Rows

SCHEMA = struct(("id", LONG), ("name", STRING))
A, B = (1, "a"), (2, "b")
FEED = (("delta.enableChangeDataFeed", "true"),)
RENAME = ops.Update((("name", Literal(STRING, "new")),), Compare("=", Column(("id",)), Literal(LONG, 1)))


def model_history(*operations: ops.Operation, properties: ops.Properties = FEED) -> ModelHistory:
    now = (
        ModelHistory()
        .after(ops.Create(SCHEMA, properties=properties))
        .after(ops.Append(Rows(SCHEMA, (A, B))))
    )
    for operation in operations:
        now = now.after(operation)
    return now


def problem_of_step(now: ModelHistory, step: int, *changes: tuple[str, Row]) -> str | None:
    expected = now.expect_changes(ops.ReadChanges(ops.AtState(step), ops.AtState(step)))
    assert expected.steps is not None
    (only,) = expected.steps
    return only.problem(changes)


def test_an_append_is_reported_as_insertions() -> None:
    assert problem_of_step(model_history(), 1, ("insert", A), ("insert", B)) is None
    assert problem_of_step(model_history(), 1, ("insert", A)) is not None
    assert problem_of_step(model_history(), 1, ("insert", A), ("insert", B), ("insert", B)) is not None


def test_an_update_is_reported_by_its_images_or_as_two_changes() -> None:
    now = model_history(RENAME)
    assert problem_of_step(now, 2, ("update_preimage", A), ("update_postimage", (1, "new"))) is None
    assert problem_of_step(now, 2, ("delete", A), ("insert", (1, "new"))) is None
    assert problem_of_step(now, 2, ("update_postimage", (1, "new"))) is not None


def test_a_row_that_was_rewritten_as_it_was_may_be_reported() -> None:
    assert (
        problem_of_step(
            model_history(RENAME), 2, ("delete", A), ("insert", (1, "new")), ("delete", B), ("insert", B)
        )
        is None
    )


def test_maintenance_reports_no_changes() -> None:
    now = model_history(ops.Optimize())
    assert problem_of_step(now, 2) is None
    assert problem_of_step(now, 2, ("insert", A)) is not None


def test_an_unknown_kind_is_wrong() -> None:
    assert problem_of_step(model_history(), 1, ("upsert", A)) == "a change of the unknown kind 'upsert'"


def test_every_step_of_a_range_is_reported() -> None:
    expected = model_history(RENAME, ops.Delete()).expect_changes(ops.ReadChanges(ops.AtState(1)))
    assert expected.steps is not None
    assert [step.step for step in expected.steps] == [1, 2, 3]
    assert sum(expected.steps[-1].went.values()) == 2


def test_a_table_that_does_not_record_changes_refuses_to_tell() -> None:
    assert model_history(properties=()).expect_changes(ops.ReadChanges(ops.AtState(1))).steps is None
    late = model_history(ops.SetProperties(FEED), properties=())
    assert late.expect_changes(ops.ReadChanges(ops.AtState(1))).steps is None
    assert late.expect_changes(ops.ReadChanges(ops.AtState(2))).steps is not None


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    assert model_history().expect_changes(ops.ReadChanges(ops.AtState(1), ops.AtState(0))).steps is None


def test_changes_that_a_vacuum_may_have_taken_may_be_refused() -> None:
    now = model_history(ops.Delete(), ops.Vacuum(0))
    assert now.expect_changes(ops.ReadChanges(ops.AtState(1))).refusals
    assert now.expect_changes(
        ops.ReadChanges(ops.AtState(2))
    ).refusals  # the deleted rows lay in a file that is gone
    assert not now.expect_changes(ops.ReadChanges(ops.AtState(3))).refusals


def test_a_change_of_the_schema_on_the_way_is_not_modelled() -> None:
    with pytest.raises(NotModelled):
        model_history(ops.AddColumn(Field("more", LONG))).expect_changes(ops.ReadChanges(ops.AtState(1)))
