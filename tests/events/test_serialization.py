"""Events, their JSON form, and the bus."""

from __future__ import annotations

import json
import typing

import pytest

from conformance.events import serialization, types
from conformance.events.bus import Bus
from conformance.events.serialization import EventError, UnknownEvent
from conformance.events.types import (
    Event,
    EvidenceThreshold,
    FindingFound,
    Note,
    PlannedSuite,
    Progress,
    RunStarted,
    Triaging,
)
from tests.reporting.samples import ONE_OF_EACH


def test_there_is_a_sample_of_every_kind_of_event():
    assert {type(event) for event in ONE_OF_EACH} == set(typing.get_args(Event))


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=serialization.name_of)
def test_an_event_comes_back_from_its_line_as_it_was(event):
    line = serialization.to_line(event)
    assert "\n" not in line
    assert line.isascii()
    assert serialization.from_line(line) == event


def test_fields_that_hold_their_default_are_left_out():
    assert serialization.to_json(Note("x")) == {"event": "Note", "message": "x"}
    finding = next(event for event in ONE_OF_EACH if isinstance(event, FindingFound))
    assert "where" not in serialization.to_json(finding)


def test_a_field_that_a_newer_version_added_is_passed_over():
    assert serialization.from_json({"event": "Note", "message": "x", "colour": "red"}) == Note("x")


def test_an_unknown_kind_is_distinguished_from_a_malformed_event():
    with pytest.raises(UnknownEvent, match="'Sunset'"):
        serialization.from_json({"event": "Sunset"})
    with pytest.raises(EventError, match="Note without 'message'"):
        serialization.from_json({"event": "Note"})


@pytest.mark.parametrize(
    ("form", "message"),
    (
        ([], "an event is an object"),
        ({"event": 3}, "an event is an object"),
        ({"event": "Note", "message": 3}, r"Note\.message can't be 3"),
        ({"event": "BudgetSpent", "seconds": True}, r"BudgetSpent\.seconds can't be true"),
        (
            {"event": "EngineReady", "engine": "a", "compatible_with": "b"},
            "EngineReady.compatible_with can't be",
        ),
        (
            {"event": "EngineReady", "engine": "a", "compatible_with": [1]},
            "EngineReady.compatible_with can't be 1",
        ),
    ),
    ids=["list", "number-as-kind", "number-as-text", "flag-as-number", "text-as-list", "number-in-list"],
)
def test_a_value_of_the_wrong_type_is_named(form, message):
    with pytest.raises(EventError, match=message):
        serialization.from_json(form)


def test_a_line_that_is_no_json_is_an_event_error():
    with pytest.raises(EventError, match="not a line of JSON"):
        serialization.from_line('{"event":')


def test_whole_seconds_written_by_another_hand_are_read_as_seconds():
    assert serialization.from_line('{"event": "BudgetSpent", "seconds": 4}') == types.BudgetSpent(4.0)


def test_a_bus_calls_every_listener_in_order():
    received: list[tuple[str, Event]] = []
    bus = Bus(lambda event: received.append(("first", event)))
    bus.add(lambda event: received.append(("second", event)))
    bus.emit(Note("x"))
    bus(Note("y"))
    assert received == [(who, Note(what)) for what in "xy" for who in ("first", "second")]


def test_a_listener_that_fails_stops_the_emitter():
    def fail(event: Event) -> None:
        raise OSError(str(event))

    with pytest.raises(OSError, match="x"):
        Bus(fail).emit(Note("x"))


def test_an_interruption_waits_until_every_listener_was_called():
    received: list[str] = []
    bus = Bus(lambda _: bus.interrupt("SIGINT"), lambda event: received.append(serialization.name_of(event)))
    with pytest.raises(KeyboardInterrupt, match="SIGINT"):
        bus.emit(Note("x"))
    assert received == ["Note"]


def test_an_interruption_between_two_events_comes_at_once():
    with pytest.raises(KeyboardInterrupt, match="SIGTERM"):
        Bus().interrupt("SIGTERM")


def test_only_what_the_terminal_alone_needs_is_transient():
    assert [type(event) for event in ONE_OF_EACH if types.is_transient(event)] == [Progress, Triaging]


def test_the_parts_of_a_header_are_typed_again_after_reading():
    header = next(event for event in ONE_OF_EACH if isinstance(event, RunStarted))
    again = serialization.from_json(json.loads(serialization.to_line(header)))
    assert isinstance(again, RunStarted)
    assert all(isinstance(threshold, EvidenceThreshold) for threshold in again.core)
    assert all(isinstance(suite, PlannedSuite) for suite in again.plan)
