"""The harness' side of a host: send it operations and reads, and raise a clear error when the host fails.

    host = HostClient.start(parse_engine("delta-rs"), work)   # returns at once; several hosts start side by side
    host.open(str(folder))                                    # the first call waits until the host is ready
    reply = host.execute(operation, tag="h0s1", timeout=30)
    first, second = a.submit(operation), b.submit(operation)  # two hosts work at the same time
    first.result(), second.result()

`host_process` starts and ends the processes, `wire` carries the frames.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, NoReturn, Self, TypeVar

import pyarrow as pa

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.capabilities import Capabilities
from delta_adapters.contract import CONTRACT_VERSION, Identity, Query
from delta_adapters.environments import Launch, launch_of
from delta_adapters.host_errors import AdapterBug, HostDied, HostError, HostGarbage, HostHung
from delta_adapters.host_process import LOG_CAP, HostExit, HostProcess
from delta_adapters.registry import EngineSpec
from delta_adapters.wire import PROTOCOL, Closed, Disturbed, Frame, Garbage, TooLate
from delta_models.codec import decode, encode
from delta_models.operations import Operation, Read
from delta_models.outcomes import REJECTIONS, Outcome, Rejected
from delta_models.wire_names import name_of, text_of

START_TIMEOUT = 180.0
CALL_TIMEOUT = 120.0
STOP_TIMEOUT = 20.0
TAIL = 4000

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of an operation, and the seconds that the adapter took."""

    outcome: Outcome
    seconds: float


@dataclass(frozen=True, slots=True)
class ReadReply:
    """The rows of a read and, if the engine reports it, their version. Without rows, `outcome` is the reason."""

    table: pa.Table | None
    outcome: Outcome | None
    version: int | None
    seconds: float


class Pending(Generic[Result]):
    """A reply that is still to come."""

    def __init__(self, finish: Callable[[], Result]) -> None:
        self._finish = finish

    def result(self) -> Result:
        """Wait for the reply. Raises what the direct call would raise."""
        return self._finish()


