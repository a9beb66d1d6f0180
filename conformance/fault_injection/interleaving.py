"""Interleavings: writers that are let through one gate at a time, in an order that is data.

A writer has four gates, each passed once an operation: *snapshot* (it looks at the log), *data* (its first data, vector
or change file), *staging* (the temporary file of its commit), *publish* (the commit gets its name). At each moment one
writer moves, until it stands at its next gate or has ended, so the schedule decides the order of all that is gated.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from conformance.fault_injection import file_roles
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.instrumented_process import (
    DATA_CALLS,
    LOG_CALLS,
    SNAPSHOT_CALLS,
    InstrumentedProcess,
)
from conformance.fault_injection.storage_events import StorageEvent, StorageRecord

SNAPSHOT, DATA, STAGING, PUBLISH = GATES = ("snapshot", "data", "staging", "publish")
STEP_SECONDS = 60.0

_GATE_OF_ROLE = {
    file_roles.LIST: SNAPSHOT,
    **{
        f"{role}{suffix}": DATA
        for role in (file_roles.DATA, file_roles.VECTOR, file_roles.CHANGE)
        for suffix in ("", "-staging")
    },
    file_roles.STAGING: STAGING,
    file_roles.COMMIT: PUBLISH,
}  # fmt: skip

_CLASS_OF_GATE = {SNAPSHOT: SNAPSHOT_CALLS, DATA: DATA_CALLS, STAGING: LOG_CALLS, PUBLISH: LOG_CALLS}

Answer = TypeVar("Answer")


@dataclass(slots=True)
class GateTracker:
    """The gate of one operation: true where the writer first comes to a gate; a gate left out is not come back to.

    `closed` are gates at which nobody is held.
    """

    passed: list[str] = field(default_factory=list)
    closed: frozenset[str] = frozenset()

    @property
    def left(self) -> int:
        """The gates that are left, as bits."""
        return sum(1 << GATES.index(each) for each in self._left)

    @property
    def asks(self) -> int:
        """The classes of calls that may come to a gate which is left."""
        return sum({_CLASS_OF_GATE[each] for each in self._left})

    @property
    def _left(self) -> list[str]:
        behind = GATES.index(self.passed[-1]) if self.passed else -1
        return [gate for gate in GATES[behind + 1 :] if gate not in self.closed]

    def __call__(self, event: StorageEvent) -> bool:
        """Whether the writer is to be held at this event."""
        gate = _GATE_OF_ROLE.get(event.role)
        if gate is None or gate in self.closed:
            return False
        if any(GATES.index(each) >= GATES.index(gate) for each in self.passed):
            return False
        self.passed.append(gate)
        return True


@dataclass(frozen=True, slots=True)
class ScheduledWriter(Generic[Answer]):
    """Who takes part: `submit` starts its operation, and what it returns waits for the answer; `then` those after it.

    At the gates in `closed` it is not held: it goes through them with the one before.
    """

    instrumented_process: InstrumentedProcess
    submit: Callable[[], Callable[[], Answer]]
    then: tuple[Callable[[], Callable[[], Answer]], ...] = ()
    closed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class InterleavingResult(Generic[Answer]):
    """What came of a schedule: which operation was let through which gate, what each answered or raised, and what each
    writer did. Operations are numbered writer by writer.

    If the schedule could not be followed, `problems` says where and why; it is then no evidence for that schedule.
    `failures` are those that are no matter of too many or too few gates: without any, the same data gives the same
    timeline again.
    """

    timeline: tuple[tuple[int, str], ...]
    answers: tuple[Answer | Exception, ...]
    records: tuple[StorageRecord, ...]
    problems: tuple[str, ...]
    failures: tuple[str, ...] = ()

    @property
    def followed(self) -> bool:
        """Whether it went as scheduled."""
        return not self.problems


def schedules(gates: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All orders in which writers with so many gates each may be let through; 70 for two with four."""
    if not any(gates):
        yield ()
    for writer, left in enumerate(gates):
        if left:
            rest = [gate - (index == writer) for index, gate in enumerate(gates)]
            for tail in schedules(rest):
                yield (writer, *tail)


def interleave(
    turnstile: Turnstile,
    writers: Sequence[ScheduledWriter[Answer]],
    schedule: Sequence[int],
    step_seconds: float = STEP_SECONDS,
    *,
    together: bool = False,
) -> InterleavingResult[Answer]:
    """Start the writers one after another, each up to its first gate, then let them through as scheduled.

    They may start `together` where nobody does anything before his first gate that another can see.
    """
    return _Interleaving(turnstile, writers, step_seconds).run(schedule, together=together)


@dataclass(frozen=True, slots=True)
class _Turn:
    """At which events a writer is held."""

    of: _Interleaving[Any]
    number: int

    @property
    def left(self) -> int:
        return self.of.left(self.number)

    def granted(self, event: StorageEvent) -> None:
        self.of.granted(self.number, event)

    @property
    def asks(self) -> int:
        return self.of.asks(self.number)

    def __call__(self, event: StorageEvent) -> bool:
        return self.of.holds(self.number, event)


