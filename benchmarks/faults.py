"""Crash points and schedules a minute with deltalake, with all that is judged afterwards, and the harness' own share.

The share is what a crash point or a schedule takes beyond the calls of the engine (operations and reads, as its host
measures them), in their time; the start of the hosts is not counted.
"""

from __future__ import annotations

import tempfile
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

ENGINE = "delta-rs"
RUNS = 5
CRASH_POINTS_BAR, SCHEDULES_BAR, SHARE_BAR = 300.0, 120.0, 0.3
CRASHES = Chunk("crashes", "dev", 0, 1, histories=6, table="changes")
RACES = Chunk("races", "dev", 0, 1, histories=15, steps=5)


class Clock:
    """Plays chunks on hosts that run already, and takes the histories' own times."""

    def __init__(self, work: Path) -> None:
        self.told: list[Event] = []
        spec = parse_engine(ENGINE)
        self.arena = Arena({ENGINE: spec}, work, self.told.append)
        self._hosts = Hosts([spec], work / "hosts", self.told.append)
        self._dealer = Dealer(self._hosts, Keeper(work), self.told.append, lambda: False, self.arena)
        self._work = work
        for place in "AB":
            self.arena.player(ENGINE, place)

    def play(self, chunk: Chunk) -> tuple[int, float, float]:
        """Crash points and schedules of a chunk, the seconds that it took, and those of the engine among them."""
        self.told.clear()
        play_chunk(self._dealer, chunk, self._work)
        ended = [each for each in self.told if isinstance(each, HistoryEnded)]
        counted = sum(each.crash_points + each.schedules for each in ended)
        engine = sum(sum(each.engine_seconds.values()) for each in ended)
        return counted, sum(each.seconds for each in ended), engine


def rates(clock: Clock, name: str, chunk: Chunk, bar: float) -> list[Row]:
    """How many a minute, and what of the time is the harness' own."""
    clock.play(chunk)  # warm
    runs = [clock.play(chunk) for _ in range(RUNS)]
    a_minute = [60 * counted / seconds for counted, seconds, _ in runs]
    shares = [(seconds - engine) / engine for _, seconds, engine in runs]
    each = f"{runs[0][0]} a run"
    return [
        _row(f"{name} with {ENGINE}, {each}", "a minute", a_minute, bar, more=True),
        _row(f"the harness' own share of {name}", "of the engine's calls", shares, SHARE_BAR, more=False),
    ]


def _row(work: str, measure: str, values: Sequence[float], bar: float, *, more: bool) -> Row:
    middle = sorted(values)[len(values) // 2]
    return Row(
        work=work, measure=measure, ours=middle, peer="the bar", peer_value=None, ratio=middle,
        interval=bootstrap(list(values)), bar=bar, pairs=len(values), more_is_better=more,
    )  # fmt: skip


def main() -> Result:
    """Crash points, then schedules."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        clock = Clock(Path(folder))
        try:
            rows = [
                *rates(clock, "crash points", CRASHES, CRASH_POINTS_BAR),
                *rates(clock, "schedules", RACES, SCHEDULES_BAR),
            ]
        finally:
            clock.arena.close()
    notes = ("our own reader judges each; no other engine reads, since none is asked for",)
    return Result("faults", tuple(rows), notes)
