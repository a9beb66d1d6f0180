"""What a run emits, and all that it emits: frozen events with a JSON form and a format version.

A run knows nobody who listens. The file `events.jsonl`, the terminal, the claims and the reports are listeners of one
`Bus`. Worker processes send events to the main process as lines of JSON (`to_line`, `from_line`), so an event is small:
evidence is summed up a history before it is sent, and rows, histories and logs stay in files that events only name.

An engine is named by its identity, `delta-rs@1.6.6`, as soon as it runs; before that by what was asked for.
The format may grow by new events and new fields with defaults; readers pass over what they do not know.
"""

from __future__ import annotations

import dataclasses
import json
import threading
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

FORMAT = 1


class EventError(ValueError):
    """The JSON is no event of this format."""


class UnknownEvent(EventError):
    """A kind of event that this version of the harness does not know."""


@dataclass(frozen=True, slots=True)
class PlannedSuite:
    """How much of a suite the plan holds; a run that ends with less was cut. `dear` are the steps that a JVM plays.

    `numbers` are those of its chunks, where they are not the first so many. Committed histories may have more steps.
    """

    suite: str
    chunks: int
    histories: int
    steps: int
    dear: int = 0
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceThreshold:
    """One pair of the core: the requirement must hold for the engine (a name without version), on so much evidence."""

    requirement: str
    engine: str
    suite: str = ""
    checks: int = 20
    histories: int = 5


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The header: what was asked for, of whom, where. `machine` is for people: processor, cores, memory, system."""

    format: int
    harness: str
    command: tuple[str, ...]
    seed: int
    profile: str
    storage: str
    machine: str
    python: str
    started: str
    engines: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    core: tuple[EvidenceThreshold, ...] = ()
    plan: tuple[PlannedSuite, ...] = ()
    budget: float | None = None


@dataclass(frozen=True, slots=True)
class EngineReady:
    """An engine runs and passed its smoke test; `seconds` is what its start took."""

    engine: str
    homepage: str = ""
    issue_tracker: str = ""
    compatible_with: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class EngineUnavailable:
    """An engine that was asked for, or belongs to the default, does not run here; `cure` is the line that mends it."""

    engine: str
    why: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class DeclaredClaim:
    """An engine's own word on a requirement, before any test: `verdict` is not-guaranteed or unsupported."""

    engine: str
    requirement: str
    verdict: str
    why: str
    role: str = "writer"
    processes: str = "one"


@dataclass(frozen=True, slots=True)
class ChunkStarted:
    """A chunk, the unit of jobs and shards, begins."""

    suite: str
    profile: str
    number: int
    seed: int


@dataclass(frozen=True, slots=True)
class ChunkEnded:
    """A chunk is over; not `complete` if the budget, a lost engine's restart or Ctrl-C cut it."""

    suite: str
    profile: str
    number: int
    complete: bool
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """One more step of a history was played: for the terminal only, never recorded. `engines` performed it."""

    transient: ClassVar[bool] = True

    suite: str
    chunk: int
    history: int
    step: int
    engines: tuple[str, ...] = ()
    dear: bool = False


