"""The controller: answers the shims' questions, by rules, in a thread of the harness; parks, releases and ends actors.

    with Turnstile(work / "turnstile") as turnstile:
        actor = turnstile.actor("A")
        host = Host.start(spec, work / "host", environment=actor.environment()).ready()
        actor.check_instrumented()
        actor.watch(table)
        actor.begin([Rule("commit", Kill("before"))])
        ...                                              # the host executes, and dies
        record = actor.end()

An actor is a process with all that descends from it. Outside of `begin` and `end` its shims are idle.
"""

from __future__ import annotations

import contextlib
import select
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from conformance.fault_injection.instrumented_process import InstrumentedProcess, Place
from conformance.fault_injection.shared_page import LONGEST_SOCKET
from conformance.fault_injection.shim_build import TurnstileProblem, shim
from conformance.fault_injection.storage_events import StorageCall, parse

HOLD_SECONDS = 60.0
_LONGEST_MESSAGE = 16384


class Turnstile:
    """One socket, one thread, any number of actors."""

    def __init__(self, folder: Path, hold_seconds: float = HOLD_SECONDS, library: Path | None = None) -> None:
        library = library or shim()
        self._hold_seconds = hold_seconds
        self._spare: Path | None = None
        self._folder = folder.absolute()
        self._socket = self._bind()
        self._place = Place(self._folder, self._path, library)
        self._actors: dict[str, InstrumentedProcess] = {}
        self.changed = threading.Condition()
        self._waker, self._woken = socket.socketpair()
        self._connections: dict[int, socket.socket] = {}
        self._poll = select.epoll()
        self._poll.register(self._socket, select.EPOLLIN)
        self._poll.register(self._woken, select.EPOLLIN)
        self._thread = threading.Thread(target=self._serve, name="turnstile", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add_process(self, name: str) -> InstrumentedProcess:
        """A new actor; its `environment` makes a process one."""
        with self.changed:
            if name in self._actors:
                raise ValueError(f"there is an actor {name!r} already")
            found = InstrumentedProcess(name, self._place, self.changed, self._hold_seconds)
            self._actors[name] = found
        return found

    def wait(self, met: Callable[[], bool], seconds: float) -> bool:
        """Wait until something that actors do makes `met` true; whether it did in time."""
        with self.changed:
            return self.changed.wait_for(met, seconds)

    def close(self) -> None:
        """Whoever is still parked is ended: nothing may write once nobody watches."""
        if self._socket.fileno() < 0:
            return
        self._waker.close()
        self._thread.join()
        for actor in self._actors.values():
            actor.close()
        for connection in (*self._connections.values(), self._socket, self._woken):
            connection.close()
        self._poll.close()
        Path(self._path).unlink(missing_ok=True)
        if self._spare is not None:
            shutil.rmtree(self._spare, ignore_errors=True)

    def _bind(self) -> socket.socket:
        """A socket in the folder, or where its path is longer than the system allows in a short one of our own."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._path = str(self._folder / "turnstile.sock")
            if len(self._path.encode()) > LONGEST_SOCKET:
                self._spare = Path(tempfile.mkdtemp(prefix="turnstile-", dir="/tmp"))
                self._path = str(self._spare / "turnstile.sock")
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
            for ready, _ in self._poll.poll(self._next_limit()):
                if ready == self._woken.fileno():
                    return
                if ready == self._socket.fileno():
                    self._accept()
                elif ready in self._connections:
                    self._hear(self._connections[ready])
            with self.changed:
                for actor in self._actors.values():
                    actor.expire()

    def _next_limit(self) -> float | None:
        with self.changed:
            limits = [actor.limit for actor in self._actors.values() if actor.limit is not None]
        return max(0.0, min(limits) - time.monotonic()) if limits else None

    def _accept(self) -> None:
        with contextlib.suppress(
            BlockingIOError, ConnectionAbortedError
        ):  # gone again before it was taken in
            connection, _ = self._socket.accept()
            connection.setblocking(False)
            with self.changed:
                self._connections[connection.fileno()] = connection
                self._hear(connection)  # the question is mostly there already
                if connection.fileno() >= 0:  # else nothing more is to be said
                    self._poll.register(connection, select.EPOLLIN)

    def _hear(self, connection: socket.socket) -> None:
        with self.changed:
            if connection.fileno() < 0:
                return  # an actor has hung up meanwhile
            try:
                message = connection.recv(_LONGEST_MESSAGE)
            except BlockingIOError:
                return
            except ConnectionResetError:
                message = b""
            if not message:
                del self._connections[connection.fileno()]
                for actor in self._actors.values():
                    actor.lost(connection)
                connection.close()
                return
            heard = parse(message)
            if isinstance(heard, StorageCall):
                self._actors[heard.instrumented_process].asked(connection, heard)
            else:
                for actor in self._actors.values():
                    actor.done(connection, *heard)
