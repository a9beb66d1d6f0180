"""The in-house engine as its adapter runs it, with a count of the lines that it executes.

It is an adapter by its file: `traced_engine.py:TracedPyspark`. The counts are in a file that all traced processes and
the recorder map into their memory, so they outlive a host that is killed in the middle of an operation. The
environment variable MUTATION_LINES names the file.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from delta_adapters.pyspark_engine.adapter import PysparkEngine

VARIABLE = "MUTATION_LINES"
PACKAGE = f"{os.sep}pyspark_delta{os.sep}"
WIDTH = 4  # bytes of a count


class LineCounts:
    """How often each line of the package was executed, in a file that several processes share."""

    def __init__(self, path: Path) -> None:
        self._lengths: dict[str, int] = json.loads(path.with_suffix(".json").read_text("utf-8"))
        self._first: dict[str, int] = {}
        total = 0
        for file, length in self._lengths.items():
            self._first[file] = total - 1  # lines are counted from 1
            total += length
        with path.open("r+b") as file_of_counts:
            self._mapped = mmap.mmap(file_of_counts.fileno(), 0)
        self._counts = memoryview(self._mapped).cast("I")

    @classmethod
    def make(cls, path: Path, package: Path) -> LineCounts:
        """Make the file for the lines of a package, all of them at nought."""
        lengths = {
            source.relative_to(package).as_posix(): source.read_text("utf-8").count("\n") + 1
            for source in sorted(package.rglob("*.py"))
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps(lengths), "utf-8")
        path.write_bytes(bytes(WIDTH * sum(lengths.values())))
        return cls(path)

    def take(self) -> dict[str, dict[int, int]]:
        """Return the lines that were executed since the last call, by file, and count from nought again."""
        taken: dict[str, dict[int, int]] = {}
        for file, length in self._lengths.items():
            first = self._first[file] + 1
            held = {
                line: count for line, count in enumerate(self._counts[first : first + length], 1) if count
            }
            if held:
                taken[file] = held
        self._counts[:] = memoryview(bytes(len(self._mapped))).cast("I")
        return taken

    def follow_calls(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Follow a call into the package, and no other one: a function for `sys.settrace`."""
        del argument
        name = frame.f_code.co_filename
        if event != "call" or PACKAGE not in name:
            return None
        first = self._first.get(name.rpartition(PACKAGE)[2].replace(os.sep, "/"))
        if first is None:
            return None
        counts = self._counts

        def follow(frame: FrameType, event: str, argument: Any) -> Any:
            del argument
            if event == "line":
                counts[first + frame.f_lineno] += 1
            return follow

        return follow


class TracedPyspark(PysparkEngine):
    """The engine, with its lines counted from its start on."""

    def start(self, work: Path) -> None:
        """Start the engine, then trace it."""
        super().start(work)
        counts = LineCounts(Path(os.environ[VARIABLE]))
        sys.settrace(counts.follow_calls)
        threading.settrace(counts.follow_calls)
