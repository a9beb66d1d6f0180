"""Answers the storage calls of one process: each passes, has a fault, or pauses.

Everything here needs the turnstile's lock. The controller's thread holds it while it hands over the messages of the
shims; `InstrumentedProcess` takes it for the threads of the harness. Rules, a gate or a gatekeeper decide on a call.
They return a decision, and call nothing back.

The lock is a condition. It is notified where a waiting thread may go on: a call has been paused, a paused process was
lost, or the last call of an operation that ends is over.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from conformance.fault_injection.fault_actions import PASS, FaultAction, FaultRule, Kill, Pause, to_answer
from conformance.fault_injection.gates import Gatekeeper
from conformance.fault_injection.operation_recorder import OperationRecorder
from conformance.fault_injection.shared_page import SharedPage
from conformance.fault_injection.storage_events import (
    RecordedEvent,
    StorageCall,
    StorageEvent,
    StorageRecord,
)

SETTLE_SECONDS = 5.0

Gate = Callable[[StorageEvent], bool]


@dataclass(slots=True)
class _PausedCall:
    connection: socket.socket
    event: StorageEvent
    until: float


class CallControl:
    """Decides on the calls of a process, holds back the paused one, and records what happened."""

    def __init__(self, name: str, page: SharedPage, lock: threading.Condition, hold_seconds: float) -> None:
        self.operating = False
        self.killed = False
        self._name = name
        self._page = page
        self._lock = lock
        self._hold_seconds = hold_seconds
        self._ending = False
        self._rules: list[FaultRule] = []
        self._gate: Gate | None = None
        self._gatekeeper: Gatekeeper | None = None
        self._recorder = OperationRecorder(page, name)
        self._paused: _PausedCall | None = None
        self._queue: deque[tuple[socket.socket, StorageCall]] = deque()

    # For the threads of the harness

    def begin(self, rules: list[FaultRule], gate: Gate | None, gatekeeper: Gatekeeper | None) -> None:
        """Begin an operation, for which these decide."""
        if gatekeeper is not None and (rules or gate is not None):
            raise ValueError("where the shims write calls down themselves, there can be no rules")
        self._rules, self._gate, self._gatekeeper = rules, gate, gatekeeper
        self._recorder.begin(journals=gatekeeper is not None)
        self._page["grants"] = 0
        self.show_gates()
        self.operating, self.killed = True, False

    def settle(self) -> None:
        """Let paused calls go on, which is a problem, and wait until all calls are over."""
        while self._paused is not None:
            self.add_problem(f"{self._paused.event} was still parked when the operation had ended")
            self.resume(PASS)
        if not self.killed:
            self._ending = True
            self._lock.wait_for(lambda: not self._recorder.awaits_results, SETTLE_SECONDS)
            self._ending = False
            self._settle_journal()

    def end(self) -> StorageRecord:
        """End the operation and return its record."""
        self.operating = False
        refused = self._recorder.refused
        self.read_journal()
        events = tuple(self._recorder.end())
        self._gatekeeper = None
        return StorageRecord(events, tuple(self._rules), tuple(self._recorder.problems), refused)

    def close(self) -> None:
        """Kill the process if a call of it waits."""
        if self._paused is not None:
            self.resume(Kill())
        for connection, _ in self._queue:
            _send(connection, Kill())

    def add_problem(self, problem: str) -> None:
        """Record what was not done as the rules or the schedule want it."""
        self._recorder.problems.append(problem)

    def events(self) -> list[RecordedEvent]:
        """All calls of the operation so far."""
        if self._recorder.journals:
            self.read_journal()
        return self._recorder.events()

    @property
    def paused(self) -> StorageEvent | None:
        """The event at which the process is paused, if it is."""
        return self._paused.event if self._paused is not None else None

    @property
    def waiting(self) -> int:
        """How many calls of other threads wait behind the paused one."""
        return len(self._queue)

    def resume(self, action: FaultAction) -> None:
        """Answer the paused call, then those that wait behind it."""
        assert self._paused is not None  # noqa: S101 - the callers have looked
        paused, self._paused = self._paused, None
        self._send_answer(paused.connection, paused.event, action)
        self._answer_queue()

    def read_journal(self) -> None:
        """Record what the shims have written down, and report the granted gates to the gatekeeper."""
        granted = self._recorder.read_journal()
        if self._gatekeeper is not None:
            for event in granted:
                self._gatekeeper.note_granted(event)
            if granted:
                self._close_passed_gates()

    def show_gates(self) -> None:
        """Show the shims all gates of an operation that begins."""
        self._page["asks"] = self._gatekeeper.doubtful_classes if self._gatekeeper is not None else 0
        self._page["gates"] = self._gatekeeper.open_gates if self._gatekeeper is not None else 0

    # For the controller's thread

    @property
    def pause_limit(self) -> float | None:
        """When the present pause must end, by the monotonic clock."""
        return self._paused.until if self._paused is not None else None

    def expire(self) -> None:
        """Kill the process if it has been paused for too long."""
        if self._paused is not None and time.monotonic() >= self._paused.until:
            self.add_problem(
                f"{self._name} was parked at {self._paused.event} for more than {self._hold_seconds:g} s, and has been"
                " ended"
            )
            self.resume(Kill())
            self._lock.notify_all()

    def on_call(self, connection: socket.socket, call: StorageCall) -> None:
        """Answer a shim that asks about a call, now or when the pause before it is over."""
        if not self.operating:
            _send(connection, PASS)
        elif self.killed:
            _send(connection, Kill())
        elif self._paused is not None:
            self._queue.append((connection, call))  # the other threads wait for the one that is paused
            self._lock.notify_all()
        else:
            self._answer(connection, call)

    def on_result(self, connection: socket.socket, errno: int, untearable: bool) -> None:
        """Record what came of a call."""
        self._recorder.record_result(connection, errno, untearable)
        self._notify_end()

    def on_disconnect(self, connection: socket.socket) -> None:
        """Forget a connection that has closed: the call is over, or its process is."""
        self._recorder.drop(connection)
        self._notify_end()
        if self._queue:
            self._queue = deque(waiting for waiting in self._queue if waiting[0] is not connection)
        if self._paused is not None and self._paused.connection is connection:
            self.add_problem(f"its process ended while it was parked at {self._paused.event}")
            self._paused = None
            self._lock.notify_all()
            self._answer_queue()

    # Answers

    def _answer(self, connection: socket.socket, call: StorageCall) -> None:
        if self._recorder.journals:
            self.read_journal()
        event = self._recorder.number(call)
        action = self._decide(event)
        if isinstance(action, Pause):
            self._paused = _PausedCall(connection, event, time.monotonic() + self._hold_seconds)
            self._lock.notify_all()
        else:
            self._send_answer(connection, event, action)

    def _decide(self, event: StorageEvent) -> FaultAction:
        for rule in self._rules:
            if (rule.role, rule.ordinal) == (event.role, event.ordinal):
                self._rules.remove(rule)
                return rule.action
        if self._gate is not None:
            return Pause() if self._gate(event) else PASS
        if self._gatekeeper is None:
            return PASS
        decision = self._gatekeeper.decide(event)
        if decision.grants is not None:
            self._page["grants"] = decision.grants
        self._close_passed_gates()
        return Pause() if decision.pauses else PASS

    def _send_answer(self, connection: socket.socket, event: StorageEvent, action: FaultAction) -> None:
        if isinstance(action, Kill):
            self.killed = True
        if event.call.noted and action == PASS:
            _send(connection, action)
            connection.close()  # the shim writes the result into the journal
            return
        self._recorder.record_answer(connection, event, action)
        _send(connection, action)

    def _answer_queue(self) -> None:
        while self._queue and self._paused is None:
            self.on_call(*self._queue.popleft())

    def _notify_end(self) -> None:
        if self._ending and not self._recorder.awaits_results:
            self._lock.notify_all()

    def _settle_journal(self) -> None:
        until = time.monotonic() + SETTLE_SECONDS
        self.read_journal()
        while self._recorder.journal_is_open() and time.monotonic() < until:
            self._lock.wait(0.001)
            self.read_journal()

    def _close_passed_gates(self) -> None:
        """Take the passed gates from the page.

        The shims have taken the granted ones themselves. Then nothing is written, since another thread of the process
        may just be taking one.
        """
        if self._gatekeeper is not None:
            self._page["asks"] = self._gatekeeper.doubtful_classes
            if self._page["gates"] & ~self._gatekeeper.open_gates:
                self._page["gates"] &= self._gatekeeper.open_gates


def _send(connection: socket.socket, action: FaultAction) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # `on_disconnect` follows
        connection.send(to_answer(action))