class HostClient:
    """One host, from its start to its end. `restart` starts it again."""

    def __init__(
        self, spec: EngineSpec, launch: Launch, work: Path, environment: Mapping[str, str], log_cap: int
    ) -> None:
        self.spec = spec
        self.work = work
        self.last_operation = ""
        self.answered = 0  # operations and reads that this host process has answered
        self.barren_restarts = 0  # restarts in a row of a host process that had answered nothing
        self.last_end = ""  # how the host failed last, in a few words
        self._launch = launch
        self._environment = environment
        self._log_cap = log_cap
        self._identity: Identity | None = None
        self._capabilities: Capabilities | None = None
        self._calls = 0
        self._in_flight: int | None = None
        self._begin()

    @classmethod
    def start(
        cls,
        spec: EngineSpec,
        work: Path,
        *,
        environment: Mapping[str, str] | None = None,
        log_cap: int = LOG_CAP,
    ) -> HostClient:
        """Start a host and return its client at once. The first call, or `ready`, waits for the host.

        `work` becomes the host's private folder, with its logs. `environment` is added to the environment of the
        host, for instance to preload the shim; the host supervisor does not get it.
        """
        work.mkdir(parents=True, exist_ok=True)
        return cls(spec, launch_of(spec), work.absolute(), dict(environment or {}), log_cap)

    # The engine and its processes

    @property
    def identity(self) -> Identity:
        """The engine's name and version, as the adapter reports them."""
        self.ready()
        assert self._identity is not None  # noqa: S101 - `ready` has set it
        return self._identity

    @property
    def capabilities(self) -> Capabilities:
        """What the engine claims, validated."""
        self.ready()
        assert self._capabilities is not None  # noqa: S101 - `ready` has set it
        return self._capabilities

    @property
    def ended(self) -> HostExit | None:
        """How the host ended; None while the client has not noticed an end."""
        return self._process.ended

    @property
    def alive(self) -> bool:
        """Whether the client has not noticed an end of the host."""
        return self.ended is None

    @property
    def busy(self) -> bool:
        """Whether the host still owes an answer."""
        return self.alive and self._in_flight is not None

    @property
    def supervisor_pid(self) -> int:
        """The process id of the host supervisor: everything of the host descends from it."""
        return self._process.supervisor_pid

    def ready(self, timeout: float = START_TIMEOUT) -> Self:
        """Wait until the adapter has started and has reported its identity and capabilities."""
        if self._identity is None:
            self._finish_start(timeout)
        return self

    def stderr_tail(self, length: int = TAIL) -> str:
        """The end of the host's stderr, or of the host supervisor's log if that ended without a report."""
        return self._process.stderr_tail(length)

    # Requests

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
        number = self._send("read", _description(read), {"operation": encode(read)}, timeout)
        deadline = time.monotonic() + timeout
        return Pending(lambda: self._finish_read(number, deadline, timeout))

    def execute(self, operation: Operation, tag: str = "", timeout: float = CALL_TIMEOUT) -> Reply:
        """Perform an operation that changes the table."""
        return self.submit(operation, tag, timeout).result()

    def read(self, read: Query, timeout: float = CALL_TIMEOUT) -> ReadReply:
        """Read rows."""
        return self.submit_read(read, timeout).result()

    # Ends

    def restart(self) -> Self:
        """Kill the host and start a new one. A table must then be opened again."""
        self.kill()
        self._identity = self._capabilities = None
        self.last_operation = ""
        self.barren_restarts = 0 if self.answered else self.barren_restarts + 1
        self.answered = 0
        self._begin()
        return self

    def close(self) -> None:
        """Ask the host to stop, and kill it if it does not."""
        if self.ended is None and self._identity is not None and self._in_flight is None:
            with contextlib.suppress(HostError):  # `kill` below is all that `close` promises
                self._call("stop", "stop", {}, STOP_TIMEOUT)
                self._process.wait(STOP_TIMEOUT)
        self.kill()

    def kill(self) -> HostExit:
        """End the host and everything that descends from it, and return when nothing of it is left."""
        return self._process.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill() if kind else self.close()

    # The handshake

    def _begin(self) -> None:
        self._process = HostProcess(self._launch, self.work, self._environment, self._log_cap)
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
        self._identity = _of_build(identity, self.spec.build)

    # Frames

    @property
    def _name(self) -> str:
        return str(self._identity or self.spec)

    def _call(self, call: str, description: str, form: dict[str, Any], timeout: float) -> Frame:
        deadline = time.monotonic() + timeout
        return self._receive(self._send(call, description, form, timeout), deadline, timeout)

    def _send(self, call: str, description: str, form: dict[str, Any], timeout: float) -> int:
        self._require_life()
        if self._in_flight is not None:
            raise RuntimeError(
                f"the host of {self._name} is still busy: take the result of {self.last_operation!r} first"
            )
        self._calls += 1
        self.last_operation = description
        self._in_flight = self._calls
        try:
            request = {"call": call, "id": self._calls, **form}
            self._process.channel.send(request, deadline=time.monotonic() + timeout)
        except (Closed, Disturbed) as error:
            self._fail_dead(error)
        except TooLate as error:
            self._fail_hung(timeout, error)
        return self._calls

    def _receive(self, number: int, deadline: float, timeout: float) -> Frame:
        self._require_life()
        try:
            frame = self._process.channel.receive(deadline)
        except (Closed, Disturbed) as error:
            self._fail_dead(error)
        except TooLate as error:
            self._fail_hung(timeout, error)
        except Garbage as error:
            self._fail_garbage(str(error), error)
        if frame.header.get("id") != number:
            self._fail_garbage(f"an answer to request {frame.header.get('id')!r}, request {number} was asked")
        self._in_flight = None
        if "bug" in frame.header:
            self.last_end = f"reported a bug of its adapter, {frame.header['bug'].get('type')}"
            raise AdapterBug(self._name, frame.header["bug"], self.last_operation, self.stderr_tail())
        return frame

    def _finish_execute(self, number: int, deadline: float, timeout: float) -> Reply:
        header = self._receive(number, deadline, timeout).header
        self.answered += 1
        try:
            outcome = _outcome_in(header)
            return Reply(outcome, float(header["seconds"]))
        except (KeyError, TypeError, ValueError) as error:  # a CodecError too
            self._fail_garbage(f"an answer that is none: {error!r}", error)

    def _finish_read(self, number: int, deadline: float, timeout: float) -> ReadReply:
        frame = self._receive(number, deadline, timeout)
        self.answered += 1
        header = frame.header
        try:
            if "rows" in header:
                rows = decode(header["rows"])
                return ReadReply(to_arrow(rows), None, header.get("version"), float(header["seconds"]))
            if not frame.parts:
                return ReadReply(None, _outcome_in(header), None, float(header["seconds"]))
            table = pa.ipc.open_stream(pa.py_buffer(frame.parts[0])).read_all()
            return ReadReply(table, None, header["version"], float(header["seconds"]))
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
        ) as error:  # CodecError, ArrowInvalid too
            self._fail_garbage(f"an answer that is none: {error!r}", error)

    # Failures

    def _require_life(self) -> None:
        if self.ended is not None:
            raise HostDied(self._name, self.ended.exit, self.last_operation, self.stderr_tail())

    def _fail_dead(self, error: Exception) -> NoReturn:
        """Raise HostDied: the host closed its end, or the host supervisor reported its end.

        A host that lives on without its end of the pipe is of no use, so it is killed as well.
        """
        ended = self.kill()
        self._fail(HostDied(self._name, ended.exit, self.last_operation, self.stderr_tail()), error)

    def _fail_hung(self, timeout: float, error: Exception) -> NoReturn:
        self.kill()
        self._fail(HostHung(self._name, timeout, self.last_operation, self.stderr_tail()), error)

    def _fail_garbage(self, detail: str, error: Exception | None = None) -> NoReturn:
        self.kill()
        self._fail(HostGarbage(self._name, detail, self.last_operation, self.stderr_tail()), error)

    def _fail(self, failure: HostError, cause: Exception | None) -> NoReturn:
        self.last_end = f"{failure.what} in {self.last_operation}"
        raise failure from cause


def _outcome_in(header: Mapping[str, Any]) -> Outcome:
    """The outcome in a reply. Raises KeyError, TypeError or CodecError if there is none."""
    outcome = decode(header["outcome"])
    if not isinstance(outcome, Outcome):
        raise TypeError(f"{outcome!r:.200} where an outcome was expected")
    if isinstance(outcome, Rejected) and outcome.kind not in REJECTIONS:
        raise TypeError(f"a rejection of unknown kind {outcome.kind!r}")
    return outcome


def _of_build(identity: Identity, build: str) -> Identity:
    """The identity of an unreleased build: its version with the digest of its content, as PEP 440 writes it."""
    if not build:
        return identity
    return replace(identity, version=f"{identity.version}{'.' if '+' in identity.version else '+'}{build}")


def _description(query: Query) -> str:
    return f"read {text_of(query.at)}" if isinstance(query, Read) else name_of(query)
