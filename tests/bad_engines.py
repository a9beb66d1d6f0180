"""Engines that fail in the middle of a run, each in one way. They are honest until their fatal operation.

All but those that say so pass the smoke test: they do not count what they are asked at its table.
"""

import ctypes
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from delta_adapters.contract import Answer, Identity, Query
from delta_adapters.reference import Reference
from delta_adapters.smoke import TABLE
from delta_models.operations import Append, Operation
from delta_models.outcomes import Committed, Outcome

FATAL = 2


class Honest(Reference):
    """An honest engine that calls `fatal` in its second operation."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.tested = False

    def open(self, location: str) -> None:
        self.tested = Path(location).name == TABLE
        super().open(location)

    @property
    def identity(self) -> Identity:
        return Identity(
            type(self).__name__.lower(), "1.0", "https://example.org", "https://example.org/issues"
        )

    def execute(self, operation: Operation, tag: str) -> Outcome:
        self.calls += not self.tested
        if self.calls == FATAL and not self.tested:
            self.fatal()
        return super().execute(operation, tag)

    def fatal(self) -> None:
        """Fail, in the way of the subclass."""


class Segfaults(Honest):
    """Writes a line to stderr and follows a null pointer."""

    def fatal(self) -> None:
        os.write(2, b"about to follow a null pointer\n")
        ctypes.string_at(0)


class Hangs(Honest):
    """Never answers."""

    def fatal(self) -> None:
        threading.Event().wait()


class PrintsGarbage(Honest):
    """Prints random bytes on its stdout and goes on: its stdout is a log."""

    def fatal(self) -> None:
        os.write(1, b"DCW1\xff\xff\xff\xff{]" + os.urandom(4096))


class FloodsStderr(Honest):
    """Writes 50 MB on its stderr, and goes on."""

    def fatal(self) -> None:
        block = b"x" * 999_999 + b"\n"
        for _ in range(50):
            left = memoryview(block)
            while left:
                left = left[os.write(2, left) :]


class AnswersNonsense(Honest):
    """Answers an operation with a sentence."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(operation, tag)
        return "went well" if self.calls == FATAL and not self.tested else outcome  # type: ignore[return-value]


class TextForNumbers(Honest):
    """Reads every column as text."""

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        if self.tested or not isinstance(answer, Answer):
            return answer
        columns = [pa.array(["?"] * answer.table.num_rows) for _ in answer.table.column_names]
        return Answer(pa.table(columns, names=answer.table.column_names), answer.version)


class DiesAtStart(Honest):
    """Exits before its hello."""

    def start(self, work: Path) -> None:
        os.write(2, b"no licence found\n")
        os._exit(3)


class Lies(Honest):
    """Reports `committed` for an append, and appends nothing."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        if isinstance(operation, Append) and operation.rows.rows and not self.tested:
            return Committed()
        return super().execute(operation, tag)


class FailsSmoke(Honest):
    """Reads no rows, ever."""

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        return Answer(answer.table.slice(0, 0), answer.version) if isinstance(answer, Answer) else answer


class DiesAtEveryTable(Honest):
    """Passes the smoke test, and dies whenever it opens another table."""

    def open(self, location: str) -> None:
        super().open(location)
        if not self.tested:
            os.write(2, b"no memory for a table\n")
            os._exit(9)


class DiesInRaces(Honest):
    """Dies whenever it opens a table of a race, and notes each of its starts in the file that STARTS names."""

    def start(self, work: Path) -> None:
        super().start(work)
        with Path(os.environ["STARTS"]).open("a") as file:
            file.write("started\n")

    def open(self, location: str) -> None:
        super().open(location)
        if "orders" in Path(location).parts:
            os._exit(9)


class DiesAtEveryAppend(Honest):
    """Creates tables, and dies at each append of rows."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        if isinstance(operation, Append) and not self.tested:
            os._exit(9)
        return super().execute(operation, tag)


class KillsTheHarnessInTriage(Lies):
    """Lies, and kills its worker as soon as a history is played again."""

    def open(self, location: str) -> None:
        super().open(location)
        if "triage" in Path(location).parts:
            kill_the_worker()


class HangsInTriage(Lies):
    """Lies, and takes a minute when a history is played again."""

    def open(self, location: str) -> None:
        super().open(location)
        if "triage" in Path(location).parts:
            time.sleep(60)


class LiesOnce(Lies):
    """Lies, but never when a history is played again."""

    def __init__(self) -> None:
        super().__init__()
        self.again = False

    def open(self, location: str) -> None:
        super().open(location)
        self.again = "triage" in Path(location).parts

    def execute(self, operation: Operation, tag: str) -> Outcome:
        return Reference.execute(self, operation, tag) if self.again else super().execute(operation, tag)


class NeverUpdates(Honest):
    """Claims only to create, to append and to read."""

    @property
    def capabilities(self) -> Mapping[str, Any]:
        claimed = super().capabilities
        kept = {
            name: options
            for name, options in claimed["operations"].items()
            if name in {"Create", "Append", "Read"}
        }
        return {**claimed, "operations": kept}


class KillsTheHarness(Honest):
    """Kills its worker: the host's parent is its host supervisor, and the parent of that is the worker."""

    def fatal(self) -> None:
        kill_the_worker()


def kill_the_worker() -> None:
    """Kill the parent of the host supervisor."""
    supervisor = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
    os.kill(int(supervisor[1]), 9)
