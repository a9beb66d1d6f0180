"""Adapters that fail, each in one way, to test how the harness copes. `Honest` is their well-behaved base."""

import ctypes
import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from delta_adapters.contract import Answer, Identity
from delta_models.operations import Operation, Read
from delta_models.outcomes import Committed, Outcome


def table(*ids: int) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow to import, and few of these tests read

    return pa.table({"id": pa.array(ids)})


class Honest:
    """Commits everything, and reads two rows."""

    identity = Identity("tiny", "1.0", "https://example.org", "https://example.org/issues")
    capabilities: Mapping[str, Any] = {
        "format": 1,
        "operations": {"Append": {}, "Read": {}},
        "types": {"data": ["long"], "partition": []},
        "features": {"read": [], "write": []},
        "storages": ["local"],
        "guarantees": {"commits-of-several-processes-on-local-files": False},
    }

    def start(self, work: Path) -> None:
        self.work = work

    def open(self, location: str) -> None:
        self.location = location

    def execute(self, operation: Operation, tag: str) -> Outcome:
        return Committed()

    def read(self, read: Read) -> Answer | Outcome:
        return Answer(table(1, 2), 7)

    def stop(self) -> None:
        (self.work / "stopped").touch()


class Segfaults(Honest):
    """Reads a null pointer, after some last words."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        os.write(2, b"about to follow a null pointer\n")
        ctypes.string_at(0)
        return Committed()


class Hangs(Honest):
    """Never answers."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        threading.Event().wait()
        return Committed()


class HangsAtStart(Honest):
    """Never says hello."""

    def start(self, work: Path) -> None:
        threading.Event().wait()


class DiesAtStart(Honest):
    """Ends before it says hello."""

    def start(self, work: Path) -> None:
        os.write(2, b"no licence found\n")
        os._exit(3)


class PrintsGarbage(Honest):
    """Prints bytes that look like nothing, and like frames, on its stdout."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        os.write(1, b"DCW1\xff\xff\xff\xff{]" + os.urandom(4096))
        return Committed()


class WritesOnTheWire(Honest):
    """Writes to every descriptor it finds, as a confused native library might."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"Segmentation fault? No, just a log line.\n" * 10)
            except OSError:
                continue
        return Committed()


class ClosesEverything(Honest):
    """Closes every descriptor, as some daemon libraries do, and lives on."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        os.closerange(3, 256)
        threading.Event().wait()
        return Committed()


class FloodsStderr(Honest):
    """Writes 100 MB on its stderr."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        block = b"x" * 999_999 + b"\n"
        for _ in range(100):
            left = memoryview(block)
            while left:
                left = left[os.write(2, left) :]
        os.write(2, b"the very last words\n")
        return Committed()


class Raises(Honest):
    """Raises an exception of its own."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcomes: dict[str, Outcome] = {}
        return outcomes["the adapter's own slip"]

    def read(self, read: Read) -> Answer | Outcome:
        return Answer(table(1))


class WrongTypes(Honest):
    """Answers with types that the contract does not allow."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        return "done, I think"  # type: ignore[return-value]

    def read(self, read: Read) -> Answer | Outcome:
        return Answer({"id": [1]})


class ClaimsNonsense(Honest):
    """Its capability document follows no schema."""

    capabilities: Mapping[str, Any] = {**Honest.capabilities, "storages": ["the cloud"]}


class DiesLater(Honest):
    """Answers, then ends by itself before the next request."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
        return Committed()


class Daemonises(Honest):
    """Starts a daemon that leaves the session, the process group and its parent, and a child that ignores signals.

    Their process ids go into `pids`. The daemon keeps every descriptor open that it can.
    """

    def execute(self, operation: Operation, tag: str) -> Outcome:
        for levels in (2, 0):
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                for _ in range(levels):
                    os.setsid()
                    if os.fork():
                        os._exit(0)
                for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                    signal.signal(number, signal.SIG_IGN)
                with (self.work / "pids").open("a") as file:
                    file.write(f"{os.getpid()}\n")
                os.write(writer, b"!")
                threading.Event().wait()
            os.read(reader, 1)
            os.close(reader)
            os.close(writer)
        return Committed()


class DaemonisesAndDies(Daemonises):
    """The same, and then the host itself ends."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        super().execute(operation, tag)
        os._exit(9)
