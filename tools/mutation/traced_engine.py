"""The in-house engine as its adapter runs it, with a record of the lines that each chunk of a run executes.

It is an adapter by its file: `traced_engine.py:TracedPyspark`. The folder for the records is named by the environment
variable MUTATION_LINES. The tag of an operation begins with the name of its chunk, so an operation, and the reads that
follow it, count for that chunk.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from delta_adapters.pyspark_engine.adapter import PysparkEngine
from delta_models.operations import Operation
from delta_models.outcomes import Outcome

FOLDER = "MUTATION_LINES"
PACKAGE = f"{os.sep}pyspark_delta{os.sep}"


class LineRecord:
    """The lines of the package that were executed, by chunk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._chunk = ""
        self._lines: Counter[tuple[str, int]] = Counter()

    def begin(self, chunk: str) -> None:
        """Count for another chunk from now on."""
        if chunk != self._chunk:
            self.write()
            self._chunk, self._lines = chunk, Counter()

    def write(self) -> None:
        """Write down what the chunk executed so far."""
        if self._chunk:
            lines = [[file, line, count] for (file, line), count in sorted(self._lines.items())]
            path = self._folder / f"{self._chunk}.{os.getpid()}.json"
            path.write_text(json.dumps({"chunk": self._chunk, "lines": lines}), "utf-8")

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Follow a call into the package, and no other one."""
        del argument
        if event == "call":
            return self._follow if PACKAGE in frame.f_code.co_filename else None
        return None

    def _follow(self, frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        if event == "line":
            file = frame.f_code.co_filename.rpartition(PACKAGE)[2].replace(os.sep, "/")
            self._lines[file, frame.f_lineno] += 1
        return self._follow


class TracedPyspark(PysparkEngine):
    """The engine, with its lines recorded from its start on."""

    def start(self, work: Path) -> None:
        """Start the engine, then trace it: a session's start executes the same lines for all chunks."""
        super().start(work)
        self._record = LineRecord(Path(os.environ[FOLDER]))
        sys.settrace(self._record)
        threading.settrace(self._record)

    def execute(self, operation: Operation, tag: str) -> Outcome:
        """Perform an operation, for the chunk that its tag names."""
        self._record.begin("-".join(tag.split("-")[:2]))
        outcome = super().execute(operation, tag)
        self._record.write()
        return outcome

    def stop(self) -> None:
        """Write the last record, and stop the engine."""
        self._record.write()
        super().stop()
