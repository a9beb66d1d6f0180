"""Counts how often control passes between modules of `conformance` while one append is executed.

python tools/profile_append.py [--at-most SWITCHES OUTSIDE] [--sequence]

The step is an Append of two rows to a table that a Create and an Append have made. It is measured from the suite's call
to the account of the history until the results of the step are recorded. The reference engine answers in this process.
Drawing, the command line, workers and the report are left out. One read of an older state follows the append, so that
the walk has an extra read in it.

As in the audit of main 61b1528, a switch is a call of a function in another module of `conformance` than the last call
was in. Returns do not count, nor do lambdas, comprehensions and methods that dataclasses generate.

What it prints, and its figures on 61b1528 (the audit has the same 143 and 47):

    switches between modules of conformance        143
    of them between flat modules alone              47   the modules directly in conformance/, others passed over
    outside of checks and events                    47   modules of checks and events passed over, then counted
    of them with neither end in checks or events    45
    distinct modules                                36

Issue 14 asks for at most 60 switches, and at most 15 outside of checks and events. Only `staged_step` names classes of
the harness; after a refactoring only that function is adapted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import groupby, pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import conformance
from delta_models.operations import Append, Create
from delta_models.schema import LONG, STRING, Field, Struct
from delta_models.values import Rows

TOO_MANY = 1
SEED = 1  # with this one the measured step is followed by a read of an older state


def staged_step(folder: Path) -> tuple[Callable[[Any], None], Callable[[], int]]:
    """A function that executes one operation as a suite does, and one that says how often the engine was called.

    This is the part that depends on names of the harness.
    """
    engine_sessions, history_recorders, table_sessions, findings, histories = (
        import_module(f"conformance.{name}")
        for name in (
            "execution.engine_session",
            "execution.history_recorder",
            "execution.table_session",
            "findings.recorder",
            "histories",
        )
    )
    client = import_module("delta_adapters.host_client")
    adapter = import_module("delta_adapters.reference").Reference()
    capabilities = import_module("delta_adapters.capabilities").Capabilities
    answer_type = import_module("delta_adapters.contract").Answer
    calls = 0

    class InProcess:
        """What an engine session asks of a host, answered by the adapter at once."""

        @staticmethod
        def submit_open(location: str, _timeout: float = 0) -> Any:
            return client.Pending(lambda: adapter.open(location))

        @staticmethod
        def submit(operation: Any, tag: str = "", _timeout: float = 0) -> Any:
            nonlocal calls
            calls += 1
            reply = client.Reply(adapter.execute(operation, tag), 0.0)
            return client.Pending(lambda: reply)

        @staticmethod
        def submit_read(read: Any, _timeout: float = 0) -> Any:
            nonlocal calls
            calls += 1
            answer = adapter.read(read)
            if isinstance(answer, answer_type):
                reply = client.ReadReply(answer.table, None, answer.version, 0.0)
            else:
                reply = client.ReadReply(None, answer, None, 0.0)
            return client.Pending(lambda: reply)

    engine_session = engine_sessions.EngineSession(
        str(adapter.identity), InProcess(), capabilities.validated(adapter.capabilities), 60.0
    )
    table_session = table_sessions.TableSession(folder / "table", [engine_session], seed=SEED, tag="profiled")
    chunk = histories.Chunk("lockstep", "ci", 0, SEED)
    finding_recorder = findings.FindingRecorder(folder)
    recorder = history_recorders.HistoryRecorder(chunk, 0, finding_recorder, lambda _event: None)
    recorder.take(table_session, table_session.open_all())

    def execute(operation: Any) -> None:
        step = histories.Step(operation)
        recorder.begin_step(step)
        table_sessions.execute_step([table_session], step, recorder.take)
        recorder.played([engine_session.engine])

    return execute, lambda: calls


def profiled(execute: Callable[[], None], root: Path) -> list[str]:
    """Return the modules below `root`, by path, of the functions that are called, in order."""
    prefix = f"{root}/"
    called: list[str] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(prefix) and not code.co_name.startswith("<"):
            called.append(code.co_filename.removeprefix(prefix).removesuffix(".py"))

    sys.setprofile(note)
    try:
        execute()
    finally:
        sys.setprofile(None)
    return called


def sequence_of(called: Sequence[str]) -> list[str]:
    """Return the modules, with calls in a row put together."""
    return [module for module, _ in groupby(called)]


def is_inner(module: str) -> bool:
    """Return whether a module belongs to the checks or the events."""
    return module.split("/", maxsplit=1)[0] in {"checks", "events"}


def walk_of_an_append() -> tuple[list[str], int]:
    """Return the sequence of modules of one append, and the number of engine calls in it."""
    table = Struct((Field("id", LONG), Field("name", STRING)))

    def append(*rows: tuple[int, str]) -> Append:
        return Append(Rows(table, rows))

    root = Path(str(conformance.__file__)).parent
    with tempfile.TemporaryDirectory(prefix="profile-append-") as folder:
        execute, count = staged_step(Path(folder))
        execute(Create(table))
        execute(append((1, "a"), (2, "b")))
        before = count()
        measured = append((3, "c"), (4, "d"))
        called = profiled(lambda: execute(measured), root)
        return sequence_of(called), count() - before


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 if the figures are above what is allowed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--at-most", nargs=2, type=int, metavar=("SWITCHES", "OUTSIDE"))
    parser.add_argument("--sequence", action="store_true", help="print the sequence of modules, too")
    given = parser.parse_args(arguments)
    sequence, calls = walk_of_an_append()
    switches = len(sequence) - 1
    outside = len(sequence_of([module for module in sequence if not is_inner(module)])) - 1
    neither = sum(not is_inner(one) and not is_inner(other) for one, other in pairwise(sequence))
    flat = max(0, len(sequence_of([module for module in sequence if "/" not in module])) - 1)
    for name, figure in (
        ("switches between modules of conformance", switches),
        ("of them between flat modules alone", flat),
        ("outside of checks and events", outside),
        ("of them with neither end in checks or events", neither),
        ("distinct modules", len(set(sequence))),
        ("calls of the engine", calls),
    ):
        print(f"{name:<46}{figure:>4}")
    if given.sequence:
        print("\n" + " > ".join(sequence))
    return TOO_MANY if given.at_most and (switches > given.at_most[0] or outside > given.at_most[1]) else 0


if __name__ == "__main__":
    sys.exit(main())
