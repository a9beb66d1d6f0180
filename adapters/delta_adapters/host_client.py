"""The harness' side of a host: start it, ask it, take it down, and say clearly what happened when it went wrong.

    host = Host.start(parse_engine("delta-rs"), work)      # at once; several start side by side
    host.open(str(folder))                               # the first call waits until the host is ready
    reply = host.execute(operation, tag="h0s1", timeout=30)
    first, second = a.submit(operation), b.submit(operation)  # two hosts at work at once
    first.result(), second.result()

Between the harness and the host stands a supervisor process (`warden`), which leaves nothing of the host alive.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, NoReturn, Self, TypeVar

import pyarrow as pa

from delta_adapters import host_supervisor
from delta_adapters.capabilities import Capabilities
from delta_adapters.contract import CONTRACT_VERSION, Identity, Query
from delta_adapters.environments import Launch, launch_of
from delta_adapters.host_errors import AdapterBug, HostDied, HostError, HostGarbage, HostHung
from delta_adapters.registry import EngineSpec
from delta_adapters.wire import PROTOCOL, Channel, Closed, Disturbed, Frame, Garbage, TooLate
from delta_models.codec import CodecError, decode, encode
from delta_models.operations import Operation, Read
from delta_models.outcomes import Outcome
from delta_models.wire_names import name_of, text_of

START_TIMEOUT = 180.0
CALL_TIMEOUT = 120.0
STOP_TIMEOUT = 20.0
KILL_TIMEOUT = 30.0
LOG_CAP = 1 << 20
TAIL = 4000

Answered = TypeVar("Answered")


@dataclass(frozen=True, slots=True)
class Reply:
    """What an engine answered to an operation, and the seconds that its adapter took."""

    outcome: Outcome
    seconds: float


@dataclass(frozen=True, slots=True)
class ReadReply:
    """The rows of a read and their version if the engine says so; or no rows, and the outcome that says why."""

    table: pa.Table | None
    outcome: Outcome | None
    version: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class HostExit:
    """How a host ended, as its supervisor reports. `killed` counts the processes that had to be killed."""

    exit: int | None
    asked: bool
    killed: int
    containment: str


class Pending(Generic[Answered]):
    """An answer that is still to come."""

    def __init__(self, finish: Callable[[], Answered]) -> None:
        self._finish = finish

    def result(self) -> Answered:
        """Wait for the answer; raises what the direct call would raise."""
        return self._finish()


class HostClient:
    """One host, from its start to its end; start it again with `restart`."""

    def __init__(
        self, spec: EngineSpec, launch: Launch, work: Path, environment: Mapping[str, str], log_cap: int
    ) -> None:
        self.spec = spec
        self.work = work
        self.ended: HostExit | None = None
        self.last_operation = ""
        self._launch = launch
        self._environment = environment
        self._log_cap = log_cap
        self._identity: Identity | None = None
        self._capabilities: Capabilities | None = None
        self._calls = 0
        self._in_flight: int | None = None
        self._control = -1
        self._spawn()

    @classmethod
    def start(
        cls,
        spec: EngineSpec,
        work: Path,
        *,
        environment: Mapping[str, str] | None = None,
        log_cap: int = LOG_CAP,
    ) -> HostClient:
        """Start a host; `work` becomes its private folder, logs included. The first call waits for it, or `ready`.

        `environment` is added to the host's own (a preloaded shim, for one); the supervisor does not get it.
        """
        work.mkdir(parents=True, exist_ok=True)
        return cls(spec, launch_of(spec), work.absolute(), dict(environment or {}), log_cap)

    # What it is

    @property
    def identity(self) -> Identity:
        """Name and version, as the adapter itself says."""
        self.ready()
        assert self._identity is not None  # noqa: S101 - `ready` has set it
        return self._identity

    @property
    def capabilities(self) -> Capabilities:
        """What the engine claims to be able to do, validated."""
        self.ready()
        assert self._capabilities is not None  # noqa: S101 - `ready` has set it
        return self._capabilities

    @property
    def alive(self) -> bool:
        """Whether it has not been seen to end."""
        return self.ended is None

    @property
    def supervisor_pid(self) -> int:
        """The process above the host: everything of the host descends from it."""
        return self._warden.pid

    def ready(self, timeout: float = START_TIMEOUT) -> Self:
        """Wait until the adapter has started and said who it is."""
        if self._identity is None:
            self._finish_start(timeout)
        return self

    def stderr_tail(self, length: int = TAIL) -> str:
        """The last words on its stderr; of its supervisor if that failed without a report."""
        lost = self.ended is not None and self.ended.containment == "lost"
        return _tail(self.work / ("supervisor.log" if lost else "stderr.log"), length)

    # What it is asked

    def open(self, location: str, timeout: float = CALL_TIMEOUT) -> None:
        """Address the table at this path from now on, cold."""
        self.submit_open(location, timeout).result()

    def submit_open(self, location: str, timeout: float = CALL_TIMEOUT) -> Pending[None]:
        """Begin to address the table at this path."""
        self.ready()
        number = self._send("open", f"open {location}", {"location": location}, timeout)
        deadline = time.monotonic() + timeout

        def finish() -> None:
            self._receive(number, deadline, timeout)

        return Pending(finish)

    def submit(self, operation: Operation, tag: str = "", timeout: float = CALL_TIMEOUT) -> Pending[Reply]:
        """Begin an operation that changes the table."""
        self.ready()
        form = {"operation": encode(operation), "tag": tag}
        number = self._send("execute", f"execute {name_of(operation)} {tag}".rstrip(), form, timeout)
        deadline = time.monotonic() + timeout
        return Pending(lambda: self._finish_execute(number, deadline, timeout))

    def submit_read(self, read: Query, timeout: float = CALL_TIMEOUT) -> Pending[ReadReply]:
        """Begin a read."""
        self.ready()
        number = self._send("read", _in_words(read), {"operation": encode(read)}, timeout)
        deadline = time.monotonic() + timeout
        return Pending(lambda: self._finish_read(number, deadline, timeout))

    def execute(self, operation: Operation, tag: str = "", timeout: float = CALL_TIMEOUT) -> Reply:
        """Perform an operation that changes the table."""
        return self.submit(operation, tag, timeout).result()

    def read(self, read: Query, timeout: float = CALL_TIMEOUT) -> ReadReply:
        """Read rows."""
        return self.submit_read(read, timeout).result()

    # How it ends

    def restart(self) -> Self:
        """Kill what is there and start afresh; a table must be opened anew."""
        self.kill()
        self._identity = self._capabilities = None
        self.ended = None
        self.last_operation = ""
        self._spawn()
        return self

    def close(self) -> None:
        """Let it stop by itself, and kill it if it does not."""
        if self.ended is None and self._identity is not None and self._in_flight is None:
            with contextlib.suppress(HostError):  # it is killed below, which is all that close promises
                self._call("stop", "stop", {}, STOP_TIMEOUT)
                self._await_end(STOP_TIMEOUT)
        self.kill()

    def kill(self) -> HostExit:
        """End it and everything that descends from it, at once; returns when nothing of it is left."""
        if self.ended is None:
            self._end(KILL_TIMEOUT)
        assert self.ended is not None  # noqa: S101 - `_await_end` has set it
        return self.ended

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill() if kind else self.close()

    # Starting

    def _spawn(self) -> None:
        for name in ("stdout.log", "stderr.log", "stdout.log.1", "stderr.log.1"):
            (self.work / name).unlink(missing_ok=True)
        request_read, request_write = os.pipe()
        reply_read, reply_write = os.pipe()
        control_read, self._control = os.pipe()
        self._status, status_write = os.pipe()
        theirs = (request_read, reply_write, control_read, status_write)
        argv = [
            *self._launch.command,
            "-m", "delta_adapters.host_server",
            "--read", str(request_read), "--write", str(reply_write), "--work", str(self.work), self._launch.adapter,
        ]  # fmt: skip
        config = {
            "argv": argv,
            "env": {**self._launch.environment, **self._environment},
            "cwd": str(self.work),
            "pass": [request_read, reply_write],
            "control": control_read,
            "status": status_write,
            "stdout": str(self.work / "stdout.log"),
            "stderr": str(self.work / "stderr.log"),
            "cap": self._log_cap,
        }
        try:
            with (self.work / "supervisor.log").open("wb") as log:
                self._warden = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(host_supervisor.__file__)],
                    stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=theirs,
                )  # fmt: skip
            assert self._warden.stdin is not None  # noqa: S101 - it was asked for
            with contextlib.suppress(BrokenPipeError), self._warden.stdin as stdin:  # its silence tells later
                stdin.write(json.dumps(config).encode())
        finally:
            for their in theirs:
                os.close(their)
        self._ours = (reply_read, request_write, self._status)
        self._channel = Channel(reply_read, request_write, watch=self._status)
        self._in_flight = None
        self._hello = self._send(
            "hello", "start", {"protocol": PROTOCOL, "contract": CONTRACT_VERSION}, START_TIMEOUT
        )

    def _finish_start(self, timeout: float) -> None:
        header = self._receive(self._hello, time.monotonic() + timeout, timeout).header
        if "refused" in header:
            theirs = header["refused"]
            ours = {"protocol": PROTOCOL, "contract": CONTRACT_VERSION}
            self.kill()
            detail = f"it speaks {theirs}, the harness {ours}"
            raise HostGarbage(self._name, detail, self.last_operation, self.stderr_tail())
        try:
            form = header["identity"]
            identity = Identity(**{**form, "compatible_with": tuple(form.get("compatible_with", ()))})
            self._capabilities = Capabilities.validated(header["capabilities"], str(identity))
        except (KeyError, TypeError, ValueError) as error:
            self.kill()
            bug = {"type": type(error).__name__, "message": str(error), "traceback": ""}
            raise AdapterBug(self._name, bug, self.last_operation, self.stderr_tail()) from error
        self._identity = identity

    # Talking

    @property
    def _name(self) -> str:
        return str(self._identity or self.spec)

    def _call(self, call: str, words: str, form: dict[str, Any], timeout: float) -> Frame:
        deadline = time.monotonic() + timeout
        return self._receive(self._send(call, words, form, timeout), deadline, timeout)

    def _send(
        self, call: str, words: str, form: dict[str, Any], timeout: float, parts: Sequence[memoryview] = ()
    ) -> int:
        if self.ended is not None:
            raise HostDied(self._name, self.ended.exit, self.last_operation, self.stderr_tail())
        if self._in_flight is not None:
            raise RuntimeError(
                f"the host of {self._name} is still busy: take the result of {self.last_operation!r} first"
            )
        self._calls += 1
        self.last_operation = words
        self._in_flight = self._calls
        try:
            self._channel.send({"call": call, "id": self._calls, **form}, parts, time.monotonic() + timeout)
        except (Closed, Disturbed) as error:
            self._died(error)
        except TooLate as error:
            self._hung(timeout, error)
        return self._calls

    def _receive(self, number: int, deadline: float, timeout: float) -> Frame:
        if self.ended is not None:
            raise HostDied(self._name, self.ended.exit, self.last_operation, self.stderr_tail())
        try:
            frame = self._channel.receive(deadline)
        except (Closed, Disturbed) as error:
            self._died(error)
        except TooLate as error:
            self._hung(timeout, error)
        except Garbage as error:
            self._garbage(str(error), error)
        if frame.header.get("id") != number:
            self._garbage(f"an answer to request {frame.header.get('id')!r}, request {number} was asked")
        self._in_flight = None
        if "bug" in frame.header:
            raise AdapterBug(self._name, frame.header["bug"], self.last_operation, self.stderr_tail())
        return frame

    def _finish_execute(self, number: int, deadline: float, timeout: float) -> Reply:
        header = self._receive(number, deadline, timeout).header
        try:
            return Reply(decode(header["outcome"]), float(header["seconds"]))
        except (KeyError, TypeError, CodecError) as error:
            self._garbage(f"an answer that is none: {error!r}", error)

    def _finish_read(self, number: int, deadline: float, timeout: float) -> ReadReply:
        frame = self._receive(number, deadline, timeout)
        header = frame.header
        try:
            if not frame.parts:
                return ReadReply(None, decode(header["outcome"]), None, float(header["seconds"]))
            table = pa.ipc.open_stream(pa.py_buffer(frame.parts[0])).read_all()
            return ReadReply(table, None, header["version"], float(header["seconds"]))
        except (KeyError, TypeError, CodecError, pa.ArrowInvalid) as error:
            self._garbage(f"an answer that is none: {error!r}", error)

    # Ending badly

    def _died(self, error: Exception) -> NoReturn:
        """It closed its end, or the supervisor reported. A host that lives on without its end is of no use either."""
        self._end(KILL_TIMEOUT)
        assert self.ended is not None  # noqa: S101 - `_end` has set it
        raise HostDied(self._name, self.ended.exit, self.last_operation, self.stderr_tail()) from error

    def _hung(self, timeout: float, error: Exception) -> NoReturn:
        self.kill()
        raise HostHung(self._name, timeout, self.last_operation, self.stderr_tail()) from error

    def _garbage(self, detail: str, error: Exception | None = None) -> NoReturn:
        self.kill()
        raise HostGarbage(self._name, detail, self.last_operation, self.stderr_tail()) from error

    def _end(self, timeout: float) -> None:
        """Have everything killed that is left; the exit code of a host that had died by itself is not lost by it."""
        os.close(self._control)
        self._control = -1
        self._await_end(timeout)

    def _await_end(self, timeout: float) -> None:
        """Take in the supervisor's report; a supervisor that makes none is killed itself."""
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        report = os.read(self._status, 4096) if poll.poll(timeout * 1000) else b""
        if not report:
            self._warden.kill()
        self._warden.wait()
        for our in (*self._ours, *((self._control,) if self._control >= 0 else ())):
            os.close(our)
        self._control = -1
        self.ended = (
            HostExit(**json.loads(report))
            if report
            else HostExit(None, asked=False, killed=0, containment="lost")
        )


def _in_words(look: Query) -> str:
    if not isinstance(look, Read):
        return name_of(look)
    return f"read {text_of(look.at)}"


def _tail(path: Path, length: int) -> str:
    kept = b""
    for each in (path.with_name(path.name + ".1"), path):
        if each.exists():
            with each.open("rb") as file:
                file.seek(max(0, each.stat().st_size - length))
                kept += file.read()
    return kept[-length:].decode("utf-8", "replace")
