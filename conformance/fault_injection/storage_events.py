"""Storage events as data: what an actor was about to do, what it was told, what came of it, and the trace of it all."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from conformance.fault_injection.fault_actions import PASS, FaultAction, FaultRule
from conformance.fault_injection.file_roles import CLEAN_UP, FOLDER, LIST, UNORDERED, role_of

KINDS = {1: "open", 2: "rename", 3: "link", 4: "remove", 5: "mkdir", 6: "truncate", 7: "list", 8: "look"}
CHANGES = sum(1 << number for number, kind in KINDS.items() if kind not in {"list", "look"})
LISTINGS = 1 << 7
READS = 1 << 8

_QUESTION = struct.Struct("=6i")
_RESULT = struct.Struct("=4i")


@dataclass(frozen=True, slots=True)
class StorageCall:
    """What a shim asks: a call under the table that is about to be made."""

    instrumented_process: str
    kind: str
    path: str
    source: str
    pid: int
    thread: str
    noted: bool = False  # the shim writes it down itself, once it is let through

    @property
    def role(self) -> str:
        """What the file that appears or goes is for."""
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
    """A question with its number: the `ordinal`-th of its role, counted from 0 since the operation began."""

    call: StorageCall
    role: str
    ordinal: int

    @property
    def name(self) -> str:
        """As traces call it: the same in every run of the same operation."""
        return f"{self.role}#{self.ordinal} {self.call.kind}"

    def __str__(self) -> str:
        return f"{self.name} {self.call.path}"


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event, what it was told, and its errno: 0 done, None never heard of again (killed, or never made)."""

    event: StorageEvent
    action: FaultAction
    errno: int | None = None


@dataclass(frozen=True, slots=True)
class StorageRecord:
    """All that one operation of an actor did at the storage boundary.

    `unmet` are the rules whose event never came, `problems` what could not be done as asked: a fault or schedule was
    followed only if both are empty. `refused` counts the changes that a dead table did not let through.
    """

    happened: tuple[RecordedEvent, ...]
    unmet: tuple[FaultRule, ...] = ()
    problems: tuple[str, ...] = ()
    refused: int = 0

    @property
    def followed(self) -> bool:
        """Whether everything that was asked for took place."""
        return not self.unmet and not self.problems

    @property
    def trace(self) -> tuple[str, ...]:
        """The events' names in order; what threads write side by side is sorted."""
        return trace_of([event.event for event in self.happened])

    @property
    def faults(self) -> tuple[RecordedEvent, ...]:
        """What was not simply let through."""
        return tuple(event for event in self.happened if event.action != PASS)


def trace_of(events: list[StorageEvent]) -> tuple[str, ...]:
    """Events by name; a run of unordered ones is sorted, and all of them are of one thread as far as a trace goes."""
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
    """A shim's message: a question, or the errno of a call that has been made and whether it could not be torn."""
    if int.from_bytes(message[:4], "little") != 1:
        _, errno, untearable, _ = _RESULT.unpack(message)
        return errno, bool(untearable)
    _, kind, pid, _, _, noted = _QUESTION.unpack_from(message)
    instrumented_process, path, source, thread = (
        part.decode("utf-8", "surrogateescape") for part in message[_QUESTION.size :].split(b"\0")[:4]
    )
    return StorageCall(instrumented_process, KINDS[kind], path, source, pid, thread, bool(noted))
