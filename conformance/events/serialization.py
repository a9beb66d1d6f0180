"""The JSON form of events, as recordings hold it and as worker processes send it.

The format may grow by new events and by new fields with defaults. A reader passes over events that it does not know.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from typing import Any

from conformance.events.types import (
    BudgetSpent,
    CellsPlanned,
    ChunkEnded,
    ChunkStarted,
    DeclaredClaim,
    EngineLost,
    EngineReady,
    EngineUnavailable,
    Event,
    Evidence,
    EvidenceThreshold,
    FaultOutcome,
    FindingFound,
    FindingTriaged,
    HarnessFault,
    HistoryEnded,
    Interrupted,
    Note,
    PlannedSuite,
    Progress,
    RaceOutcome,
    RunEnded,
    RunStarted,
    Triaging,
)

FORMAT = 1

# The names in recordings. A renamed class keeps its name here: recordings are kept for years.
NAMES: dict[type[Any], str] = {
    RunStarted: "RunStarted",
    CellsPlanned: "CellsPlanned",
    EngineReady: "EngineReady",
    EngineUnavailable: "EngineUnavailable",
    DeclaredClaim: "Declared",
    ChunkStarted: "ChunkStarted",
    ChunkEnded: "ChunkEnded",
    Progress: "Progress",
    HistoryEnded: "HistoryEnded",
    Evidence: "Evidence",
    RaceOutcome: "Raced",
    FaultOutcome: "Struck",
    FindingFound: "FindingFound",
    FindingTriaged: "FindingTriaged",
    Triaging: "Triaging",
    EngineLost: "EngineLost",
    HarnessFault: "HarnessFault",
    Note: "Note",
    BudgetSpent: "BudgetSpent",
    Interrupted: "Interrupted",
    RunEnded: "RunEnded",
}

# Fields that older versions wrote under another name.
OLD_FIELDS: dict[type[Any], dict[str, str]] = {FindingFound: {"deviation": "cause"}}
TYPES: dict[str, type[Any]] = {NAMES[kind]: kind for kind in typing.get_args(Event)}

_HINTS = {kind: typing.get_type_hints(kind) for kind in (*TYPES.values(), PlannedSuite, EvidenceThreshold)}


class EventError(ValueError):
    """The JSON is not an event of this format."""


class UnknownEvent(EventError):
    """This version of the harness does not know this type of event."""


def name_of(event: Event | type[Event]) -> str:
    """The name of an event, or of its class, in recordings."""
    return NAMES[event if isinstance(event, type) else type(event)]


def to_json(event: Event) -> dict[str, Any]:
    """The event as a JSON object, without the fields that hold their default."""
    return {"event": name_of(event), **_fields_to_json(event)}


def to_line(event: Event) -> str:
    """The event as one line of JSON, ASCII only, without its newline."""
    return json.dumps(to_json(event), separators=(",", ":"))


def from_json(form: Any) -> Event:
    """Read an event from its JSON form.

    Raises `UnknownEvent` if the type is unknown, and `EventError` if the fields do not fit the type.
    """
    if not isinstance(form, dict) or not isinstance(form.get("event"), str):
        message = "an event is an object with a member 'event'"
        raise EventError(message)
    kind = TYPES.get(form["event"])
    if kind is None:
        message = f"unknown event {form['event']!r}"
        raise UnknownEvent(message)
    event: Event = _from_fields(kind, form, form["event"])
    return event


def from_line(line: str) -> Event:
    """Read an event from its line. Raises `UnknownEvent` and `EventError` as `from_json` does."""
    try:
        form = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        message = f"not a line of JSON: {error}"
        raise EventError(message) from error
    return from_json(form)


def _fields_to_json(value: Any) -> dict[str, Any]:
    form = {}
    for field in dataclasses.fields(value):
        part = getattr(value, field.name)
        default = (
            field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
        )
        if default is dataclasses.MISSING or part != default:
            form[field.name] = _part_to_json(part)
    return form


def _part_to_json(part: Any) -> Any:
    if isinstance(part, tuple):
        return [_part_to_json(item) for item in part]
    if isinstance(part, Mapping):
        return dict(part)
    return _fields_to_json(part) if dataclasses.is_dataclass(part) else part


def _from_fields(kind: type[Any], form: dict[str, Any], name: str) -> Any:
    hints = _HINTS[kind]
    for old, new in OLD_FIELDS.get(kind, {}).items():
        if old in form and new not in form:
            form = {**form, new: form[old]}
    parts = {}
    for field in dataclasses.fields(kind):
        if field.name in form:
            parts[field.name] = _part(hints[field.name], form[field.name], f"{name}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            message = f"{name} without {field.name!r}"
            raise EventError(message)
    return kind(**parts)


def _part(hint: Any, value: Any, name: str) -> Any:
    """A value of the annotated type, or an EventError: a file is believed only as far as it fits."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        return None if value is None else _part(arguments[0], value, name)
    if origin is tuple and isinstance(value, list):
        return tuple(_part(arguments[0], item, name) for item in value)
    if origin is Mapping and isinstance(value, dict):
        return {key: _part(arguments[1], item, name) for key, item in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and isinstance(value, dict):
        return _from_fields(hint, value, name)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(hint, type) and origin is None and type(value) is hint:
        return value
    message = f"{name} can't be {json.dumps(value)[:80]}"
    raise EventError(message)
