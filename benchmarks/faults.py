"""Crash points a minute, with all checks after them, and the harness' own share of the time.

    ./dev bench faults                                 everything
    ./dev python -m benchmarks.faults delta-rs read    some works, whose rows replace theirs in results/faults.json

The share is the harness' own time at a crash point, divided by the time of the engine's calls. The engine's calls are
operations and reads, as its adapter times them, openings of the table, and starts after a kill. All other time is the
harness' own. Our log reader belongs to it, and so do the calls that record an operation without a fault.

No process is held at a crash point. The questions of the Turnstile within an operation, a tenth of a millisecond each,
count as the engine's time. An engine on a JVM plays as many points as it can in a minute. `schedules` measures
schedules.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.pairs import bootstrap
from benchmarks.results import Result, Row, Works, in_parts
from conformance.engine_pool import EnginePool
from conformance.events.types import Event, HistoryEnded
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext
from conformance.suites.crashes.suite import CrashScenarios
from delta_adapters.registry import parse_engine

ENGINE = "delta-rs"
ON_A_JVM = {"delta-spark": 20.0, "pyspark": 30.0}  # with their bars
READER = "delta-spark"
RUNS = 11
READ_RUNS = 9
JVM_SECONDS = 60.0
CRASH_POINTS_BAR, SCHEDULES_BAR, SHARE_BAR = 300.0, 120.0, 0.3
CRASHES = Chunk("crashes", "dev", 0, 1, histories=4, table="changes")
READ_TOO = Chunk("crashes", "dev", 0, 1, histories=2, heavy=(0, 1), table="changes")
RACES = Chunk("races", "dev", 0, 1, histories=15, steps=5)
JVM_CRASHES = Chunk("crashes", "dev", 0, 1, histories=10, heavy=tuple(range(10)), table="changes")


class Clock:
    """Plays chunks on hosts that run already, and measures the time."""

    def __init__(
        self, engine: str, places: str, work: Path, seconds: float = math.inf, reader: str | None = None
    ) -> None:
        self.events: list[Event] = []
        self.engine = engine
        specs = {name: parse_engine(name) for name in (engine, reader) if name}
        self.instrumented_engines = InstrumentedEngines(specs, work, self.events.append)
        self._hosts = EnginePool(list(specs.values()), work / "hosts", self.events.append)
        self._context = SuiteContext(
            self._hosts, FindingRecorder(work), self.events.append, self._is_over, self.instrumented_engines
        )
        self._work = work
        self._seconds, self._until = seconds, math.inf
        self._reads = reader is not None
        for place in places:
            self.instrumented_engines.get(engine, place)
        if reader:
            self.instrumented_engines.get(reader)

    @property
    def limited(self) -> bool:
        """Whether a time limits a run, rather than its chunk."""
        return self._seconds < math.inf

    def _is_over(self) -> bool:
        return time.monotonic() > self._until

    def play(self, chunk: Chunk) -> tuple[int, float, float]:
        """Play a chunk. Return its crash points or schedules, its seconds, and those of the engine among them."""
        self.events.clear()
        start = time.monotonic()
        self._until = start + self._seconds
        if self._reads:
            CrashScenarios(self._context, chunk, self._work / "points", [self.engine]).play_all()
        else:
            play_chunk(self._context, chunk, self._work)
        seconds = time.monotonic() - start
        ended = [event for event in self.events if isinstance(event, HistoryEnded)]
        counted = sum(event.crash_points + event.schedules for event in ended)
        engine = sum(sum(event.engine_seconds.values()) for event in ended)
        return counted, seconds, engine


def rates(clock: Clock, name: str, chunk: Chunk, bar: float, times: int = RUNS) -> list[Row]:
    """Measure how many are played a minute, and the harness' own share of the time."""
    if clock.limited:
        times = 1
    else:
        clock.play(chunk)  # warm
        clock.play(chunk)
    runs = [clock.play(chunk) for _ in range(times)]
    a_minute = [60 * counted / seconds for counted, seconds, _ in runs]
    shares = [(seconds - engine) / engine for _, seconds, engine in runs]
    work = f"{name} with {clock.engine}"
    return [
        row(work, "a minute", a_minute, bar, more=True, note=f"{runs[0][0]} a run"),
        row(f"the harness' own share of {work}", "of the engine's calls", shares, SHARE_BAR),
    ]


def row(
    work: str, measure: str, values: Sequence[float], bar: float, *, more: bool = False, note: str = ""
) -> Row:
    """Return a row with the median of the runs, against a bar."""
    middle = sorted(values)[len(values) // 2]
    return Row(
        work=work, measure=measure, ours=middle, peer="the bar", peer_value=None, ratio=middle,
        interval=bootstrap(list(values)), bar=bar, pairs=len(values), more_is_better=more, note=note,
    )  # fmt: skip


def _alone() -> list[Row]:
    with _clock(ENGINE, "A") as clock:
        return rates(clock, "crash points", CRASHES, CRASH_POINTS_BAR)


def _read_too() -> list[Row]:
    with _clock(ENGINE, "A", reader=READER) as clock:
        name = f"crash points, {READER} reads every tenth,"
        return rates(clock, name, READ_TOO, CRASH_POINTS_BAR, READ_RUNS)[:1]


def _on_a_jvm(engine: str) -> list[Row]:
    with _clock(engine, "A", JVM_SECONDS) as clock:
        return rates(clock, "crash points by dead table", JVM_CRASHES, ON_A_JVM[engine])


WORKS: Works = {
    ENGINE: _alone,
    "read": _read_too,
    **{engine: partial(_on_a_jvm, engine) for engine in ON_A_JVM},
}
NOTES = (
    "our own reader judges each; other engines read where it is said",
    "a JVM's points are those that it comes to in one minute, its first; it reads after faults and vacuums only",
)


def main(names: Sequence[str] = ()) -> Result:
    """Measure crash points: of one engine, with another engine as reader, then of engines on a JVM."""
    return in_parts("faults", WORKS, names, NOTES)


@contextmanager
def _clock(engine: str, places: str, seconds: float = math.inf, reader: str | None = None) -> Iterator[Clock]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        clock = Clock(engine, places, Path(folder), seconds, reader)
        try:
            yield clock
        finally:
            clock.instrumented_engines.close()


if __name__ == "__main__":
    main(sys.argv[1:])