class _Interleaving(Generic[Answer]):
    def __init__(
        self, turnstile: Turnstile, writers: Sequence[ScheduledWriter[Answer]], seconds: float
    ) -> None:
        self._turnstile = turnstile
        self._writers = writers
        self._seconds = seconds
        self._gates = [GateTracker(closed=writer.closed) for writer in writers]
        self._first = [
            sum(1 + len(writer.then) for writer in writers[:number]) for number in range(len(writers))
        ]
        self._answers: list[list[Answer | Exception]] = [[] for _ in writers]
        self._threads: list[threading.Thread] = []
        self._timeline: list[tuple[int, str]] = []
        self._problems: list[str] = []
        self._strays: list[str] = []
        self._schedule: Sequence[int] = ()
        self._at = 0  # in the schedule: who goes next

    def run(self, schedule: Sequence[int], *, together: bool) -> InterleavingResult[Answer]:
        for number, writer in enumerate(self._writers):
            writer.instrumented_process.begin(classes=_Turn(self, number))
            thread = threading.Thread(target=self._perform, args=(number, writer.submit()), daemon=True)
            self._threads.append(thread)
            thread.start()
            if not together:
                self._settle(number)
        for number in range(len(self._writers)):
            self._settle(number)
        self._schedule = schedule
        while self._at < len(schedule):
            number = schedule[self._at]
            self._at += 1
            if not self._pass_on(number):
                self._problems.append(
                    f"step {self._at - 1} of the schedule lets writer {number} go on, which had ended after"
                    f" {' and '.join(self._gates[number].passed) or 'no gate at all'}"
                )
        for number, writer in enumerate(self._writers):
            if writer.instrumented_process.paused is not None:
                self._problems.append(
                    f"the schedule leaves writer {number} at {self._gates[number].passed[-1]}"
                )
            while self._pass_on(number):
                pass
        for thread in self._threads:
            thread.join(self._seconds)
        records = tuple(each.instrumented_process.end() for each in self._writers)
        failures = (*self._strays, *(problem for record in records for problem in record.problems))
        answers = tuple(answer for reply in self._answers for answer in reply)
        return InterleavingResult(
            tuple(self._timeline), answers, records, (*self._problems, *failures), failures
        )

    def _perform(self, number: int, finish: Callable[[], Answer]) -> None:
        then = self._writers[number].then
        for at, perform in enumerate((finish, *(lambda submit=each: submit()() for each in then))):
            try:
                answer: Answer | Exception = perform()
            except Exception as error:  # noqa: BLE001 - a host that died is an answer too
                answer = error
            with self._turnstile.changed:
                if len(self._answers[number]) == self._wanted(number):
                    return  # it was given up
                self._writers[number].instrumented_process.catch_up()
                self._answers[number].append(answer)
                if at < len(then):
                    self._gates[number] = GateTracker(closed=self._writers[number].closed)
                    self._writers[number].instrumented_process.ask_again()
                self._turnstile.changed.notify_all()

    def _wanted(self, number: int) -> int:
        return 1 + len(self._writers[number].then)

    def asks(self, number: int) -> int:
        """The classes of calls at which a writer may still be held."""
        return self._gates[number].asks

    def left(self, number: int) -> int:
        """The gates at which a writer may still be held."""
        return self._gates[number].left

    def holds(self, number: int, event: StorageEvent) -> bool:
        """Whether a writer is held at an event. Who comes to a gate and goes next, goes on at once."""
        if not self._gates[number](event):
            return False
        if not self._is_next(number):
            return True
        self._at += 1
        self._goes_on(number)
        self._grant(number)
        return False

    def granted(self, number: int, event: StorageEvent) -> None:
        """A writer has gone through a gate by itself, since it went next there too."""
        if not (self._gates[number](event) and self._is_next(number)):
            self._strays.append(
                f"writer {number} went through {event} unasked, which was no gate of its own then"
            )
            return
        self._at += 1
        self._goes_on(number)

    def _is_next(self, number: int) -> bool:
        return self._at < len(self._schedule) and self._schedule[self._at] == number

    def _grant(self, number: int) -> None:
        """Let a writer go through as many gates as are its own before another goes next."""
        following = itertools.takewhile(number.__eq__, self._schedule[self._at :])
        self._writers[number].instrumented_process.grant(sum(1 for _ in following))

    def _goes_on(self, number: int) -> None:
        operation = self._first[number] + len(self._answers[number])
        self._timeline.append((operation, self._gates[number].passed[-1]))

    def _pass_on(self, number: int) -> bool:
        """Let a parked writer through, up to a gate at which another goes next, or its end."""
        instrumented_process = self._writers[number].instrumented_process
        if instrumented_process.paused is None:
            return False
        self._goes_on(number)
        self._grant(number)
        instrumented_process.release()
        self._settle(number)
        return True

    def _settle(self, number: int) -> None:
        """Wait until the writer stands at a gate or has ended. One that does neither in time is ended."""
        instrumented_process = self._writers[number].instrumented_process

        def stands() -> bool:
            return instrumented_process.paused is not None or len(self._answers[number]) == self._wanted(
                number
            )

        if not self._turnstile.wait(stands, self._seconds):
            after = self._gates[number].passed[-1] if self._gates[number].passed else "its start"
            instrumented_process.kill(
                f"writer {number} ({instrumented_process.name}) hung: {self._seconds:g} s after "
                f"{after} it had neither come to a gate"
                " nor ended, and has been ended"
            )
            if not self._turnstile.wait(stands, self._seconds):
                error = TimeoutError(f"writer {number} never answered, not even after its end")
                with self._turnstile.changed:
                    missing = self._wanted(number) - len(self._answers[number])
                    self._answers[number] += [error] * missing
