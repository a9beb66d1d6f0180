"""Start and end the two processes of one host: the host, and the host supervisor between it and the harness.

The host supervisor starts the host, keeps its logs, and leaves nothing of it alive (see `docs/host-protocol.md`).
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from delta_adapters import host_supervisor
from delta_adapters.environments import Launch
from delta_adapters.wire import Channel

KILL_TIMEOUT = 30.0
LOG_CAP = 1 << 20
WORK_VARIABLE = "CONFORMANCE_WORK"  # tells a host its private folder


@dataclass(frozen=True, slots=True)
class HostExit:
    """How a host ended, as its host supervisor reports.

    `asked` is whether the host client wanted the end. `killed` counts the processes that had to be killed.
    """

    exit: int | None
    asked: bool
    killed: int
    containment: str


class HostProcess:
    """A running host. `channel` carries requests and replies; `ended` is set once nothing of the host is left."""

    def __init__(self, launch: Launch, work: Path, environment: Mapping[str, str], log_cap: int) -> None:
        self.ended: HostExit | None = None
        self._work = work
        for name in ("stdout.log", "stderr.log", "stdout.log.1", "stderr.log.1"):
            (work / name).unlink(missing_ok=True)
        request_read, request_write = os.pipe()
        reply_read, reply_write = os.pipe()
        control_read, self._control = os.pipe()
        self._status, status_write = os.pipe()
        given_away = (request_read, reply_write, control_read, status_write)
        server = (
            "-m", "delta_adapters.host_server",
            "--read", str(request_read), "--write", str(reply_write), "--work", str(work), launch.adapter,
        ) if launch.adapter else ()  # fmt: skip
        config = {
            "argv": [*launch.command, *server],
            "env": {**launch.environment, **environment, WORK_VARIABLE: str(work)},
            "cwd": str(launch.folder or work),
            "pass": [request_read, reply_write],
            "stdio": not launch.adapter,
            "control": control_read,
            "status": status_write,
            "stdout": str(work / "stdout.log"),
            "stderr": str(work / "stderr.log"),
            "cap": log_cap,
        }
        try:
            with (work / "supervisor.log").open("wb") as log:
                self._supervisor = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(host_supervisor.__file__)],
                    stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=given_away,
                )  # fmt: skip
            assert self._supervisor.stdin is not None  # noqa: S101 - it is a pipe
            # A host supervisor that ended at once is noticed at the first request.
            with contextlib.suppress(BrokenPipeError), self._supervisor.stdin as stdin:
                stdin.write(json.dumps(config).encode())
        finally:
            for descriptor in given_away:
                os.close(descriptor)
        self._kept = (reply_read, request_write, self._status)
        self.channel = Channel(reply_read, request_write, watch=self._status)

    @property
    def supervisor_pid(self) -> int:
        """The process id of the host supervisor: everything of the host descends from it."""
        return self._supervisor.pid

    def stderr_tail(self, length: int) -> str:
        """The end of the host's stderr, or of the host supervisor's log if that ended without a report."""
        lost = self.ended is not None and self.ended.containment == "lost"
        return _tail(self._work / ("supervisor.log" if lost else "stderr.log"), length)

    def kill(self, timeout: float = KILL_TIMEOUT) -> HostExit:
        """End the host and everything that descends from it, and wait until nothing of it is left.

        A host that had ended by itself keeps its exit code.
        """
        if self.ended is None:
            os.close(self._control)
            self._control = -1
            return self.wait(timeout)
        return self.ended

    def wait(self, timeout: float) -> HostExit:
        """Wait for the host supervisor's report. A host supervisor that makes none in time is killed."""
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        report = os.read(self._status, 4096) if poll.poll(timeout * 1000) else b""
        if not report:
            self._supervisor.kill()
        self._supervisor.wait()
        for descriptor in (*self._kept, *((self._control,) if self._control >= 0 else ())):
            os.close(descriptor)
        self._control = -1
        self.ended = (
            HostExit(**json.loads(report))
            if report
            else HostExit(None, asked=False, killed=0, containment="lost")
        )
        return self.ended


def _tail(path: Path, length: int) -> str:
    tail = b""
    for log in (path.with_name(path.name + ".1"), path):
        if log.exists():
            with log.open("rb") as file:
                file.seek(max(0, log.stat().st_size - length))
                tail += file.read()
    return tail[-length:].decode("utf-8", "replace")
