"""Interleavings: writers that pass one gate at a time, in an order that is data.

At each moment one writer moves, until it pauses at its next gate or has ended. So the schedule decides the order of all
gates. `gates` says what they are.

Two kinds of threads work here. The caller's thread starts the writers and lets them go on. Each writer has a thread
that waits for its engine. What a gatekeeper reads changes under the turnstile's lock, or while no writer moves.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.gates import PASS_ON, PAUSE_HERE, GateDecision, GateTracker
from conformance.fault_injection.instrumented_process import InstrumentedProcess
from conformance.fault_injection.storage_events import StorageEvent, StorageRecord

STEP_SECONDS = 60.0

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ScheduledWriter(Generic[Answer]):
    """A writer of an interleaving. `submit` starts its operation, and what it returns waits for the answer.

    `then` are the operations after it. At the gates in `closed` the writer does not pause.
    """

    instrumented_process: InstrumentedProcess
    submit: Callable[[], Callable[[], Answer]]
    then: tuple[Callable[[], Callable[[], Answer]], ...] = ()
    closed: frozenset[str] = frozenset()

    @property
    def operations(self) -> int:
        """How many operations the writer has."""
        return 1 + len(self.then)


@dataclass(frozen=True, slots=True)
class InterleavingResult(Generic[Answer]):
    """What came of a schedule: which operation passed which gate, its answer or error, and what each writer did.

    Operations are numbered writer by writer. If the schedule could not be followed, `problems` says where and why. Then
    the result is no evidence for that schedule. `failures` are those problems that are no matter of too many or too few
    gates: without any, the same data gives the same timeline again.
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
    """Yield all orders in which writers with so many gates each may go on: 70 for two with four."""
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
    """Start the writers one after another, each up to its first gate; then let them go on as scheduled.

    They may start `together` if no writer does anything before its first gate that another can see.
    """
    course = _Course()
    first_operations = itertools.accumulate((writer.operations for writer in writers), initial=0)
    runs = [
        _WriterRun(number, writer, course, turnstile, first_operation=first, step_seconds=step_seconds)
        for number, (first, writer) in enumerate(zip(first_operations, writers, strict=False))
    ]
    for run in runs:
        run.start()
        if not together:
            run.wait_for_gate()
    for run in runs:
        run.wait_for_gate()
    problems = _follow(course, runs, schedule)
    for run in runs:
        run.join()
    records = tuple(run.end() for run in runs)
    failures = (*course.strays, *(problem for record in records for problem in record.problems))
    answers = tuple(answer for run in runs for answer in run.answers)
    return InterleavingResult(tuple(course.timeline), answers, records, (*problems, *failures), failures)


def _follow(course: _Course, runs: Sequence[_WriterRun[Answer]], schedule: Sequence[int]) -> list[str]:
    """Let the writers go on as scheduled, then to their ends; return what was not as scheduled."""
    problems = []
    course.schedule = schedule
    while course.position < len(schedule):
        number = course.take_turn()
        if not runs[number].go_on():
            problems.append(
                f"step {course.position - 1} of the schedule lets writer {number} go on, which had ended after"
                f" {' and '.join(runs[number].gates.passed) or 'no gate at all'}"
            )
    for number, run in enumerate(runs):
        if run.paused:
            problems.append(f"the schedule leaves writer {number} at {run.gates.passed[-1]}")
        while run.go_on():
            pass
    return problems


@dataclass(slots=True)
class _Course:
    """A schedule and how far it has been followed; which operations passed which gates; what went out of turn."""

    schedule: Sequence[int] = ()
    position: int = 0
    timeline: list[tuple[int, str]] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)

    def take_turn(self) -> int:
        """Return the writer that goes next, and count its turn as taken."""
        self.position += 1
        return self.schedule[self.position - 1]

    def is_next(self, writer: int) -> bool:
        """Whether a writer goes next."""
        return self.position < len(self.schedule) and self.schedule[self.position] == writer

    def turns_in_a_row(self, writer: int) -> int:
        """How many turns a writer has from here before another goes next."""
        return sum(1 for _ in itertools.takewhile(writer.__eq__, self.schedule[self.position :]))


