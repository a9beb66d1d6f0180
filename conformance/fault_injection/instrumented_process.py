"""One process behind the turnstile, with all its descendants: how it is started, observed, and ended.

The methods here are for the threads of the harness, and take the turnstile's lock themselves. `control` decides on the
storage calls of the process; the controller's thread calls it, and holds the lock.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from conformance.fault_injection.call_control import CallControl, Gate
from conformance.fault_injection.fault_actions import PASS, FaultAction, FaultRule, Kill
from conformance.fault_injection.file_roles import LIST
from conformance.fault_injection.gates import Gatekeeper
from conformance.fault_injection.shared_page import SharedPage
from conformance.fault_injection.shim_build import TurnstileProblem
from conformance.fault_injection.storage_events import CHANGES, LISTINGS, READS, StorageEvent, StorageRecord

_GRACE = 30  # seconds that a shim waits beyond the controller's own limit, should the controller be stopped


class NotInstrumented(TurnstileProblem):
    """The turnstile is not between this process and its files."""


@dataclass(frozen=True, slots=True)
class ShimSettings:
    """What shims need: the folder of the shared pages, the address of the controller's socket, and the library."""

    folder: Path
    address: str
    library: Path


class InstrumentedProcess:
    """A process behind the turnstile. `Turnstile.add_process` makes it; its `environment` starts the process."""

    def __init__(
        self, name: str, settings: ShimSettings, lock: threading.Condition, hold_seconds: float
    ) -> None:
        self.name = name
        self._lock = lock  # the turnstile's
        self._link_folder: Path | None = None
        self._library = self._preloadable(settings.library)
        self._page = SharedPage(
            settings.folder / f"{name}.page", name, settings.address, int(hold_seconds) + _GRACE
        )
        self._table: Path | None = None
        self._changed_unreported: Path | None = None
        self._busy = False
        self.control = CallControl(name, self._page, lock, hold_seconds)

    # The process

    def environment(self) -> dict[str, str]:
        """Return the variables with which a process has to be started to be this one."""
        before = os.environ.get("LD_PRELOAD", "")
        preload = f"{self._library}:{before}" if before else str(self._library)
        return {"LD_PRELOAD": preload, "DELTA_TURNSTILE": str(self._page.path)}

    def check_instrumented(self, *, alone: bool = False) -> None:
        """Raise NotInstrumented if the turnstile is not between the process and its files.

        That is so if no process has loaded the shim. It is also so if the table changed since `begin` and the shim
        reported nothing: an engine may leave its files to a static program, or go around the C library.

        `alone` says that no other process changes the table. Then a listing proves nothing either.
        """
        if self._page["attached"] == 0:
            raise NotInstrumented(
                f"no process of {self.name} has loaded the turnstile: it is linked statically, against another C"
                " library than this machine's, or was started without the actor's environment. Its crash points and"
                " races can't be driven"
            )
        if self._changed_unreported is None and self._table is not None:
            events = self.control.events()
            reported = any(event.event.role != LIST for event in events) if alone else events
            suspects = () if reported else self._table.rglob("*")
            self._changed_unreported = next(
                (path for path in suspects if path.lstat().st_ctime_ns > self._began), None
            )
        if self._changed_unreported is not None:
            raise NotInstrumented(
                f"{self._changed_unreported} changed, and the turnstile saw nothing of it: the engine of {self.name}"
                " leaves its files to a static program, or makes its system calls itself. Its crash points and races"
                " can't be driven"
            )

    @property
    def busy(self) -> bool:
        """Whether an operation at the watched table is under way, or about to begin."""
        return self._busy

    @property
    def calls(self) -> int:
        """How many calls the shim has handled. Only the library of a benchmark counts them."""
        return self._page["calls"]

    @property
    def processes(self) -> int:
        """How many processes have loaded the shim so far."""
        return self._page["attached"]

    def watch(self, table: Path) -> None:
        """Make this folder the table, whether it exists or not. A dead table is forgotten."""
        self._busy = True
        self._page["armed"] = 0
        self._page["dead"] = 0
        self._table = table.resolve()
        self._page.watch(str(self._table))

    def advance(self, by: timedelta) -> None:
        """Shift the clock that the process reads, from what it shows now."""
        self._page["clock_ns"] += by // timedelta(microseconds=1) * 1000

    @property
    def ahead(self) -> timedelta:
        """How far the clock that the process reads is ahead of the true one."""
        return timedelta(microseconds=self._page["clock_ns"] // 1000)

    def kill(self, why: str) -> None:
        """Kill the process. A descendant ends when it touches the table, or when its parent ends it."""
        with self._lock:
            self.control.add_problem(why)
            self.control.killed = True
            self._page["killed"] = 1
            if self.control.paused is not None:
                self.control.resume(Kill())
        root = self._page["root"]
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if str(self._page.path).encode() in Path(f"/proc/{root}/environ").read_bytes():
                os.kill(root, signal.SIGKILL)

    def close(self) -> None:
        """Kill what is paused, and release the shared page."""
        with self._lock:
            self.control.close()
            self._page["armed"] = 0
        self._page.close()
        if self._link_folder is not None:
            shutil.rmtree(self._link_folder, ignore_errors=True)

    # Its operation

    def begin(
        self,
        rules: Iterable[FaultRule] = (),
        gate: Gate | None = None,
        *,
        gatekeeper: Gatekeeper | None = None,
        listings: bool = True,
        reads: bool = False,
    ) -> None:
        """Begin an operation, whose events are numbered from 0.

        A `gate` says of each event whether the call pauses. So does a `gatekeeper`, which allows no rules: the shims
        ask only about calls at its open gates, and write the others into the journal.

        `listings` of the log are events too, and so are, with `reads`, the openings of its files.
        """
        if self._table is None:
            raise ValueError(f"{self.name} watches no table")
        rules = list(rules)
        for rule in rules:
            rule.check()
        with self._lock:
            self.control.begin(rules, gate, gatekeeper)
            self._busy = True
            os.utime(self._page.path)
            self._began = self._page.path.stat().st_ctime_ns
            self._page["generation"] += 1
            self._page["armed"] = CHANGES | (LISTINGS if listings else 0) | (READS if reads else 0)

    def end(self) -> StorageRecord:
        """End the operation and return its record. A call that is still paused goes on, which is a problem."""
        with self._lock:
            self.control.settle()
            if not self._page["dead"]:
                self._page["armed"] = 0
            self._busy = False
            return self.control.end()

    def grant(self, gates: int) -> None:
        """Let the process pass so many of its open gates without asking."""
        self._page["grants"] = gates

    def renew_gates(self) -> None:
        """Show the shims the gatekeeper's open gates anew: the process goes on with another operation."""
        with self._lock:
            self.control.show_gates()

    def catch_up(self) -> None:
        """Report to the gatekeeper all granted gates that the process has passed."""
        with self._lock:
            self.control.read_journal()

    @property
    def paused(self) -> StorageEvent | None:
        """The event at which the process is paused, if it is."""
        return self.control.paused

    def wait_until_paused(self, seconds: float) -> StorageEvent | None:
        """Wait until the process is paused; None if it is not in time."""
        with self._lock:
            self._lock.wait_for(lambda: self.control.paused is not None, seconds)
            return self.control.paused

    def release(self, action: FaultAction = PASS, *, grants: int | None = None) -> None:
        """Let the paused call go on, or do something else to it. First set the number of granted gates, if given."""
        with self._lock:
            if self.control.paused is None:
                raise ValueError(f"{self.name} is not parked")
            if grants is not None:
                self.grant(grants)
            self.control.resume(action)

    def _preloadable(self, library: Path) -> Path:
        """LD_PRELOAD is split at spaces and colons, so a library in a folder with one of them gets another name."""
        if not set(" :") & set(str(library)):
            return library
        self._link_folder = Path(
            tempfile.mkdtemp(prefix="turnstile-", dir="/tmp")
        )  # TMPDIR may have spaces too
        (self._link_folder / "shim.so").symlink_to(library)
        return self._link_folder / "shim.so"
