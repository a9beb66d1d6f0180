"""The model of concurrent writers: the states that some serial order explains, and the name of each anomaly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.observations.observation import RaceObservation
from conformance.suites.crashes.scenarios import SCHEMA, UPDATE, rows, where
from conformance.suites.races.generated import not_done
from conformance.suites.races.scenarios import BEFORE, INSERT_99, PAIRS
from delta_models.concurrency import (
    CAN,
    CANNOT,
    DOUBLED_ROWS,
    LOST_UPDATE,
    RESURRECTED_ROWS,
    WRITE_SKEW,
    Anomaly,
    CompletedOperation,
    documented_conflict,
    find_anomaly,
    find_explanation,
    has_properties,
    serial_states,
)
from delta_models.operations import (
    Append,
    Delete,
    Operation,
    Optimize,
    Overwrite,
    Read,
    SetProperties,
    Vacuum,
)
from delta_models.outcomes import Committed, NoChange, Rejected, Unknown
from delta_models.table import ModelHistory
from delta_models.values import Rows


@pytest.fixture(scope="module")
def model_history() -> ModelHistory:
    history = ModelHistory()
    for operation in BEFORE:
        history = history.after(operation)
    return history


def done(*operations: Operation) -> list[CompletedOperation]:
    """Return the operations as completed, each by its own writer."""
    return [CompletedOperation(operation, writer) for writer, operation in enumerate(operations)]


def anomaly_of(
    model_history: ModelHistory, operations: tuple[Operation, ...], rows_there: Rows
) -> Anomaly | None:
    return find_anomaly(model_history, done(*operations), rows_there)


def table(*pairs: tuple[int, int]) -> Rows:
    return Rows(SCHEMA, pairs)


START = ((1, 1), (2, 2), (3, 3), (4, 0), (6, 2))


def test_serial_states_cover_every_order(model_history: ModelHistory):
    ways = list(serial_states(model_history, done(Append(rows(20)), Delete(where(">", 5)))))
    assert [[len(state.rows) for state in way] for way in ways] == [[5, 6, 4], [5, 4, 5]]


def test_a_result_of_some_serial_order_is_no_anomaly(model_history: ModelHistory):
    both = (Append(rows(20)), Delete(where(">", 5)))
    assert anomaly_of(model_history, both, table(*START[:4], (20, 0))) is None
    assert anomaly_of(model_history, both, table(*START[:4])) is None
    assert anomaly_of(model_history, (), table(*START)) is None


def test_cached_states_depend_on_the_model_history_and_the_operations(model_history: ModelHistory):
    both = done(Append(rows(7)), Append(rows(8)))
    before = serial_states(model_history, both)
    assert serial_states(model_history, both) is before
    other = model_history.after(Append(rows(6)))
    assert [len(states[-1].rows) for states in serial_states(other, both)] == [
        len(states[-1].rows) + 1 for states in before
    ]
    assert serial_states(model_history, both[:1]) != before
    for number in range(100):  # more than the cache holds
        serial_states(model_history, done(Append(rows(number))))
    assert serial_states(model_history, both) == before


def test_a_lost_update_is_named(model_history: ModelHistory):
    both = (Append(rows(20)), Append(rows(21)))
    anomaly = anomaly_of(model_history, both, table(*START, (20, 0)))
    assert anomaly is not None
    assert anomaly.requirement == LOST_UPDATE
    assert "effect of Append" in anomaly.detail


def test_doubled_rows_are_named(model_history: ModelHistory):
    anomaly = anomaly_of(model_history, (INSERT_99, INSERT_99), table(*START, (99, 3), (99, 3)))
    assert anomaly is not None
    assert anomaly.requirement == DOUBLED_ROWS


def test_resurrected_rows_are_named(model_history: ModelHistory):
    both = (Delete(where("=", 6)), UPDATE)
    anomaly = anomaly_of(model_history, both, table((1, 1), (2, 9), (2, 9), (3, 3), (4, 0), (6, 2)))
    assert anomaly is not None
    assert anomaly.requirement == DOUBLED_ROWS
    anomaly = anomaly_of(
        model_history, (Delete(where("=", 6)), Append(rows(20))), table(*START, (20, 0), (20, 0))
    )
    assert anomaly is not None
    anomaly = anomaly_of(
        model_history, (Overwrite(rows(7)), Append(rows(20))), table((1, 1), (7, 3), (20, 0))
    )
    assert anomaly is not None
    assert anomaly.requirement == RESURRECTED_ROWS


def test_write_skew_is_named(model_history: ModelHistory):
    skewed = PAIRS[2]
    anomaly = anomaly_of(
        model_history, (skewed.first, skewed.second), table((1, 2), (2, 1), (3, 3), (4, 0), (6, 1))
    )
    assert anomaly is not None
    assert anomaly.requirement == WRITE_SKEW


def test_documented_conflicts_do_not_depend_on_the_order_of_a_pair():
    operations = (Append(rows(1)), Delete(where("=", 1)), Optimize(), Read(), Vacuum())
    for one in operations:
        for other in operations:
            for overlap in ("table", "apart"):
                assert documented_conflict(one, other, overlap) == documented_conflict(other, one, overlap)
    assert documented_conflict(operations[0], operations[0], "table") == CANNOT
    assert documented_conflict(operations[0], operations[2], "table") == CANNOT
    assert documented_conflict(operations[1], operations[2], "table") == CAN
    assert documented_conflict(operations[1], operations[1], "apart") == CANNOT
    assert documented_conflict(operations[2], operations[2], "table") == CAN


def test_among_orders_with_equal_rows_the_one_with_the_observed_properties_is_chosen(
    model_history: ModelHistory,
):
    three, five = (
        SetProperties((("delta.logRetentionDuration", f"interval {days} days"),)) for days in (3, 5)
    )
    for first, last in ((three, five), (five, three)):
        end = find_explanation(model_history, done(three, five), table(*START), dict(last.properties))
        assert end is not None
        assert (
            end.property("delta.logRetentionDuration") == dict(last.properties)["delta.logRetentionDuration"]
        )
        assert not has_properties(end, dict(first.properties))
    lost = find_explanation(model_history, done(three, five), table(*START), {})
    assert lost is not None
    assert not has_properties(lost, {})


def test_an_operation_with_an_unknown_outcome_is_not_counted_as_done(model_history: ModelHistory):
    ends = (Committed(), Unknown("the connection is gone"))
    race = RaceObservation(model_history, (Append(rows(20)), Append(rows(21))), (0, 1), ends, "table")
    assert not_done(race) == ["unknown"]
    assert not_done(replace(race, outcomes=(Committed(), NoChange()))) == []
    assert not_done(replace(race, outcomes=(Rejected("conflict.append", ""), Committed()))) == [
        "conflict.append"
    ]
