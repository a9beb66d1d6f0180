"""What a streaming reader must have received, and what a stream writes, by the model."""

from __future__ import annotations

from collections import Counter

import pytest

from delta_models.operations import (
    AddColumn,
    Append,
    Create,
    Delete,
    Operation,
    Optimize,
    Overwrite,
    ReadStream,
    Vacuum,
    WriteStream,
)
from delta_models.outcomes import Committed, NoChange
from delta_models.schema import LONG, Field, struct
from delta_models.table import AllowedOutcome, ModelHistory, NotModelled
from delta_models.values import Key, Rows

SCHEMA = struct(("id", LONG))
RECORDED = (("delta.enableChangeDataFeed", "true"),)


def rows(*ids: int) -> Rows:
    return Rows(SCHEMA, tuple((identity,) for identity in ids))


def after(*operations: Operation) -> ModelHistory:
    model_history = ModelHistory()
    for operation in operations:
        model_history = model_history.after(operation)
    return model_history


def ids(bag: Counter[Key]) -> list[object]:
    return sorted((key[0] for key in bag.elements()), key=repr)


def test_a_follower_gets_the_rows_of_its_first_look_and_those_that_came_since():
    model_history = after(
        Create(SCHEMA), Append(rows(1)), ReadStream(), Append(rows(2)), Optimize(), Append(rows(3))
    )
    expected = model_history.expect_stream(ReadStream(), 2, 2)
    assert ids(expected.first) == [1]
    assert [(step.step, ids(step.came), ids(step.went)) for step in expected.steps] == [
        (3, [2], []), (4, [], []), (5, [3], []),
    ]  # fmt: skip
    assert expected.refusals == ()


def test_what_is_left_of_all_changes_is_the_newest_state():
    model_history = after(
        Create(SCHEMA, (), RECORDED), Append(rows(1, 2)), ReadStream(), Delete(), Append(rows(2))
    )
    expected = model_history.expect_stream(ReadStream(follows="changes"), 2, 2)
    assert ids(expected.now) == [2]
    assert {key[0] for key in expected.ever} == {1, 2}


def test_maintenance_is_told_apart_from_commits_that_add_rows():
    before = (Create(SCHEMA), Append(rows(1)), Append(rows(2)), ReadStream())
    assert not after(*before).expect_stream(ReadStream(), 3, 3).upkeep
    assert after(*before, Optimize()).expect_stream(ReadStream(), 3, 3).upkeep
    assert not after(*before, Optimize(), Append(rows(3))).expect_stream(ReadStream(), 3, 3).upkeep
    looked = after(*before, Append(rows(3)), ReadStream(), Optimize())
    assert looked.expect_stream(ReadStream(), 3, 5).upkeep


def test_a_follower_that_comes_after_a_vacuum_may_miss_files():
    model_history = after(
        Create(SCHEMA), Append(rows(1)), ReadStream(), Append(rows(2)), Overwrite(rows(3)), Vacuum(0.0)
    )
    assert model_history.expect_stream(ReadStream(), 2, 2).refusals == ("missing-file", "missing-version")
    assert model_history.expect_stream(ReadStream(), 6, 6).refusals == ()


@pytest.mark.parametrize(
    ("tail", "operations"),
    (
        (ReadStream(follows="whatever"), ()),
        (ReadStream(), (AddColumn(Field("more", LONG)),)),
        (ReadStream(follows="changes"), ()),
    ),
)
def test_what_is_not_modelled_is_not_judged(tail: ReadStream, operations: tuple[Operation, ...]):
    model_history = after(Create(SCHEMA), Append(rows(1)), ReadStream(), *operations)
    with pytest.raises(NotModelled):
        model_history.expect_stream(tail, 2, 2)


def test_a_stream_writes_what_arrived_and_nothing_where_nothing_did():
    model_history = after(Create(SCHEMA), Append(rows(1)))
    (end,) = model_history.expect(WriteStream(rows(2, 3))).allowed_outcomes
    assert (end.outcome, end.commits, ids(end.table.bag)) == (Committed(), (1, 1), [1, 2, 3])
    assert {
        type(allowed.outcome) for allowed in model_history.expect(WriteStream(rows())).allowed_outcomes
    } == {
        NoChange,
        Committed,
    }
    assert {allowed.commits for allowed in model_history.expect(WriteStream(rows())).allowed_outcomes} == {
        (0, 0)
    }


def test_what_arrived_before_a_cut_is_written_with_what_arrives_next():
    model_history = after(Create(SCHEMA), Append(rows(1)))
    cut = AllowedOutcome(NoChange(), (0, 0), model_history.table, "crash.all-or-nothing")
    waiting = model_history.after(WriteStream(rows(2)), cut)
    (end,) = waiting.expect(WriteStream(rows(3))).allowed_outcomes
    assert (end.commits, ids(end.table.bag)) == ((1, 2), [1, 2, 3])
    (again,) = waiting.expect(WriteStream(rows())).allowed_outcomes
    assert ids(again.table.bag) == [1, 2]
    assert ids(waiting.expect(WriteStream(rows(3), stream="other")).ordinary.table.bag) == [1, 3]
    done = waiting.after(WriteStream(rows(3)), end)
    assert ids(done.expect(WriteStream(rows(4))).ordinary.table.bag) == [1, 2, 3, 4]