@dataclass(frozen=True, slots=True)
class HistoryEnded:
    """A history is over.

    `steps` counts its commands once, however many engines ran them; `operations` and `engine_seconds` are calls to each
    engine, reads included, and what they took; `dear` says that engines on a JVM were to play.
    """

    suite: str
    chunk: int
    history: int
    steps: int
    operations: Mapping[str, int] = field(default_factory=dict)
    engine_seconds: Mapping[str, float] = field(default_factory=dict)
    crash_points: int = 0
    schedules: int = 0
    seconds: float = 0.0
    dear: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one engine was held to in one history, in one role: how often each requirement was checked.

    The cell of the report that a check belongs to is named by requirement, engine, role, `with_engines` (on a shared
    table the other writers), features, storage and processes (one or several). `checks` counts every check that was
    made, those that failed included.
    """

    suite: str
    chunk: int
    history: int
    engine: str
    role: str
    checks: Mapping[str, int]
    with_engines: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    processes: str = "one"
    operations: int = 0
    crash_points: int = 0
    schedules: int = 0


@dataclass(frozen=True, slots=True)
class RaceOutcome:
    """Two operations were let loose at once, in so many orders: how often both succeeded, how often one was refused, by
    kind. `documented` is what Delta Lake's documentation says of the pair at the table's level of isolation. So many
    orders were `unfollowed`: they are no evidence of that order. `processes` says whether they published in turn."""

    engines: tuple[str, ...]
    operations: tuple[str, ...]
    overlap: str
    documented: str
    schedules: int = 0
    both: int = 0
    conflicts: Mapping[str, int] = field(default_factory=dict)
    isolation: str = "Serializable"
    unfollowed: int = 0
    processes: str = "several"


@dataclass(frozen=True, slots=True)
class FaultOutcome:
    """Faults of one kind struck an operation of an engine so many times in one history: how often the table was then as
    before the operation, how often as after it, and the files that they left there and no commit names, by role."""

    engine: str
    operation: str
    fault: str
    points: int = 0
    before: int = 0
    after: int = 0
    left_over: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FindingFound:
    """A requirement did not hold. Emitted each time; the folder is written the first time only.

    `known` is true for a known deviation (`deviation` names it) and for a finding of the baseline. `step` is the
    failing one, counted from 0, of the `steps` of the kept history. `folder` is relative to the run's folder. What the
    engine did not promise to keep is not `promised`.
    """

    fingerprint: str
    requirement: str
    strength: str
    engine: str
    role: str
    suite: str
    detail: str
    steps: int
    step: int | None = None
    folder: str = ""
    known: bool = False
    deviation: str | None = None
    where: str = ""
    chunk: int = 0
    history: int = 0
    with_engines: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    processes: str = "one"
    promised: bool = True

    @property
    def fresh(self) -> bool:
        """Whether it is news, and against a promise: what a run is there to find."""
        return self.promised and not self.known

    @property
    def kind(self) -> str:
        """In a word or two: how it is known, or how much it weighs."""
        if self.deviation:
            return f"known, {self.deviation}"
        return "known" if self.known else self.strength if self.promised else "not guaranteed"


@dataclass(frozen=True, slots=True)
class EngineLost:
    """A host died or hung without being asked to; `restarted` says whether it plays on."""

    engine: str
    how: str
    operation: str = ""
    stderr_tail: str = ""
    restarted: bool = False


@dataclass(frozen=True, slots=True)
class HarnessFault:
    """The harness itself is at fault, so no verdict of the run is worth anything: exit 2."""

    message: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader should know that changes no verdict."""

    message: str