class _WriterRun(Generic[Answer]):
    """One writer as it runs. It is the gatekeeper of its process: the methods of `Gatekeeper` have the lock held."""

    def __init__(
        self,
        number: int,
        writer: ScheduledWriter[Answer],
        course: _Course,
        turnstile: Turnstile,
        *,
        first_operation: int,
        step_seconds: float,
    ) -> None:
        self.answers: list[Answer | Exception] = []
        self.gates = GateTracker(closed=writer.closed)
        self._number = number
        self._first_operation = first_operation
        self._writer = writer
        self._process = writer.instrumented_process
        self._course = course
        self._turnstile = turnstile
        self._seconds = step_seconds

    # For the caller's thread

    @property
    def paused(self) -> bool:
        """Whether the writer is paused at a gate."""
        return self._process.paused is not None

    def start(self) -> None:
        """Start the first operation."""
        self._process.begin(gatekeeper=self)
        self._thread = threading.Thread(target=self._perform, args=(self._writer.submit(),), daemon=True)
        self._thread.start()

    def go_on(self) -> bool:
        """Let the writer go on, up to a gate at which another goes next, or to its end; False if it is not paused."""
        if not self.paused:
            return False
        self._note_passed()
        self._process.release(grants=self._course.turns_in_a_row(self._number))
        self.wait_for_gate()
        return True

    def wait_for_gate(self) -> None:
        """Wait until the writer is paused at a gate or has ended. Kill it if it does neither in time."""
        if self._turnstile.wait(self._stands, self._seconds):
            return
        last = self.gates.passed[-1] if self.gates.passed else "its start"
        self._process.kill(
            f"writer {self._number} ({self._process.name}) hung: {self._seconds:g} s after {last} it had neither come"
            " to a gate nor ended, and has been ended"
        )
        if not self._turnstile.wait(self._stands, self._seconds):
            error = TimeoutError(f"writer {self._number} never answered, not even after its end")
            with self._turnstile.updating():
                self.answers += [error] * (self._writer.operations - len(self.answers))

    def join(self) -> None:
        """Wait for the writer's thread."""
        self._thread.join(self._seconds)

    def end(self) -> StorageRecord:
        """End the operation at the turnstile, and return what the writer did."""
        return self._process.end()

    def _stands(self) -> bool:
        return self.paused or self._has_ended()

    def _has_ended(self) -> bool:
        return len(self.answers) == self._writer.operations

    # The writer's own thread

    def _perform(self, finish: Callable[[], Answer]) -> None:
        later = (lambda submit=submit: submit()() for submit in self._writer.then)
        for perform in (finish, *later):
            try:
                answer: Answer | Exception = perform()
            except Exception as error:  # noqa: BLE001 - a host that died is an answer too
                answer = error
            with self._turnstile.updating():
                if self._has_ended():
                    return  # the caller's thread has given it up
                self._process.catch_up()
                self.answers.append(answer)
                if not self._has_ended():
                    self.gates = GateTracker(closed=self._writer.closed)
                    self._process.renew_gates()

    # The gatekeeper

    @property
    def open_gates(self) -> int:
        """The gates at which the writer may still pause, as bits."""
        return self.gates.open_gates

    @property
    def doubtful_classes(self) -> int:
        """The classes of calls that may be at an open gate, as bits."""
        return self.gates.doubtful_classes

    def decide(self, event: StorageEvent) -> GateDecision:
        """Pause the writer at its gates. If it comes to a gate and goes next, it goes on at once."""
        if not self.gates(event):
            return PASS_ON
        if not self._course.is_next(self._number):
            return PAUSE_HERE
        self._course.take_turn()
        self._note_passed()
        return GateDecision(grants=self._course.turns_in_a_row(self._number))

    def note_granted(self, event: StorageEvent) -> None:
        """Take the turn of a gate that the writer passed by a grant. Out of turn it is a stray."""
        if self.gates(event) and self._course.is_next(self._number):
            self._course.take_turn()
            self._note_passed()
        else:
            self._course.strays.append(
                f"writer {self._number} went through {event} unasked, which was no gate of its own then"
            )

    def _note_passed(self) -> None:
        operation = self._first_operation + len(self.answers)
        self._course.timeline.append((operation, self.gates.passed[-1]))
