"""Storage events as data: a call of a process, the action on it, its result, and the trace of an operation."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from conformance.fault_injection.fault_actions import PASS, FaultAction, FaultRule
from conformance.fault_injection.file_roles import CLEAN_UP, FOLDER, LIST, UNORDERED, role_of

KINDS = {1: "open", 2: "rename", 3: "link", 4: "remove", 5: "mkdir", 6: "truncate", 7: "list", 8: "look"}
CHANGES = sum(1 << number for number, kind in KINDS.items() if kind not in {"list", "look"})
LISTINGS = 1 << 7
READS = 1 << 8

_CALL = struct.Struct("=6i")
_RESULT = struct.Struct("=4i")


@dataclass(frozen=True, slots=True)
class StorageCall:
    """A call under the table that a process is about to make, as its shim reports it."""

    instrumented_process: str
    kind: str
    path: str
    source: str
    pid: int
    thread: str
    noted: bool = False  # the shim writes it into the journal, if it passes

    @property
    def role(self) -> str:
        """The role of the file that appears or goes."""
        match self.kind:
            case "remove":
                return CLEAN_UP
            case "mkdir":
                return FOLDER
            case "list" | "look":
                return LIST
        return role_of(self.path)


@dataclass(frozen=True, slots=True)
class StorageEvent:
    """A call with its number: the `ordinal`-th of its role, counted from 0 since the operation began."""

    call: StorageCall
    role: str
    ordinal: int

    @property
    def name(self) -> str:
        """Its name in a trace: the same in every run of the same operation."""
        return f"{self.role}#{self.ordinal} {self.call.kind}"

    def __str__(self) -> str:
        return f"{self.name} {self.call.path}"


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event, the action on it, and its errno: 0 if it was done, None if no result came (killed, or never made)."""

    event: StorageEvent
    action: FaultAction
    errno: int | None = None


@dataclass(frozen=True, slots=True)
class StorageRecord:
    """All that one operation of a process did at the storage boundary.

    `unmet` are the rules whose event never came, `problems` what was not done as the rules or the schedule want it. A
    fault or schedule was followed only if both are empty. `refused` counts the changes that a dead table refused.
    """

    happened: tuple[RecordedEvent, ...]
    unmet: tuple[FaultRule, ...] = ()
    problems: tuple[str, ...] = ()
    refused: int = 0

    @property
    def followed(self) -> bool:
        """Whether all rules took effect, and there were no problems."""
        return not self.unmet and not self.problems

    @property
    def trace(self) -> tuple[str, ...]:
        """The names of the events in order. Names of files that threads write side by side are sorted."""
        return trace_of([event.event for event in self.happened])

    @property
    def faults(self) -> tuple[RecordedEvent, ...]:
        """The events that had a fault or a pause."""
        return tuple(event for event in self.happened if event.action != PASS)


def trace_of(events: list[StorageEvent]) -> tuple[str, ...]:
    """Return the names of events. Each run of unordered ones is sorted; threads are not told apart."""
    trace: list[str] = []
    run: list[str] = []
    for event in events:
        if event.role in UNORDERED:
            run.append(event.name)
        else:
            trace += [*sorted(run), event.name]
            run = []
    return (*trace, *sorted(run))


def parse(message: bytes) -> StorageCall | tuple[int, bool]:
    """Read a message of a shim: a call, or the errno of a call that was made and whether it could not be torn."""
    if int.from_bytes(message[:4], "little") != 1:
        _, errno, untearable, _ = _RESULT.unpack(message)
        return errno, bool(untearable)
    _, kind, pid, _, _, noted = _CALL.unpack_from(message)
    instrumented_process, path, source, thread = (
        part.decode("utf-8", "surrogateescape") for part in message[_CALL.size :].split(b"\0")[:4]
    )
    return StorageCall(instrumented_process, KINDS[kind], path, source, pid, thread, bool(noted))
