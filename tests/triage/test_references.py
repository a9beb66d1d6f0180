"""Steps are dropped and inserted, and what names earlier states goes on naming the same ones."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.histories import Step
from conformance.triage.references import behind_another_past, states_named, with_inserted, without
from delta_models.operations import (
    Append,
    AtState,
    AtTime,
    Create,
    Interleave,
    Optimize,
    Read,
    ReadChanges,
    Reopen,
)
from delta_models.schema import LONG, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG))


def rows(*numbers: int) -> Step:
    return Step(Append(Rows(SCHEMA, tuple((number,) for number in numbers))))


STEPS = (
    Step(Create(SCHEMA)),
    rows(1),
    rows(2),
    Step(Optimize()),
    rows(3),
    Step(Read(AtState(2))),
    Step(ReadChanges(AtState(1), AtState(4))),
    Step(Interleave((Read(AtTime(4)), Append(Rows(SCHEMA, ((4,),)))), (0, 1))),
)


def test_the_state_after_a_dropped_step_is_that_after_the_step_before_it():
    kept = without(STEPS, {2, 3})
    assert kept is not None
    assert [states_named(step.operation) for step in kept] == [(), (), (), (1,), (1, 2), (2,)]


def test_steps_that_name_a_state_before_all_that_stays_are_none():
    assert without(STEPS, {0, 1, 2, 3, 4}) is None
    assert without(STEPS, range(1, 6)) is not None


def test_inserted_steps_move_the_numbers_behind_them():
    longer = with_inserted(STEPS, {3: [Step(Reopen())], 8: [Step(Read(AtState(7)))]})
    assert len(longer) == 10
    assert [states_named(step.operation) for step in longer][6:] == [(2,), (1, 5), (5,), (8,)]


def test_states_before_another_past_become_its_end():
    shorter = behind_another_past(STEPS, 5, (Step(Create(SCHEMA)), rows(1, 2, 3)))
    assert [states_named(step.operation) for step in shorter] == [(), (), (1,), (1, 1), (1,)]


@given(st.sets(st.integers(0, len(STEPS) - 1)))
@settings(max_examples=200, deadline=None)
def test_a_reference_never_names_a_later_step_or_none(dropped: set[int]):
    kept = without(STEPS, dropped)
    for number, step in enumerate(kept or ()):
        assert all(0 <= state < number for state in states_named(step.operation))
