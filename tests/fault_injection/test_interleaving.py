"""Interleavings: two real writers at one table pass their gates in every order."""

import functools
import math
from pathlib import Path

import pytest

from conformance.fault_injection.gates import GATES
from conformance.fault_injection.interleaving import ScheduledWriter, interleave, schedules
from delta_models.log import LogReader
from delta_models.operations import Append, Create, Overwrite, SetProperties
from delta_models.outcomes import Committed
from delta_models.schema import LONG, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG))


def rows(*ids):
    return Rows(SCHEMA, tuple((identity,) for identity in ids))


def ids(folder):
    reader = LogReader(folder)
    return sorted(row[0] for row in reader.rows(reader.snapshot()).rows)


def submitted(host, operation):
    return host.submit(operation).result


@pytest.fixture
def race(engines, tmp_path):
    """Have both engines perform an operation each on a new table, in an order; return the result and the table."""
    made: list[Path] = []

    def run(schedule, *operations, **options):
        table = tmp_path / f"table{len(made)}"
        made.append(table)
        for engine in engines:
            engine.open(table)
        for operation in (Create(SCHEMA), Append(rows(0))):
            assert engines[0].host.execute(operation).outcome == Committed()
        writers = [
            ScheduledWriter(engine.instrumented_process, functools.partial(submitted, engine.host, operation))
            for engine, operation in zip(engines, operations, strict=True)
        ]
        for engine in engines:  # both know the table as it is
            engine.host.open(str(table))
        return interleave(engines[0].turnstile, writers, schedule, **options), table

    return run


def test_there_are_as_many_orders_as_there_should_be():
    assert len(set(schedules((4, 4)))) == math.comb(8, 4) == 70
    assert list(schedules((1, 1))) == [(0, 1), (1, 0)]
    assert len(set(schedules((2, 2, 1)))) == 30


@pytest.mark.parametrize("part", range(7))
def test_two_appends_released_in_every_order_of_their_gates_both_commit_once(race, part):
    for schedule in list(schedules((4, 4)))[part::7]:
        result, table = race(schedule, Append(rows(1)), Append(rows(2)))
        assert result.followed, (schedule, result.problems)
        assert [writer for writer, _ in result.timeline] == list(schedule)
        assert [gate for writer, gate in result.timeline if writer == 0] == list(GATES)
        assert [answer.outcome for answer in result.answers] == [Committed(), Committed()], schedule
        assert ids(table) == [0, 1, 2], schedule
        published = [
            event.errno
            for record in result.records
            for event in record.happened
            if event.event.role == "commit"
        ]
        # A writer that was at its staging gate when the other published finds the name taken, and takes the next.
        first = min(len(schedule) - 1 - schedule[::-1].index(writer) for writer in (0, 1))
        late = 1 - schedule[first]
        stood_there = schedule[:first].count(late) >= 2
        assert sorted(published) == ([0, 0, 17] if stood_there else [0, 0]), schedule


def test_the_same_schedule_gives_the_same_traces_thirty_times(race):
    schedule = (0, 1, 1, 0, 0, 1, 1, 0)
    traces = set()
    for _ in range(30):
        result, _ = race(schedule, Append(rows(1)), Overwrite(rows(2)))
        assert result.followed
        traces.add(
            (
                result.timeline,
                tuple(record.trace for record in result.records),
                str(result.answers[1].outcome),
            )
        )
    assert len(traces) == 1


def test_writers_that_start_together_take_the_same_course(race):
    for schedule in ((0, 1, 0, 1, 0, 1, 0, 1), (1, 1, 1, 1, 0, 0, 0, 0), (0, 0, 1, 1, 1, 0, 0, 1)):
        one_by_one, _ = race(schedule, Append(rows(1)), Overwrite(rows(2)))
        at_once, table = race(schedule, Append(rows(1)), Overwrite(rows(2)), together=True)
        assert at_once.followed
        assert at_once.timeline == one_by_one.timeline
        assert [record.trace for record in at_once.records] == [record.trace for record in one_by_one.records]
        assert [str(answer.outcome) for answer in at_once.answers] == [
            str(answer.outcome) for answer in one_by_one.answers
        ]
        assert 2 in ids(table)


def test_a_schedule_that_cannot_be_followed_is_told_as_such(race):
    result, table = race(
        (0, 0, 0, 0, 0, 1, 1, 1, 1), Append(rows(1)), SetProperties((("delta.appendOnly", "false"),))
    )
    assert not result.followed
    assert (
        "step 4 of the schedule lets writer 0 go on, which had ended after snapshot and data and staging"
        in result.problems[0]
    )
    assert "writer 1" in result.problems[1]
    assert ids(table) == [0, 1]


def test_a_schedule_that_is_too_short_is_told_and_nobody_stays_parked(race):
    result, table = race((0, 1), Append(rows(1)), Append(rows(2)))
    assert "the schedule leaves writer 0 at data" in result.problems
    assert [answer.outcome for answer in result.answers] == [Committed(), Committed()]
    assert ids(table) == [0, 1, 2]
