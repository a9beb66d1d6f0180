"""The coordinator's handle of one worker process: its start, its jobs, the lines that it sends, and its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from conformance.histories import Chunk
from conformance.runner.triage_queue import TriageJob
from conformance.runner.worker import Settings


class WorkerProcess:
    """One worker process and the stream of its events. A `heavy` worker runs engines on a JVM, too."""

    def __init__(self, number: int, work: Path) -> None:
        self.number = number
        self.work = work
        self.heavy = False
        self.job: Chunk | TriageJob | None = None
        self._log = work / "worker.log"
        with self._log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "conformance.runner.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True,
            )  # fmt: skip
        self._unread = b""

    def begin(self, settings: Settings) -> None:
        """Send the settings of the run; the worker asks for chunks from then on."""
        self.heavy = settings.heavy
        self._send(settings.to_line())

    @property
    def events(self) -> IO[bytes]:
        """The stream that its lines come from."""
        assert self.process.stdout is not None  # noqa: S101 - it was asked for
        return self.process.stdout

    def lines(self) -> Iterator[bytes] | None:
        """The lines that have arrived; None at the end of the stream."""
        data = os.read(self.events.fileno(), 1 << 16)
        if not data:
            return None
        *lines, self._unread = (self._unread + data).split(b"\n")
        return iter(lines)

    @property
    def during(self) -> str:
        """What it does, for a message; empty if it does nothing."""
        match self.job:
            case Chunk():
                return f" in chunk {self.job.name}"
            case TriageJob():
                return f" while it was to {self.job.doing} {self.job.sighting}"
        return ""

    def give(self, job: Chunk | TriageJob | None) -> None:
        """Send a job, or the end of the stream if there are no more."""
        self.job = job
        if job is not None:
            self._send(json.dumps({"chunk": job.to_json()} if isinstance(job, Chunk) else job.to_json()))
        elif self.process.stdin is not None:
            self.process.stdin.close()

    def end(self) -> None:
        """Kill the process. Its hosts die with it."""
        self.process.kill()
        self.process.wait()
        self.events.close()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr."""
        return self._log.read_bytes()[-2000:].decode("utf-8", "replace").strip()

    def _send(self, line: str) -> None:
        assert self.process.stdin is not None  # noqa: S101 - it was asked for
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it is dead; the end of its stream tells the coordinator
