"""One actor: a process with all that descends from it, what it may do in its present operation, and what it has done.

The methods named like what a shim did (`asked`, `done`, `lost`) are for the controller's thread, which holds the lock.
They wake whoever waits where it can make a difference to him: where one is parked, or its last call is over.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from conformance.fault_injection.fault_actions import (
    PASS,
    FaultAction,
    FaultRule,
    Kill,
    LoseReply,
    Pause,
    Tear,
    to_answer,
)
from conformance.fault_injection.file_roles import LIST
from conformance.fault_injection.journal import StorageJournal
from conformance.fault_injection.shared_page import SharedPage
from conformance.fault_injection.shim_build import TurnstileProblem
from conformance.fault_injection.storage_events import (
    CHANGES,
    LISTINGS,
    READS,
    RecordedEvent,
    StorageCall,
    StorageEvent,
    StorageRecord,
)

SETTLE_SECONDS = 5.0
_GRACE = 30  # seconds that a shim waits beyond the controller's own limit, should the controller be stopped

Gate = Callable[[StorageEvent], bool]


class ClassifiedGate(Protocol):
    """Gates that know which calls may come to one: the others need not be asked about."""

    @property
    def left(self) -> int:
        """The gates that are left, as bits, the first the lowest."""

    @property
    def asks(self) -> int:
        """The classes of calls that may come to them: `SNAPSHOT_CALLS`, `DATA_CALLS`, `LOG_CALLS`, as bits. A call is
        asked about by its class where its name alone does not tell the gate."""

    def granted(self, event: StorageEvent, /) -> None:
        """The caller has gone through a gate that had been granted."""

    def __call__(self, event: StorageEvent, /) -> bool:
        """Whether the caller is held."""


SNAPSHOT_CALLS, DATA_CALLS, LOG_CALLS = 1, 2, 4  # as in `shim.c`


class NotInstrumented(TurnstileProblem):
    """The turnstile is not between this actor and its files."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where pages are kept, where the controller listens, and the shim."""

    folder: Path
    address: str
    library: Path


@dataclass(slots=True)
class _PausedCall:
    connection: socket.socket
    event: StorageEvent
    until: float


