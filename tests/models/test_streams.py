"""What a reader that follows a table must have got, and what a stream writes, by the model alone."""

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
    Pour,
    Tail,
    Vacuum,
)
from delta_models.outcomes import Committed, NoChange
from delta_models.schema import LONG, Field, struct
from delta_models.table import Branch, NotModelled, World
from delta_models.values import Key, Rows

SCHEMA = struct(("id", LONG))
RECORDED = (("delta.enableChangeDataFeed", "true"),)


def rows(*ids: int) -> Rows:
    return Rows(SCHEMA, tuple((each,) for each in ids))


def after(*operations: Operation) -> World:
    world = World()
    for each in operations:
        world = world.after(each)
    return world


def ids(found: Counter[Key]) -> list[object]:
    return sorted((key[0] for key in found.elements()), key=repr)


def test_a_follower_gets_the_rows_of_its_first_look_and_those_that_came_since():
    world = after(Create(SCHEMA), Append(rows(1)), Tail(), Append(rows(2)), Optimize(), Append(rows(3)))
    expected = world.follow(Tail(), 2, 2)
    assert ids(expected.first) == [1]
    assert [(each.step, ids(each.came), ids(each.went)) for each in expected.steps] == [
        (3, [2], []), (4, [], []), (5, [3], []),
    ]  # fmt: skip
    assert expected.refusals == ()


def test_what_is_left_of_all_changes_is_the_newest_state():
    world = after(Create(SCHEMA, (), RECORDED), Append(rows(1, 2)), Tail(), Delete(), Append(rows(2)))
    expected = world.follow(Tail(follows="changes"), 2, 2)
    assert ids(expected.now) == [2]
    assert {key[0] for key in expected.ever} == {1, 2}


def test_only_upkeep_is_told_from_what_brought_rows():
    before = (Create(SCHEMA), Append(rows(1)), Append(rows(2)), Tail())
    assert not after(*before).follow(Tail(), 3, 3).upkeep
    assert after(*before, Optimize()).follow(Tail(), 3, 3).upkeep
    assert not after(*before, Optimize(), Append(rows(3))).follow(Tail(), 3, 3).upkeep
    looked = after(*before, Append(rows(3)), Tail(), Optimize())
    assert looked.follow(Tail(), 3, 5).upkeep


def test_a_follower_that_comes_after_a_vacuum_may_miss_files():
    world = after(Create(SCHEMA), Append(rows(1)), Tail(), Append(rows(2)), Overwrite(rows(3)), Vacuum(0.0))
    assert world.follow(Tail(), 2, 2).refusals == ("missing-file", "missing-version")
    assert world.follow(Tail(), 6, 6).refusals == ()


@pytest.mark.parametrize(
    ("tail", "operations"),
    (
        (Tail(follows="whatever"), ()),
        (Tail(), (AddColumn(Field("more", LONG)),)),
        (Tail(follows="changes"), ()),
    ),
)
def test_what_is_not_modelled_is_not_judged(tail: Tail, operations: tuple[Operation, ...]):
    world = after(Create(SCHEMA), Append(rows(1)), Tail(), *operations)
    with pytest.raises(NotModelled):
        world.follow(tail, 2, 2)


def test_a_stream_writes_what_arrived_and_nothing_where_nothing_did():
    world = after(Create(SCHEMA), Append(rows(1)))
    (end,) = world.expect(Pour(rows(2, 3))).branches
    assert (end.outcome, end.commits, ids(end.table.bag)) == (Committed(), (1, 1), [1, 2, 3])
    assert {type(each.outcome) for each in world.expect(Pour(rows())).branches} == {NoChange, Committed}
    assert {each.commits for each in world.expect(Pour(rows())).branches} == {(0, 0)}


def test_what_arrived_before_a_cut_is_written_with_what_arrives_next():
    world = after(Create(SCHEMA), Append(rows(1)))
    cut = Branch(NoChange(), (0, 0), world.table, "crash.all-or-nothing")
    waiting = world.after(Pour(rows(2)), cut)
    (end,) = waiting.expect(Pour(rows(3))).branches
    assert (end.commits, ids(end.table.bag)) == ((1, 2), [1, 2, 3])
    (again,) = waiting.expect(Pour(rows())).branches
    assert ids(again.table.bag) == [1, 2]
    assert ids(waiting.expect(Pour(rows(3), stream="other")).ordinary.table.bag) == [1, 3]
    done = waiting.after(Pour(rows(3)), end)
    assert ids(done.expect(Pour(rows(4))).ordinary.table.bag) == [1, 2, 3, 4]
