"""Crash points and schedules a minute, with all that is judged afterwards, and the harness' own share.

The share is what a crash point or a schedule takes beyond the calls of the engine (operations and reads, as its host
measures them, and its opening of the table), in their time; the start of the hosts is not counted. A JVM's points are
those that it comes to in a minute.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pairs import bootstrap
from benchmarks.results import Result, Row
from conformance.chunks import play_chunk
from conformance.dealer import Dealer
from conformance.events import Event, HistoryEnded
from conformance.hosts import Hosts
from conformance.keeper import Keeper
from conformance.plan import Chunk
from conformance.turnstile.arena import Arena
from delta_adapters.registry import parse_engine

ENGINE, ON_A_JVM = "delta-rs", "delta-spark"
RUNS = 5
JVM_RUNS, JVM_SECONDS = 3, 60.0
CRASH_POINTS_BAR, SCHEDULES_BAR, SHARE_BAR = 300.0, 120.0, 0.3
JVM_POINTS_BAR = 20.0
CRASHES = Chunk("crashes", "dev", 0, 1, histories=6, table="changes")
JVM_CRASHES = Chunk("crashes", "dev", 0, 1, histories=10, heavy=tuple(range(10)), table="changes")
RACES = Chunk("races", "dev", 0, 1, histories=15, steps=5)


class Clock:
    """Plays chunks on hosts that run already, and takes the histories' own times."""

    def __init__(self, engine: str, places: str, work: Path, seconds: float = math.inf) -> None:
        self.told: list[Event] = []
        self.engine = engine
        spec = parse_engine(engine)
        self.arena = Arena({engine: spec}, work, self.told.append)
        self._hosts = Hosts([spec], work / "hosts", self.told.append)
        self._dealer = Dealer(self._hosts, Keeper(work), self.told.append, self._is_over, self.arena)
        self._work = work
        self._seconds, self._until = seconds, math.inf
        for place in places:
            self.arena.player(engine, place)

    def _is_over(self) -> bool:
        return time.monotonic() > self._until

    def play(self, chunk: Chunk) -> tuple[int, float, float]:
        """Crash points and schedules of a chunk, the seconds that it took, and those of the engine among them."""
        self.told.clear()
        self._until = time.monotonic() + self._seconds
        play_chunk(self._dealer, chunk, self._work)
        ended = [each for each in self.told if isinstance(each, HistoryEnded)]
        counted = sum(each.crash_points + each.schedules for each in ended)
        engine = sum(sum(each.engine_seconds.values()) for each in ended)
        return counted, sum(each.seconds for each in ended), engine


def rates(clock: Clock, name: str, chunk: Chunk, bar: float, times: int = RUNS) -> list[Row]:
    """How many a minute, and what of the time is the harness' own."""
    clock.play(chunk)  # warm
    runs = [clock.play(chunk) for _ in range(times)]
    a_minute = [60 * counted / seconds for counted, seconds, _ in runs]
    shares = [(seconds - engine) / engine for _, seconds, engine in runs]
    work = f"{name} with {clock.engine}"
    return [
        _row(f"{work}, {runs[0][0]} a run", "a minute", a_minute, bar, more=True),
        _row(f"the harness' own share of {work}", "of the engine's calls", shares, SHARE_BAR, more=False),
    ]


def _row(work: str, measure: str, values: Sequence[float], bar: float, *, more: bool) -> Row:
    middle = sorted(values)[len(values) // 2]
    return Row(
        work=work, measure=measure, ours=middle, peer="the bar", peer_value=None, ratio=middle,
        interval=bootstrap(list(values)), bar=bar, pairs=len(values), more_is_better=more,
    )  # fmt: skip


def main() -> Result:
    """Crash points, then schedules; then crash points of an engine on a JVM."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        clock = Clock(ENGINE, "AB", Path(folder))
        try:
            rows += rates(clock, "crash points", CRASHES, CRASH_POINTS_BAR)
            rows += rates(clock, "schedules", RACES, SCHEDULES_BAR)
        finally:
            clock.arena.close()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        clock = Clock(ON_A_JVM, "A", Path(folder), JVM_SECONDS)
        try:
            rows += rates(clock, "crash points by dead table", JVM_CRASHES, JVM_POINTS_BAR, JVM_RUNS)
        finally:
            clock.arena.close()
    notes = ("our own reader judges each; no other engine reads, since none is asked for",)
    return Result("faults", tuple(rows), notes)