@dataclass(frozen=True, slots=True)
class BudgetSpent:
    """The budget ended the run before its plan was done: the run is inconclusive at best."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Ctrl-C, or SIGTERM."""

    signal: str = "SIGINT"


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The footer. Without it a recording is incomplete."""

    verdict: str
    exit: int
    seconds: float


Event = (
    RunStarted | EngineReady | EngineUnavailable | DeclaredClaim
    | ChunkStarted | ChunkEnded | Progress | HistoryEnded | Evidence | RaceOutcome | FaultOutcome
    | FindingFound | EngineLost | HarnessFault | Note | BudgetSpent | Interrupted | RunEnded
)  # fmt: skip

# The names in recordings. They never change, whatever becomes of the Python classes: recordings are kept for years.
NAMES: dict[type[Any], str] = {
    RunStarted: "RunStarted",
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
    EngineLost: "EngineLost",
    HarnessFault: "HarnessFault",
    Note: "Note",
    BudgetSpent: "BudgetSpent",
    Interrupted: "Interrupted",
    RunEnded: "RunEnded",
}
KINDS: dict[str, type[Any]] = {NAMES[kind]: kind for kind in typing.get_args(Event)}

_HINTS = {each: typing.get_type_hints(each) for each in (*KINDS.values(), PlannedSuite, EvidenceThreshold)}

Listener = Callable[[Event], None]


class Bus:
    """Hands each event to every listener, in the order in which they were added, one event at a time.

    A listener's exception goes to whoever emitted: a run that can't be recorded has to stop.
    """

    def __init__(self, *listeners: Listener) -> None:
        self._listeners = list(listeners)
        self._lock = threading.RLock()
        self._telling = 0
        self._interrupted: str | None = None

    def add(self, listener: Listener) -> None:
        """One more listener, for the events from now on."""
        with self._lock:
            self._listeners.append(listener)

    def emit(self, event: Event) -> None:
        """Tell all listeners."""
        main = threading.current_thread() is threading.main_thread()
        self._telling += main
        try:
            with self._lock:
                for listener in self._listeners:
                    listener(event)
        finally:
            self._telling -= main
        if main and not self._telling and self._interrupted is not None:
            reason, self._interrupted = self._interrupted, None
            raise KeyboardInterrupt(reason)

    def interrupt(self, reason: str) -> None:
        """What a handler of signals calls: KeyboardInterrupt, but not before every listener has heard the event that is
        being told, so that the record, the verdict and the terminal know of the same events."""
        if not self._telling:
            raise KeyboardInterrupt(reason)
        self._interrupted = reason

    __call__ = emit


def name_of(event: Event | type[Event]) -> str:
    """The name of an event, or of its class, in recordings."""
    return NAMES[event if isinstance(event, type) else type(event)]


def is_transient(event: Event) -> bool:
    """Whether the event is for eyes only and not recorded."""
    return getattr(type(event), "transient", False)


def to_json(event: Event) -> dict[str, Any]:
    """The event as an object; fields that hold their default are left out."""
    return {"event": name_of(event), **_fields_to_json(event)}


def to_line(event: Event) -> str:
    """The event as one line of JSON, ASCII only, without its newline."""
    return json.dumps(to_json(event), separators=(",", ":"))


def from_json(form: Any) -> Event:
    """The inverse of `to_json`; raises `UnknownEvent` for a kind, `EventError` for a shape that it does not know."""
    if not isinstance(form, dict) or not isinstance(form.get("event"), str):
        message = "an event is an object with a member 'event'"
        raise EventError(message)
    kind = KINDS.get(form["event"])
    if kind is None:
        message = f"unknown event {form['event']!r}"
        raise UnknownEvent(message)
    event: Event = _from_fields(kind, form, form["event"])
    return event


def from_line(line: str) -> Event:
    """The inverse of `to_line`."""
    try:
        form = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        message = f"not a line of JSON: {error}"
        raise EventError(message) from error
    return from_json(form)


def _fields_to_json(value: Any) -> dict[str, Any]:
    form = {}
    for each in dataclasses.fields(value):
        part = getattr(value, each.name)
        default = each.default_factory() if each.default_factory is not dataclasses.MISSING else each.default
        if default is dataclasses.MISSING or part != default:
            form[each.name] = _part_to_json(part)
    return form


def _part_to_json(part: Any) -> Any:
    if isinstance(part, tuple):
        return [_part_to_json(each) for each in part]
    if isinstance(part, Mapping):
        return dict(part)
    return _fields_to_json(part) if dataclasses.is_dataclass(part) else part


def _from_fields(kind: type[Any], form: dict[str, Any], name: str) -> Any:
    hints = _HINTS[kind]
    parts = {}
    for each in dataclasses.fields(kind):
        if each.name in form:
            parts[each.name] = _part(hints[each.name], form[each.name], f"{name}.{each.name}")
        elif each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING:
            message = f"{name} without {each.name!r}"
            raise EventError(message)
    return kind(**parts)


def _part(hint: Any, value: Any, name: str) -> Any:
    """A value of the annotated type, or an EventError: what comes from a file is believed only as far as it fits."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        return None if value is None else _part(arguments[0], value, name)
    if origin is tuple and isinstance(value, list):
        return tuple(_part(arguments[0], each, name) for each in value)
    if origin is Mapping and isinstance(value, dict):
        return {key: _part(arguments[1], each, name) for key, each in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and isinstance(value, dict):
        return _from_fields(hint, value, name)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(hint, type) and origin is None and type(value) is hint:
        return value
    message = f"{name} can't be {json.dumps(value)[:80]}"
    raise EventError(message)
