"""Crash points of real operations of deltalake: the table is as before or as after, and the next writer succeeds."""

from collections import Counter

import pytest

from conformance.turnstile.crashes import AFTER, BEFORE, BETWEEN, Cut, Stand, State, _which, left_overs
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import (
    Append,
    Checkpoint,
    Create,
    Delete,
    Merge,
    MergeClause,
    Optimize,
    Overwrite,
    Update,
)
from delta_models.outcomes import Committed, Unknown
from delta_models.schema import LONG, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("part", LONG))


def rows(*ids):
    return Rows(SCHEMA, tuple((each, each % 4) for each in ids))


def where(op, number):
    return Compare(op, Column(("id",)), Literal(LONG, number))


OPERATIONS = (
    Append(rows(20, 21)),
    Delete(where("<", 3)),
    Update((("part", Literal(LONG, 9)),), where("=", 2)),
    Merge(
        rows(2, 99),
        Compare("=", Column(("target", "id")), Column(("source", "id"))),
        (MergeClause("matched", "delete"), MergeClause("not-matched", "insert", everything=True)),
    ),
    Overwrite(rows(7)),
    Optimize(),
    Checkpoint(),
)
NEXT = Append(rows(1000))


@pytest.fixture
def stand(engines, tmp_path):
    engine = engines[0]
    engine.at(tmp_path / "table")
    for each in (Create(SCHEMA, partition_by=("part",)), Append(rows(1, 2)), Append(rows(3, 4, 6))):
        assert engine.host.execute(each).outcome == Committed()
    return Stand(engine.actor, engine.host, tmp_path / "table", tmp_path)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: type(each).__name__)
def test_an_operation_that_is_cut_anywhere_leaves_the_table_before_or_after_it(stand, operation):
    crashes = list(stand.crashes(operation, NEXT))
    assert len(crashes) >= 6
    assert all(each.followed for each in crashes), [str(each.cut) for each in crashes if not each.followed]
    assert [(str(each.cut), each.wrong) for each in crashes if each.wrong] == []
    states = [each.state for each in crashes]
    assert BETWEEN not in states
    if not isinstance(operation, Checkpoint):
        at = [(each.cut.role, each.cut.moment) for each in crashes].index(("commit", "after"))
        assert states == [BEFORE] * at + [AFTER] * (len(states) - at), (
            "the commit is the only point that tells"
        )


def test_what_a_crash_leaves_over_is_counted(stand):
    counted = {str(each.cut): dict(each.left_over) for each in stand.crashes(Append(rows(4)), NEXT)}
    assert counted["dead table before data-staging#0"] == {}
    assert counted["dead table before data#0"] == {"data-staging": 1}
    assert counted["dead table before commit#0"] == {"data": 1, "staging": 1}
    assert counted["dead table after commit#0"] == {"staging": 1}
    assert counted["dead table after clean-up#0"] == {}


@pytest.mark.slow
def test_a_kill_leaves_what_a_dead_table_leaves(stand):
    dead = list(stand.crashes(Append(rows(4)), NEXT))
    killed = list(stand.crashes(Append(rows(4)), NEXT, kill=True))
    assert [(each.state, each.left_over) for each in killed] == [
        (each.state, each.left_over) for each in dead
    ]
    assert not any(each.wrong for each in killed)
    assert all(isinstance(each.outcome, Unknown) for each in killed)


def test_a_table_between_is_told_from_one_before_and_one_after(stand, tmp_path):
    before, after = State(1, _bag(1, 2)), State(2, _bag(1, 2, 3, 4))
    assert _which(State(2, _bag(1, 2, 3)), before, after) == BETWEEN
    assert _which(State(1, _bag(1, 2)), before, after) == BEFORE
    assert _which(State(2, _bag(1, 2, 3, 4)), before, after) == AFTER
    assert left_overs(tmp_path / "table") == ()
    assert str(Cut("commit", 0, "before", kill=True)) == "kill before commit#0"


def _bag(*ids):
    return Counter(rows(*ids).rows)