class InstrumentedProcess:
    """Made by `Turnstile.instrumented_process`."""

    def __init__(self, name: str, place: Place, changed: threading.Condition, hold: float) -> None:
        self.name = name
        self._changed = changed
        self._hold = hold
        self._spare: Path | None = None
        self._library = self._plain(place.library)
        self._page = SharedPage(place.folder / f"{name}.page", name, place.address, int(hold) + _GRACE)
        self._table: Path | None = None
        self._unseen: Path | None = None
        self._operating = False
        self._busy = False
        self._ending = False
        self._killed = False
        self._gate: Gate | None = None
        self._classes: ClassifiedGate | None = None
        self._journal = StorageJournal(self._page, name)
        self._rules: list[FaultRule] = []
        self._counts: Counter[str] = Counter()
        self._happened: list[RecordedEvent] = []
        self._moving: dict[socket.socket, int] = {}
        self._held: _PausedCall | None = None
        self._queue: deque[tuple[socket.socket, StorageCall]] = deque()
        self._problems: list[str] = []
        self._refused = 0

    # Who it is

    def environment(self) -> dict[str, str]:
        """What makes a process this actor; add it to the environment with which the process is started."""
        before = os.environ.get("LD_PRELOAD", "")
        preload = f"{self._library}:{before}" if before else str(self._library)
        return {"LD_PRELOAD": preload, "DELTA_TURNSTILE": str(self._page.path)}

    def check_instrumented(self, *, alone: bool = False) -> None:
        """Raise NotSeen unless a process of this actor has loaded the shim, and unless what its operation changed since
        `begin` came by: an engine may be a static program, or one that goes around the C library, in a child.

        Where nobody else changes the table, which is meant by `alone`, only looks are no sign of being seen either.
        """
        if self._page["attached"] == 0:
            raise NotInstrumented(
                f"no process of {self.name} has loaded the turnstile: it is linked statically, against another C"
                " library than this machine's, or was started without the actor's environment. Its crash points and"
                " races can't be driven"
            )
        if self._unseen is None and self._table is not None:
            happened = self._all()
            seen = any(event.event.role != LIST for event in happened) if alone else happened
            newer = () if seen else self._table.rglob("*")
            self._unseen = next((each for each in newer if each.lstat().st_ctime_ns > self._began), None)
        if self._unseen is not None:
            raise NotInstrumented(
                f"{self._unseen} changed, and the turnstile saw nothing of it: the engine of {self.name} leaves its"
                " files to a static program, or makes its system calls itself. Its crash points and races can't be"
                " driven"
            )

    @property
    def busy(self) -> bool:
        """Whether an operation at the table that it watches is under way, or just coming."""
        return self._busy

    @property
    def calls(self) -> int:
        """How many calls came by the shim, asked about or not; only the library of a benchmark counts them."""
        return self._page["calls"]

    @property
    def processes(self) -> int:
        """How many have loaded the shim so far."""
        return self._page["attached"]

    # What it does

    def watch(self, table: Path) -> None:
        """This folder is the table from now on, whether it exists or not; and it is alive."""
        self._busy = True
        self._page["armed"] = 0
        self._page["dead"] = 0
        self._table = table.resolve()
        self._page.watch(str(self._table))

    def advance(self, by: timedelta) -> None:
        """Shift the clock of all its processes, from what it shows now."""
        self._page["clock_ns"] += by // timedelta(microseconds=1) * 1000

    @property
    def ahead(self) -> timedelta:
        """How far its clock is ahead of the true one."""
        return timedelta(microseconds=self._page["clock_ns"] // 1000)

    def begin(
        self,
        rules: Iterable[FaultRule] = (),
        gate: Gate | None = None,
        *,
        classes: ClassifiedGate | None = None,
        listings: bool = True,
        reads: bool = False,
    ) -> None:
        """An operation begins: numbers start at 0. `gate` says of an event whether it is held; so do `classes`, without
        rules, of those that they ask about, while the shims only write down the others.

        `listings` of the log are events too, and so are, with `reads`, the openings of its files.
        """
        if self._table is None:
            raise ValueError(f"{self.name} watches no table")
        rules = list(rules)
        for rule in rules:
            rule.check()
        with self._changed:
            if classes is not None and (rules or gate is not None):
                raise ValueError("where the shims write calls down themselves, there can be no rules")
            self._rules, self._gate = rules, gate
            self._journal.begin()
            self._page["journals"] = int(classes is not None)
            self._page["grants"] = 0
            self._classes = classes
            self._show_gates()
            self._counts, self._happened, self._problems = Counter(), [], []
            self._moving = {}
            self._refused = self._page["refused"]
            self._operating, self._busy, self._killed = True, True, False
            os.utime(self._page.path)
            self._began = self._page.path.stat().st_ctime_ns
            self._page["generation"] += 1
            self._page["armed"] = CHANGES | (LISTINGS if listings else 0) | (READS if reads else 0)

    def ask_again(self) -> None:
        """Its gates may be others now."""
        with self._changed:
            self._show_gates()

    def grant(self, gates: int) -> None:
        """It may go through so many of its gates without asking."""
        self._page["grants"] = gates

    def catch_up(self) -> None:
        """Have the gates know of all that was granted and is through."""
        with self._changed:
            self._read_journal()

    def end(self) -> StorageRecord:
        """The operation is over. Whoever is still parked goes on, which is told as a problem."""
        with self._changed:
            while self._held is not None:
                self._problems.append(f"{self._held.event} was still parked when the operation had ended")
                self._let_go(PASS)
            if not self._killed:
                self._ending = True
                self._changed.wait_for(lambda: not self._moving, SETTLE_SECONDS)
                self._ending = False
                self._settle()
            if not self._page["dead"]:
                self._page["armed"] = 0
            self._operating, self._busy = False, False
            refused = self._page["refused"] - self._refused
            self._happened, self._classes = self._all(), None
            self._page["journals"] = 0
            return StorageRecord(tuple(self._happened), tuple(self._rules), tuple(self._problems), refused)

    def _settle(self) -> None:
        """Wait until all that has been written down is over."""
        until = time.monotonic() + SETTLE_SECONDS
        self._read_journal()
        while self._journal.moves() and time.monotonic() < until:
            self._changed.wait(0.001)
            self._read_journal()

    def _all(self) -> list[RecordedEvent]:
        if not self._page["journals"]:
            return self._happened
        self._read_journal()
        return [*self._journal.happened(), *self._happened]

    @property
    def paused(self) -> StorageEvent | None:
        """Where it is held, if it is."""
        return self._held.event if self._held is not None else None

    def wait_until_paused(self, seconds: float) -> StorageEvent | None:
        """Wait until it is held; None if it is not in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._held is not None, seconds)
            return self.paused

    def release(self, action: FaultAction = PASS) -> None:
        """Let the parked caller go on, or do something else to it."""
        with self._changed:
            if self._held is None:
                raise ValueError(f"{self.name} is not parked")
            self._let_go(action)

    def kill(self, why: str) -> None:
        """End it: its first process by SIGKILL, the others as soon as they touch the table, or by who started them."""
        with self._changed:
            self._problems.append(why)
            self._killed = True
            self._page["killed"] = 1
            if self._held is not None:
                self._let_go(Kill())
        root = self._page["root"]
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if str(self._page.path).encode() in Path(f"/proc/{root}/environ").read_bytes():
                os.kill(root, signal.SIGKILL)

    def close(self) -> None:
        """End whoever is parked, and let the page go."""
        with self._changed:
            if self._held is not None:
                self._let_go(Kill())
            for connection, _ in self._queue:
                _send(connection, Kill())
            self._page["armed"] = 0
        self._page.close()
        if self._spare is not None:
            shutil.rmtree(self._spare, ignore_errors=True)

    # What its shims say

    @property
    def limit(self) -> float | None:
        """When the present hold is over."""
        return self._held.until if self._held is not None else None

    def expire(self) -> None:
        """End it if it was parked for too long."""
        if self._held is not None and time.monotonic() >= self._held.until:
            self._problems.append(
                f"{self.name} was parked at {self._held.event} for more than {self._hold:g} s, and has been ended"
            )
            self._let_go(Kill())
            self._changed.notify_all()

    def asked(self, connection: socket.socket, call: StorageCall) -> None:
        """A call is about to be made."""
        if not self._operating:
            _send(connection, PASS)
        elif self._killed:
            _send(connection, Kill())
        elif self._held is not None:
            self._queue.append((connection, call))  # its other threads wait for the one that is parked
            self._changed.notify_all()
        else:
            self._decide(connection, call)

    def done(self, connection: socket.socket, errno: int, untearable: bool) -> None:
        """A call has been made."""
        at = self._moving.pop(connection, None)
        self._tell_who_ends()
        if at is not None:
            self._happened[at] = replace(self._happened[at], errno=errno)
            event, action = self._happened[at].event, self._happened[at].action
            if untearable:
                self._problems.append(f"{event} could not be torn: it writes no file of its own")
            elif errno and isinstance(action, Tear | LoseReply):
                self._problems.append(
                    f"{event} failed by itself ({os.strerror(errno)}), so no {action} took place"
                )

    def lost(self, connection: socket.socket) -> None:
        """A connection has closed: the call is over, or its process is."""
        self._moving.pop(connection, None)
        self._tell_who_ends()
        if self._queue:
            self._queue = deque(each for each in self._queue if each[0] is not connection)
        if self._held is not None and self._held.connection is connection:
            self._problems.append(f"its process ended while it was parked at {self._held.event}")
            self._held = None
            self._changed.notify_all()
            self._drain()

    def _read_journal(self) -> None:
        granted = self._journal.read(self._counts)
        if self._classes is not None:
            for each in granted:
                self._classes.granted(each)
            if granted:
                self._take_gates()

    def _show_gates(self) -> None:
        """An operation has all its gates before it."""
        self._page["asks"] = self._classes.asks if self._classes is not None else 0
        self._page["gates"] = self._classes.left if self._classes is not None else 0

    def _take_gates(self) -> None:
        """It has come to gates. Those that were granted the shims have taken themselves: nothing is written then, since
        other threads may just be taking more."""
        if self._classes is not None:
            self._page["asks"] = self._classes.asks
            if self._page["gates"] & ~self._classes.left:
                self._page["gates"] &= self._classes.left

    def _tell_who_ends(self) -> None:
        if self._ending and not self._moving:
            self._changed.notify_all()

    def _decide(self, connection: socket.socket, call: StorageCall) -> None:
        role = call.role
        if self._page["journals"]:
            self._read_journal()
        event = StorageEvent(call, role, self._counts[role])
        self._counts[role] += not call.noted  # else when it is read
        rule = next(
            (each for each in self._rules if (each.role, each.ordinal) == (role, event.ordinal)), None
        )
        action: FaultAction = PASS
        if rule is not None:
            self._rules.remove(rule)
            action = rule.action
        elif self._gate is not None and self._gate(event):
            action = Pause()
        elif self._classes is not None:
            if self._classes(event):
                action = Pause()
            self._take_gates()
        if isinstance(action, Pause):
            self._held = _PausedCall(connection, event, time.monotonic() + self._hold)
            self._changed.notify_all()
        else:
            self._tell(connection, event, action)

    def _tell(self, connection: socket.socket, event: StorageEvent, action: FaultAction) -> None:
        if isinstance(action, Kill):
            self._killed = True
        if event.call.noted and action == PASS:
            _send(connection, action)
            connection.close()  # what comes of it is written down
            return
        self._moving[connection] = len(self._happened)
        self._happened.append(RecordedEvent(event, action))
        _send(connection, action)

    def _let_go(self, action: FaultAction) -> None:
        assert self._held is not None  # noqa: S101 - the callers have looked
        held, self._held = self._held, None
        self._tell(held.connection, held.event, action)
        self._drain()

    def _drain(self) -> None:
        while self._queue and self._held is None:
            self.asked(*self._queue.popleft())

    def _plain(self, library: Path) -> Path:
        """LD_PRELOAD is split at spaces and colons, so a cache folder with one of them needs another name."""
        if not set(" :") & set(str(library)):
            return library
        self._spare = Path(tempfile.mkdtemp(prefix="turnstile-", dir="/tmp"))  # TMPDIR may have spaces too
        (self._spare / "shim.so").symlink_to(library)
        return self._spare / "shim.so"


def _send(connection: socket.socket, action: FaultAction) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its end is told by `lost`
        connection.send(to_answer(action))
