"""The controller of the turnstile: one thread that answers the shims of all instrumented processes.

    with Turnstile(work / "turnstile") as turnstile:
        process = turnstile.add_process("A")
        host = HostClient.start(spec, work / "host", environment=process.environment()).ready()
        process.check_instrumented()
        process.watch(table)
        process.begin([FaultRule("commit", Kill("before"))])
        ...                                              # the host executes, and dies
        record = process.end()

An instrumented process is one that is started with this environment, with all its descendants. Outside of `begin` and
`end` its shims are idle.

The turnstile has one lock for all its processes and their gatekeepers. The controller's thread takes it for each
message. `InstrumentedProcess` takes it for its callers. Other code takes it by `Turnstile.updating`, or waits by
`Turnstile.wait`.
"""

from __future__ import annotations

import contextlib
import select
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from conformance.fault_injection.instrumented_process import InstrumentedProcess, ShimSettings
from conformance.fault_injection.shared_page import LONGEST_SOCKET
from conformance.fault_injection.shim_build import TurnstileProblem, shim
from conformance.fault_injection.storage_events import StorageCall, parse

HOLD_SECONDS = 60.0
_LONGEST_MESSAGE = 16384


class Turnstile:
    """One socket and one thread for any number of instrumented processes."""

    def __init__(self, folder: Path, hold_seconds: float = HOLD_SECONDS, library: Path | None = None) -> None:
        library = library or shim()
        self._hold_seconds = hold_seconds
        self._short_folder: Path | None = None
        self._folder = folder.absolute()
        self._socket = self._bind()
        self._settings = ShimSettings(self._folder, self._path, library)
        self._processes: dict[str, InstrumentedProcess] = {}
        self._lock = threading.Condition()
        self._stop_sender, self._stop_receiver = socket.socketpair()
        self._connections: dict[int, socket.socket] = {}
        self._poll = select.epoll()
        self._poll.register(self._socket, select.EPOLLIN)
        self._poll.register(self._stop_receiver, select.EPOLLIN)
        self._thread = threading.Thread(target=self._serve, name="turnstile", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add_process(self, name: str) -> InstrumentedProcess:
        """Return a new instrumented process, which its `environment` starts. Raises ValueError if the name is taken."""
        with self._lock:
            if name in self._processes:
                raise ValueError(f"there is an actor {name!r} already")
            process = InstrumentedProcess(name, self._settings, self._lock, self._hold_seconds)
            self._processes[name] = process
        return process

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until what the processes do makes a condition true; return whether it did in time."""
        with self._lock:
            return self._lock.wait_for(condition, seconds)

    @contextlib.contextmanager
    def updating(self) -> Iterator[None]:
        """Hold the lock while a gatekeeper's state changes; then wake all that `wait`."""
        with self._lock:
            yield
            self._lock.notify_all()

    def close(self) -> None:
        """Kill all processes that are paused: none may write once the controller is gone."""
        if self._socket.fileno() < 0:
            return
        self._stop_sender.close()
        self._thread.join()
        for process in self._processes.values():
            process.close()
        for connection in (*self._connections.values(), self._socket, self._stop_receiver):
            connection.close()
        self._poll.close()
        Path(self._path).unlink(missing_ok=True)
        if self._short_folder is not None:
            shutil.rmtree(self._short_folder, ignore_errors=True)

    def _bind(self) -> socket.socket:
        """Return a socket in the folder; in a short one of our own, if its path is longer than the system allows."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._path = str(self._folder / "turnstile.sock")
            if len(self._path.encode()) > LONGEST_SOCKET:
                self._short_folder = Path(tempfile.mkdtemp(prefix="turnstile-", dir="/tmp"))
                self._path = str(self._short_folder / "turnstile.sock")
            Path(self._path).unlink(missing_ok=True)
            bound = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            bound.bind(self._path)
        except OSError as error:
            raise TurnstileProblem(
                f"can't make the turnstile's socket in {self._folder}: {error}. Name a folder that can be written to,"
                " on a file system that knows sockets"
            ) from error
        bound.listen(256)
        bound.setblocking(False)
        return bound

    # The thread

    def _serve(self) -> None:
        while True:
            for ready, _ in self._poll.poll(self._seconds_to_next_limit()):
                if ready == self._stop_receiver.fileno():
                    return
                if ready == self._socket.fileno():
                    self._accept()
                elif ready in self._connections:
                    self._receive(self._connections[ready])
            with self._lock:
                for process in self._processes.values():
                    process.control.expire()

    def _seconds_to_next_limit(self) -> float | None:
        with self._lock:
            limits = [
                process.control.pause_limit
                for process in self._processes.values()
                if process.control.pause_limit is not None
            ]
        return max(0.0, min(limits) - time.monotonic()) if limits else None

    def _accept(self) -> None:
        # A connection may be gone again before it is accepted.
        with contextlib.suppress(BlockingIOError, ConnectionAbortedError):
            connection, _ = self._socket.accept()
            connection.setblocking(False)
            with self._lock:
                self._connections[connection.fileno()] = connection
                self._receive(connection)  # mostly the message is there already
                if connection.fileno() >= 0:  # else the answer has closed it
                    self._poll.register(connection, select.EPOLLIN)

    def _receive(self, connection: socket.socket) -> None:
        with self._lock:
            if connection.fileno() < 0:
                return  # an answer has closed it meanwhile
            try:
                message = connection.recv(_LONGEST_MESSAGE)
            except BlockingIOError:
                return
            except ConnectionResetError:
                message = b""
            if not message:
                del self._connections[connection.fileno()]
                for process in self._processes.values():
                    process.control.on_disconnect(connection)
                connection.close()
                return
            parsed = parse(message)
            if isinstance(parsed, StorageCall):
                self._processes[parsed.instrumented_process].control.on_call(connection, parsed)
            else:
                for process in self._processes.values():
                    process.control.on_result(connection, *parsed)
