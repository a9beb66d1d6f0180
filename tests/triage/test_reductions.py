"""Reductions propose simpler histories; the model turns away what is none."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from conformance.histories import History
from conformance.triage.model_play import play_on_model
from conformance.triage.reductions import REDUCTIONS, Reduction
from conformance.triage.reductions.columns import columns_in, renamed, without_columns
from conformance.triage.reductions.expressions import smaller_forms
from conformance.triage.reductions.races import without_operation
from conformance.triage.reductions.steps import fewer_steps, units_of
from conformance.triage.reductions.values import values_in
from conformance.triage.references import states_named
from conformance.triage.shrink_state import digest_of
from conformance.triage.simple_values import plain_values, simpler_values
from delta_models.codec import decode, encode
from delta_models.expressions import And, Column, Compare, In, IsNull, Literal
from delta_models.operations import (
    AddColumn,
    Append,
    AtState,
    Create,
    Delete,
    Interleave,
    KillAt,
    Merge,
    MergeClause,
    Read,
    RenameColumn,
    Update,
)
from delta_models.schema import DOUBLE, LONG, STRING, TIMESTAMP, DecimalType, Field, struct
from delta_models.values import Decimal, Rows, same_key
from tests.triage.drawn import drawn_history
from tests.triage.in_process import history_of

SEEDS = range(6)
MOST = 40  # candidates of one reduction that are looked at
SCHEMA = struct(("id", LONG), ("name", STRING), ("part", STRING))


def run(reduction: Reduction, history: History, accept: random.Random) -> list[History]:
    """What a reduction proposes for a history, while candidates that the model can play are taken now and then."""
    seen: list[History] = []
    candidates = reduction(history)
    try:
        candidate = next(candidates)
        while len(seen) < MOST:
            seen.append(candidate)
            played = play_on_model(candidate.steps) if candidate.steps else None
            taken = candidate if played is not None and accept.random() < 0.5 else None
            candidate = candidates.send(taken)
    except StopIteration:
        pass
    return seen


@pytest.mark.parametrize("name", REDUCTIONS)
def test_candidates_are_histories_that_can_be_written_and_name_earlier_states_only(name):
    legal = 0
    for seed in SEEDS:
        history = drawn_history(seed, 14)
        for candidate in run(REDUCTIONS[name], history, random.Random(seed)):
            if not candidate.steps or play_on_model(candidate.steps) is None:
                continue
            legal += 1
            assert digest_of(candidate) != digest_of(history)
            assert digest_of(History.from_json(candidate.to_json())) == digest_of(candidate)
            for number, step in enumerate(candidate.steps):
                assert all(0 <= state < number for state in states_named(step.operation))
    assert legal or name in {"simpler races", "fewer engines", "plainer fields"}


def test_candidates_of_shared_crashing_and_racing_histories_can_be_played_by_the_model():
    for suite, seed in itertools.product(("shared", "crashes", "races"), range(3)):
        history = drawn_history(seed, 12, suite)
        assert play_on_model(history.steps) is not None, suite
        for reduction in REDUCTIONS.values():
            found = run(reduction, history, random.Random(seed))
            assert all(count(candidate) <= count(history) + 1 for candidate in found)


def smallest(history: History, fails: Callable[[History], bool]) -> History:
    """What the reductions make of a history, if all that `fails` says of is kept."""
    before = None
    while before != history:
        before = history
        for reduction in REDUCTIONS.values():
            candidates = reduction(history)
            try:
                candidate = next(candidates)
                while True:
                    good = bool(candidate.steps) and play_on_model(candidate.steps) is not None
                    taken = candidate if good and fails(candidate) else None
                    history = taken or history
                    candidate = candidates.send(taken)
            except StopIteration:
                pass
    return history


def test_a_race_loses_the_writers_turns_and_steps_that_it_does_not_need():
    ids = struct(("id", LONG))
    race = Interleave(
        tuple(Append(Rows(ids, ((7 + number,),))) if number != 1 else Delete() for number in range(3)),
        (0, 1, 0, 1, 2, 2, 0, 1, 1, 0),
        (0, 1, 2),
    )
    past = (Append(Rows(ids, ((1,), (2,)))), Append(Rows(ids, ((3,),))))
    history = history_of(Create(ids), *past, race, suite="races")

    def fails(candidate: History) -> bool:
        """A delete has at least two turns beside an append, and the table has a row."""
        *_, last = (step.operation for step in candidate.steps)
        if not isinstance(last, Interleave):
            return False
        kinds = [type(operation) for operation in last.operations]
        if {Append, Delete} - set(kinds):
            return False
        played = play_on_model(candidate.steps[:-1])
        turns = last.schedule.count(last.owners[kinds.index(Delete)])
        return turns >= 2 and played is not None and bool(played.end.rows)

    found = smallest(history, fails)
    create, append, last = (step.operation for step in found.steps)
    assert isinstance(create, Create)
    assert isinstance(append, Append)
    assert len(append.rows.rows) == 1
    assert isinstance(last, Interleave)
    assert sorted(type(operation).__name__ for operation in last.operations) == ["Append", "Delete"]
    assert len(last.schedule) == 2
    assert last.writers == ()


def test_a_writer_that_goes_takes_its_turns_with_it():
    race = Interleave((Delete(), Delete(), Delete()), (2, 0, 1, 2, 1), (0, 0, 2))
    assert without_operation(race, 0) == Interleave((Delete(), Delete()), (2, 0, 1, 2, 1), (0, 2))
    race = Interleave((Delete(), Delete(), Delete()), (2, 0, 1, 2, 1))
    assert without_operation(race, 1) == Interleave((Delete(), Delete()), (1, 0, 1))


def test_the_turns_of_earlier_writers_come_first_if_their_order_does_not_matter():
    history = history_of(Create(SCHEMA), Interleave((Delete(), Delete()), (1, 0, 1, 0)), suite="races")
    found = smallest(
        history, lambda candidate: getattr(candidate.steps[-1].operation, "schedule", ()).count(1) > 1
    )
    assert found.steps[-1].operation == Interleave((Delete(), Delete()), (1, 1))
    found = smallest(
        history, lambda candidate: len(getattr(candidate.steps[-1].operation, "schedule", ())) > 3
    )
    assert found.steps[-1].operation == Interleave((Delete(), Delete()), (0, 0, 1, 1))


def count(history: History) -> int:
    """How many operations a history has; a race has several."""
    return sum(len(getattr(step.operation, "operations", "1")) for step in history.steps)


def test_a_fault_and_the_operation_that_meets_it_go_together():
    history = history_of(
        Create(SCHEMA), KillAt("commit"), Delete(), Append(Rows(SCHEMA, ())), suite="crashes"
    )
    assert [list(unit) for unit in units_of(history.steps)] == [[0], [1, 2], [3]]
    for candidate in run(fewer_steps, history, random.Random(1)):
        kinds = [type(step.operation) for step in candidate.steps]
        assert (KillAt in kinds) == (Delete in kinds)


def test_a_column_goes_everywhere_with_all_that_is_about_it_alone():
    is_low = Compare("<", Column(("id",)), Literal(LONG, 3))
    named = IsNull(Column(("name",)))
    rows = Rows(SCHEMA, ((1, "a", "x"), (2, None, "y")))
    by_id = Compare("=", Column(("target", "id")), Column(("source", "id")))
    history = history_of(
        Create(SCHEMA, partition_by=("part",)),
        Append(rows),
        RenameColumn(("name",), "title"),
        Update((("title", Literal(STRING, "z")),)),
        Delete(And((is_low, IsNull(Column(("title",)))))),
        Merge(rows, by_id, (MergeClause("matched", "update", (("part", Literal(STRING, "p")),)),)),
        Read(AtState(4), where=named, columns=("id", "title")),
    )  # fmt: skip
    smaller = without_columns(history, ["name"])
    operations = [step.operation for step in smaller.steps]
    kinds = [type(operation) for operation in operations]
    assert kinds == [Create, Append, Delete, Merge, Read], "the update was about the column alone"
    assert operations[0] == Create(struct(("id", LONG), ("part", STRING)), partition_by=("part",))
    assert operations[2] == Delete(is_low)
    assert operations[4] == Read(AtState(2), columns=("id",))


def test_a_new_name_is_used_everywhere_and_changes_no_row():
    for seed in SEEDS:
        history = drawn_history(seed, 14)
        names = {name.casefold(): f"c{number}" for number, name in enumerate(columns_in(history))}
        played, again = play_on_model(history.steps), play_on_model(renamed(history, names).steps)
        if played is None or again is None:
            continue  # a text of SQL in the schema names the column
        assert [table.rows for table in played.tables] == [table.rows for table in again.tables]
        assert {name for table in again.tables for name in table.schema.names} <= set(names.values())


def test_every_smaller_form_of_an_expression_can_be_written_and_the_smallest_come_first():
    expression = And((
        In(Column(("id",)), (Literal(LONG, 1), Literal(LONG, 2))),
        Compare("!=", Column(("name",)), Literal(STRING, "a")),
        IsNull(Column(("part",))),
    ))  # fmt: skip
    forms = list(smaller_forms(expression))
    assert forms[:3] == list(expression.operands)
    assert all(decode(encode(form)) == form for form in forms)
    assert expression not in forms


@pytest.mark.parametrize(
    ("data_type", "value", "end"),
    (
        (LONG, -9223372036854775807, 0),
        (STRING, "say x", "a"),
        (DecimalType(38, 10), Decimal(-(10**37), 10), Decimal(0, 10)),
        (TIMESTAMP, 253402300799999999, 0),
        (DOUBLE, float("nan"), 0.0),
    ),
    ids=str,
)
def test_simpler_values_end_at_the_simplest(data_type, value, end):
    for taken in (0, -1):
        current, steps = value, 0
        while options := list(simpler_values(data_type, current)):
            current, steps = options[taken], steps + 1
            assert steps < 500
        assert taken or same_key(data_type, current) == same_key(data_type, end)
        assert current is None or same_key(data_type, current) in {
            same_key(data_type, plain) for plain in plain_values(data_type)[:1]
        }


def test_values_are_listed_once_each():
    history = history_of(Create(SCHEMA), Append(Rows(SCHEMA, ((1, "a", None), (1, "b", "a")))))
    assert values_in(history) == [(LONG, 1), (STRING, "a"), (STRING, None), (STRING, "b")]


def test_what_the_original_was_not_refused_is_refused_to_no_candidate():
    legal = history_of(Create(SCHEMA), AddColumn(Field("more", LONG)), Append(Rows(SCHEMA, ((1, "a", "x"),))))
    original = play_on_model(legal.steps)
    twice = history_of(Create(SCHEMA), Create(SCHEMA))
    refused = play_on_model(twice.steps)
    assert original is not None
    assert refused is not None
    assert not refused.is_legal_beside(original)
    assert original.is_legal_beside(refused)
