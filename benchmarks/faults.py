"""Crash points a minute, with all that is judged afterwards, and the harness' own share.

    ./dev bench faults                                 everything
    ./dev python -m benchmarks.faults delta-rs read    some works, whose rows replace theirs in results/faults.json

The share is what a crash point takes beyond the calls of the engine, in their time: operations and reads as its adapter
takes them, its openings of the table, and its starts after a kill. All else is the harness' own, our own reader too; so
are the calls that record an operation in peace. Nobody is parked at a crash point; what the turnstile asks within an
operation, a tenth of a millisecond a time, is the engine's. A JVM's points are those that it comes to in a minute.
Schedules are measured in `schedules`.
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
from benchmarks.results import Result, Row, in_parts
from conformance.engine_pool import EnginePool
from conformance.events.types import Event, HistoryEnded
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.planning.plan import Chunk
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
    """Plays chunks on hosts that run already."""

    def __init__(
        self, engine: str, places: str, work: Path, seconds: float = math.inf, reader: str | None = None
    ) -> None:
        self.told: list[Event] = []
        self.engine = engine
        specs = {each: parse_engine(each) for each in (engine, reader) if each}
        self.instrumented_engines = InstrumentedEngines(specs, work, self.told.append)
        self._hosts = EnginePool(list(specs.values()), work / "hosts", self.told.append)
        self._dealer = SuiteContext(
            self._hosts, FindingRecorder(work), self.told.append, self._is_over, self.instrumented_engines
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
        """Whether a run is as long as its time, rather than as its chunk."""
        return self._seconds < math.inf

    def _is_over(self) -> bool:
        return time.monotonic() > self._until

    def play(self, chunk: Chunk) -> tuple[int, float, float]:
        """Crash points or schedules of a chunk, the seconds that it took, and those of the engine among them."""
        self.told.clear()
        start = time.monotonic()
        self._until = start + self._seconds
        if self._reads:
            CrashScenarios(self._dealer, chunk, self._work / "points", [self.engine]).play_all()
        else:
            play_chunk(self._dealer, chunk, self._work)
        seconds = time.monotonic() - start
        ended = [each for each in self.told if isinstance(each, HistoryEnded)]
        counted = sum(each.crash_points + each.schedules for each in ended)
        engine = sum(sum(each.engine_seconds.values()) for each in ended)
        return counted, seconds, engine


def rates(clock: Clock, name: str, chunk: Chunk, bar: float, times: int = RUNS) -> list[Row]:
    """How many a minute, and what of the time is the harness' own."""
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
    """The median of what runs have shown, against a bar."""
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


WORKS = {
    ENGINE: _alone,
    "read": _read_too,
    **{each: partial(_on_a_jvm, each) for each in ON_A_JVM},
}
NOTES = (
    "our own reader judges each; other engines read where it is said",
    "a JVM's points are those that it comes to in one minute, its first; it reads after faults and vacuums only",
)


def main(asked: Sequence[str] = ()) -> Result:
    """Crash points; points that another engine looks at; then those of engines on a JVM."""
    return in_parts("faults", WORKS, asked, NOTES)


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
