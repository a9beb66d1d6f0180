"""The line: how fast the harness drives and checks real engines, beside the same calls without the harness.

A pair plays one drawn history twice: through host, model, log reader and checks, and then with the adapter alone, in
this process, on a fresh table. The adapter counts as bare, because nothing thinner understands the operations.

Two JVMs side by side compile code for minutes, and the same calls took 0.6 to 1.6 times as long in the other one.
The bare time of an engine on a JVM is therefore the time of the same calls inside the host, around the adapter.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.pairs import PAIRS, Pairs, measure
from benchmarks.results import Result, Row
from conformance.engine_pool import Engine, EnginePool
from conformance.execution.engine_session import EngineSession, PendingAnswer
from conformance.execution.table_session import TableSession
from conformance.generation import TableShape, state_machine
from conformance.histories import Chunk, Step
from conformance.suites.context import engine_session_of
from delta_adapters.contract import Adapter, Query
from delta_adapters.host_client import ReadReply, Reply
from delta_adapters.host_server import load
from delta_adapters.registry import availability, parse_engine
from delta_models.operations import Operation

HISTORIES = 40
STEPS = {"delta-rs": 25, "delta-spark": 10}
SEED = 20_260_101
STARTS = 5
BARS = {"delta-rs": (0.64, 0.8), "delta-spark": (0.95, 1.0)}

Call = tuple[Operation, str]


@dataclass(slots=True)
class Drawn:
    """Collects the histories that the state machine draws."""

    histories: list[tuple[TableShape, list[Step]]] = field(default_factory=list)

    def begin(self, _history: int, shape: TableShape) -> None:
        """Begin the next history."""
        self.histories.append((shape, []))

    def play(self, step: Step) -> None:
        """Add a step to it."""
        self.histories[-1][1].append(step)

    def end(self) -> None:
        """End it: nothing is left to do."""

    def is_over(self) -> bool:
        """Return False: all histories are wanted."""
        return False


@dataclass(slots=True)
class RecordingSession(EngineSession):
    """An engine session that records the calls of its engine."""

    calls: list[Call] = field(default_factory=list)

    def submit(self, operation: Operation, tag: str) -> PendingAnswer[Reply]:
        """Send an operation."""
        self.calls.append((operation, tag))
        return EngineSession.submit(self, operation, tag)

    def submit_query(self, query: Query) -> PendingAnswer[ReadReply]:
        """Send a query."""
        self.calls.append((query, ""))
        return EngineSession.submit_query(self, query)


class Harness:
    """Plays histories with all that the harness does."""

    def __init__(self, engine: Engine, work: Path) -> None:
        self._engine = engine
        self._work = work
        self.calls: list[Call] = []
        self.engine_seconds = 0.0
        self.steps = 0

    def play(self, number: int, steps: list[Step]) -> float:
        """Play one history and return its seconds. Keep its calls, and their seconds in the host."""
        simple = engine_session_of(self._engine)
        engine_session = RecordingSession(simple.engine, simple.host, simple.capabilities, simple.timeout)
        table_session = TableSession(
            self._work / f"h{number}" / "table", [engine_session], SEED, f"bench-{number}"
        )
        start = time.perf_counter()
        table_session.open_all()
        self.steps = 0
        for step in steps:
            if not table_session.plays:
                break
            table_session.execute(step)
            self.steps += 1
        seconds = time.perf_counter() - start
        self.calls = engine_session.calls
        self.engine_seconds = engine_session.seconds
        shutil.rmtree(self._work / f"h{number}")
        return seconds


def bare(adapter: Adapter, folder: Path, calls: list[Call]) -> float:
    """Make the same calls on the adapter alone, and return the seconds."""
    start = time.perf_counter()
    adapter.open(str(folder))
    for operation, tag in calls:
        if isinstance(operation, Query):
            adapter.read(operation)
        else:
            adapter.execute(operation, tag)
    seconds = time.perf_counter() - start
    shutil.rmtree(folder, ignore_errors=True)
    return seconds


def rate(name: str) -> Row:
    """Measure checked steps a second, beside the bare calls."""
    bar, aim = BARS[name]
    drawn = Drawn()
    state_machine.draw(Chunk("lockstep", "ci", 0, SEED, HISTORIES, STEPS[name]), drawn, shared=False)
    spec = parse_engine(name)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        work = Path(folder)
        with EnginePool([spec], work / "hosts", lambda _: None) as hosts:
            engine = hosts.get(name)
            assert engine is not None, f"{name} does not start"
            harness = Harness(engine, work)
            able = [
                steps
                for shape, steps in drawn.histories
                if engine.capabilities.covers_table(shape.schema, shape.partition_by, dict(shape.properties))
                is None
            ]
            pairs, steps = (_inside if engine.runs_on_jvm else _beside)(
                harness, load(spec.adapter), work, able
            )
    rates = Pairs(
        tuple(count / seconds for count, seconds in zip(steps, pairs.ours, strict=True)),
        tuple(count / seconds for count, seconds in zip(steps, pairs.peer, strict=True)),
    )
    return Row(
        work=f"drawn histories of {STEPS[name]} steps on {name}",
        measure="checked steps a second",
        ours=median(rates.ours),
        peer="the same operations and reads, called bare",
        peer_value=median(rates.peer),
        ratio=rates.ratio,
        interval=rates.interval,
        bar=bar,
        aim=aim,
        pairs=len(rates.ours),
    )


def _beside(
    harness: Harness, adapter_class: type[Adapter], work: Path, histories: list[list[Step]]
) -> tuple[Pairs, list[int]]:
    """Measure beside another adapter in this process."""
    adapter = adapter_class()
    (work / "bare").mkdir()
    adapter.start(work / "bare")
    harness.play(-1, histories[0])
    bare(adapter, work / "warm", harness.calls)
    counted: list[int] = []
    left = iter(histories[1:])

    def ours(turn: int) -> float:
        seconds, steps = _next_whole(harness, turn, left)
        counted.append(steps)
        return seconds

    def peer(turn: int) -> float:
        return bare(adapter, work / f"b{turn}", harness.calls)

    pairs = measure(ours, peer, alternate=False)
    adapter.stop()
    return pairs, counted


def _inside(
    harness: Harness, _: type[Adapter], __: Path, histories: list[list[Step]]
) -> tuple[Pairs, list[int]]:
    """Measure beside the time of the adapter inside the host."""
    harness.play(-1, histories[0])
    counted, mine, theirs = [], [], []
    left = iter(histories[1:])
    for turn in range(PAIRS):
        seconds, steps = _next_whole(harness, turn, left)
        counted.append(steps)
        mine.append(seconds)
        theirs.append(harness.engine_seconds)
    return Pairs(tuple(mine), tuple(theirs)), counted


def _next_whole(harness: Harness, turn: int, left: Iterator[list[Step]]) -> tuple[float, int]:
    """Play the next history that comes to its end. Return its seconds and steps."""
    for steps in left:
        seconds = harness.play(turn, steps)
        if harness.steps == len(steps):
            return seconds, len(steps)
    raise RuntimeError("too few of the drawn histories came to their end")


def first_verdict() -> Row:
    """Measure the seconds from the start of the command to the first step that is judged."""
    seconds, bare_seconds = [], []
    for _ in range(STARTS):
        seconds.append(_seconds_to_verdict())
        bare_seconds.append(_seconds_bare())
    return Row(
        work="conformance run --engine delta-rs",
        measure="seconds from the command to the first verdict",
        ours=median(seconds),
        peer="python that imports deltalake, creates a table, appends and reads",
        peer_value=median(bare_seconds),
        ratio=median(mine / theirs for mine, theirs in zip(seconds, bare_seconds, strict=True)),
        pairs=STARTS,
        more_is_better=False,
    )


def _seconds_to_verdict() -> float:
    with tempfile.TemporaryDirectory(prefix="bench-") as out:
        arguments = (
            "run --engine delta-rs --suite lockstep --examples 2 --jobs 1 --seed 1 --format json --out"
        )
        command = [sys.executable, "-m", "conformance", *arguments.split(), out]
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if json.loads(line)["event"] in {"Progress", "HistoryEnded"}:
                    seconds = time.perf_counter() - start
                    break
            else:
                raise RuntimeError("the run ended without a verdict")
            process.stdout.read()
        return seconds


# `os._exit`: a process that used `to_pyarrow_table` now and then aborts while it ends.
_BARE = """
import os, sys, pyarrow as pa, deltalake
folder = sys.argv[1]
deltalake.DeltaTable.create(folder, pa.schema([("id", pa.int64())]))
deltalake.write_deltalake(folder, pa.table({"id": [1]}), mode="append")
assert deltalake.DeltaTable(folder).to_pyarrow_table().num_rows == 1
os._exit(0)
"""


def _seconds_bare() -> float:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", _BARE, str(Path(folder) / "t")], check=True)
        return time.perf_counter() - start


def memory() -> Row:
    """Measure the peak memory of the harness after many histories, without its engines' processes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Row(
        work="this process, after the histories above (a bare delta-rs adapter in it included)",
        measure="peak resident MB",
        ours=peak,
        peer="none",
        peer_value=None,
        more_is_better=False,
    )


def main() -> Result:
    """Measure delta-rs, then memory before a client of a JVM is loaded, then delta-spark."""
    rows = [rate("delta-rs"), memory(), first_verdict()]
    notes = []
    delta_spark = availability("delta-spark")
    if delta_spark:
        rows.append(rate("delta-spark"))
    else:
        notes.append(f"delta-spark was not measured: {delta_spark.why}")
    return Result("line", tuple(rows), tuple(notes))
