"""Schedules a minute, with all that is judged afterwards, and the harness' own share of one, beside the bare engine.

Bare are the same openings, operations and reads, asked of hosts without a turnstile, one after another, on a table that
lies there: what a host says of an operation that was parked says nothing. Beside an engine on a JVM it is what there is
in a minute; whoever does not promise commits of several processes writes in turn.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from benchmarks.faults import ENGINE, RACES, SCHEDULES_BAR, SHARE_BAR, Clock
from benchmarks.pairs import bootstrap
from benchmarks.results import Result, Row
from conformance.accounts import Account
from conformance.dealer import Dealer, seat_of
from conformance.events import Event, Raced
from conformance.hosts import Hosts
from conformance.keeper import Keeper
from conformance.plan import Chunk
from conformance.races.desk import IN_TURN, SEVERAL, promises
from conformance.races.game import Races
from conformance.races.groups import Group
from conformance.races.pairs import BEFORE, PAIRS, Pair
from conformance.turnstile.arena import Arena
from delta_adapters.registry import parse_engine
from delta_adapters.supervisor import Host
from delta_models.operations import Read

RUNS = 5
SECONDS = 45.0
BESIDE, BESIDE_BAR = ("pyspark", "delta-spark"), 30.0
BESIDE_RACES = Chunk("races", "dev", 0, 1, histories=15, steps=3)


class Bare:
    """What the schedules of a chunk ask of engines, asked without a turnstile and without a judge."""

    def __init__(self, engine: str, work: Path) -> None:
        self.hosts = [Host.start(parse_engine(engine), work / f"bare-{place}").ready() for place in "AB"]
        self._work = work
        self._made = 0

    def close(self) -> None:
        """End the hosts."""
        for each in self.hosts:
            each.close()

    def schedule(self, pair: Pair) -> float:
        """Seconds of all calls of one schedule."""
        self._made += 1
        first = self.hosts[0]
        table = self._work / f"bare-{self._made}" / "table"
        first.open(str(table))
        for operation in BEFORE:
            first.execute(operation)
        start = time.monotonic()
        self._open(table)
        for host, operation in zip(self.hosts, (pair.first, pair.second), strict=True):
            if isinstance(operation, Read):
                host.read(operation)
            else:
                host.execute(operation)
        self._open(table)
        first.read(Read())
        seconds = time.monotonic() - start
        shutil.rmtree(table.parent)
        return seconds

    def _open(self, table: Path) -> None:
        for each in self.hosts:
            each.open(str(table))


def alone(clock: Clock, bare: Bare) -> list[Row]:
    """Twins of the engine: schedules a minute, and the harness' own share beside the bare calls of as many."""
    clock.play(RACES)  # warm
    rates, shares = [], []
    for _ in range(RUNS):
        counted, seconds, _engine = clock.play(RACES)
        asked = sum(bare.schedule(PAIRS[at % len(PAIRS)]) for at in range(counted))
        rates.append(60 * counted / seconds)
        shares.append((seconds - asked) / asked)
    return [
        _row(f"schedules of two {clock.engine}", "a minute", rates, SCHEDULES_BAR, more=True),
        _row(
            f"the harness' own share of a schedule of two {clock.engine}",
            "of the bare calls",
            shares,
            SHARE_BAR,
        ),
    ]


def beside(engine: str, work: Path) -> Row:
    """Schedules a minute of delta-rs beside an engine on a JVM."""
    told: list[Event] = []
    specs = {each: parse_engine(each) for each in (ENGINE, engine)}
    arena = Arena(specs, work, told.append)
    try:
        players = [each for each in map(arena.player, (engine, ENGINE)) if each is not None]
        group = Group(tuple(players), SEVERAL if promises(seat_of(players[0].engine)) else IN_TURN)
        until = time.monotonic() + SECONDS
        hosts = Hosts(list(specs.values()), work / "hosts", told.append)
        dealer = Dealer(hosts, Keeper(work), told.append, lambda: time.monotonic() > until, arena)
        game = Races(dealer, BESIDE_RACES, work)
        account = Account(BESIDE_RACES, 0, dealer.keeper, told.append)
        start = time.monotonic()
        for at, pair in enumerate(PAIRS):
            account.steps = []
            game.play_pair(account, group.desk(dealer, work / f"{at}" / "table", "bench"), pair, group)
            if dealer.is_over():
                break
        seconds = time.monotonic() - start
    finally:
        arena.close()
    counted = sum(each.schedules for each in told if isinstance(each, Raced))
    work_done = f"schedules with {ENGINE} beside {engine}, {counted} in {seconds:.0f} s"
    return _row(work_done, "a minute", [60 * counted / seconds], BESIDE_BAR, more=True)


def _row(work: str, measure: str, values: list[float], bar: float, *, more: bool = False) -> Row:
    middle = sorted(values)[len(values) // 2]
    return Row(
        work=work, measure=measure, ours=middle, peer="the bar", peer_value=None, ratio=middle,
        interval=bootstrap(values), bar=bar, pairs=len(values), more_is_better=more,
    )  # fmt: skip


def main() -> Result:
    """Two of an engine, then one beside an engine on a JVM."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        clock, bare = Clock(ENGINE, "AB", Path(folder)), Bare(ENGINE, Path(folder))
        try:
            rows += alone(clock, bare)
        finally:
            bare.close()
            clock.arena.close()
    for engine in BESIDE:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            rows.append(beside(engine, Path(folder)))
    return Result("schedules", tuple(rows), ("our own reader and the engines read after each",))
