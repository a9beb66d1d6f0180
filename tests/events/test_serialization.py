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
)
from tests.reporting.samples import ONE_OF_EACH


def test_there_is_a_sample_of_every_kind_of_event():
    assert {type(each) for each in ONE_OF_EACH} == set(typing.get_args(Event))


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=serialization.name_of)
def test_an_event_comes_back_from_its_line_as_it_was(event):
    line = serialization.to_line(event)
    assert "\n" not in line
    assert line.isascii()
    assert serialization.from_line(line) == event


def test_fields_that_hold_their_default_are_left_out():
    assert serialization.to_json(Note("x")) == {"event": "Note", "message": "x"}
    finding = next(each for each in ONE_OF_EACH if isinstance(each, FindingFound))
    assert "where" not in serialization.to_json(finding)


def test_a_field_that_a_newer_version_added_is_passed_over():
    assert serialization.from_json({"event": "Note", "message": "x", "colour": "red"}) == Note("x")


def test_an_unknown_kind_is_told_from_a_malformed_event():
    with pytest.raises(UnknownEvent, match="'Sunset'"):
        serialization.from_json({"event": "Sunset"})
    with pytest.raises(EventError, match="Note without 'message'"):
        serialization.from_json({"event": "Note"})


@pytest.mark.parametrize(
    ("form", "said"),
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
def test_a_value_of_the_wrong_type_is_named(form, said):
    with pytest.raises(EventError, match=said):
        serialization.from_json(form)


def test_a_line_that_is_no_json_is_an_event_error():
    with pytest.raises(EventError, match="not a line of JSON"):
        serialization.from_line('{"event":')


def test_whole_seconds_written_by_another_hand_are_read_as_seconds():
    assert serialization.from_line('{"event": "BudgetSpent", "seconds": 4}') == types.BudgetSpent(4.0)


def test_a_bus_tells_every_listener_in_order():
    heard: list[tuple[str, Event]] = []
    bus = Bus(lambda event: heard.append(("first", event)))
    bus.add(lambda event: heard.append(("second", event)))
    bus.emit(Note("x"))
    bus(Note("y"))
    assert heard == [(who, Note(what)) for what in "xy" for who in ("first", "second")]


def test_a_listener_that_fails_stops_whoever_emits():
    def fail(event: Event) -> None:
        raise OSError(str(event))

    with pytest.raises(OSError, match="x"):
        Bus(fail).emit(Note("x"))


def test_an_interruption_waits_until_every_listener_has_heard():
    heard: list[str] = []
    bus = Bus(lambda _: bus.interrupt("SIGINT"), lambda event: heard.append(serialization.name_of(event)))
    with pytest.raises(KeyboardInterrupt, match="SIGINT"):
        bus.emit(Note("x"))
    assert heard == ["Note"]


def test_an_interruption_between_two_events_comes_at_once():
    with pytest.raises(KeyboardInterrupt, match="SIGTERM"):
        Bus().interrupt("SIGTERM")


def test_only_progress_is_transient():
    assert [type(each) for each in ONE_OF_EACH if types.is_transient(each)] == [Progress]


def test_the_parts_of_a_header_are_typed_again_after_reading():
    header = next(each for each in ONE_OF_EACH if isinstance(each, RunStarted))
    again = serialization.from_json(json.loads(serialization.to_line(header)))
    assert isinstance(again, RunStarted)
    assert all(isinstance(each, EvidenceThreshold) for each in again.core)
    assert all(isinstance(each, PlannedSuite) for each in again.plan)
