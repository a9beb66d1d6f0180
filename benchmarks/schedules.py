"""Schedules a minute, with all that is judged afterwards, and the harness' own share of one, beside the bare engine.

    ./dev bench schedules                                           everything
    ./dev python -m benchmarks.schedules delta-rs delta-spark       some works, whose rows replace theirs in the file

Bare are the same openings, operations and reads, those that make the table among them, asked of hosts without a
turnstile, one after another: what a host says of an operation that was parked says nothing. They count as their adapter
takes them. All else is the harness' own: our own reader, the copies, and the run of each operation alone that finds its
gates. Beside an engine on a JVM it is a rate of what has started and is warm: the pairs are
played for a minute before the clock starts, and go on. Whoever does not promise commits of several processes writes in
turn.
"""

from __future__ import annotations

import itertools
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.faults import ENGINE, RACES, SCHEDULES_BAR, SHARE_BAR, Clock, row
from benchmarks.results import Result, Row, in_parts
from conformance.engine_pool import EnginePool
from conformance.events.types import Event, RaceOutcome
from conformance.execution.history_recorder import HistoryRecorder
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.planning.plan import Chunk
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.races.scenarios import BEFORE, PAIRS, RaceScenario
from conformance.suites.races.session import IN_TURN, SEVERAL, promises
from conformance.suites.races.suite import RaceScenarios
from conformance.suites.races.writer_groups import WriterGroup
from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine
from delta_models.operations import Read
from delta_models.wire_names import name_of

RUNS = 11
WARM_SECONDS, SECONDS = 60.0, 100.0
BESIDE, BESIDE_BAR = ("pyspark", "delta-spark"), 30.0
BESIDE_RACES = Chunk("races", "dev", 0, 1, histories=15, steps=3)


class Bare:
    """What the schedules of a chunk ask of engines, asked without a turnstile and without a judge."""

    def __init__(self, engine: str, work: Path) -> None:
        self.hosts = [
            HostClient.start(parse_engine(engine), work / f"bare-{place}").ready() for place in "AB"
        ]
        self._work = work
        self._made = 0

    def close(self) -> None:
        """End the hosts."""
        for host in self.hosts:
            host.close()

    def chunk(self, raced: Sequence[RaceOutcome]) -> float:
        """Seconds that engines take for the table where all pairs begin, and for what each schedule asks of them."""
        folder = self._work / f"bare-{self._made}"
        self._made += 1
        seconds = self._open(folder / "table")
        for operation in BEFORE:
            seconds += self.hosts[0].execute(operation).seconds + self.hosts[0].read(Read()).seconds
        for number, each in enumerate(raced):
            for at in range(each.schedules + each.unfollowed):
                shutil.copytree(folder / "table", folder / f"{number}-{at}")
                seconds += self._schedule(folder / f"{number}-{at}", _pair_of(each))
        shutil.rmtree(folder)
        return seconds

    def _schedule(self, table: Path, pair: RaceScenario) -> float:
        seconds = self._open(table)
        for host, operation in zip(self.hosts, (pair.first, pair.second), strict=True):
            asked = host.read(operation) if isinstance(operation, Read) else host.execute(operation)
            seconds += asked.seconds
        return seconds + self._open(table) + self.hosts[0].read(Read()).seconds

    def _open(self, table: Path) -> float:
        start = time.monotonic()
        for host in self.hosts:
            host.open(str(table))
        return time.monotonic() - start


def alone(clock: Clock, bare: Bare) -> list[Row]:
    """Twins of the engine: schedules a minute, and the harness' own share beside the bare calls of as many."""
    clock.play(RACES)  # warm
    rates, shares = [], []
    for _ in range(RUNS):
        counted, seconds, _engine = clock.play(RACES)
        asked = bare.chunk([each for each in clock.told if isinstance(each, RaceOutcome)])
        rates.append(60 * counted / seconds)
        shares.append((seconds - asked) / asked)
    return [
        row(f"schedules of two {clock.engine}", "a minute", rates, SCHEDULES_BAR, more=True),
        row(
            f"the harness' own share of a schedule of two {clock.engine}",
            "of the bare calls",
            shares,
            SHARE_BAR,
        ),
    ]


def _pair_of(raced: RaceOutcome) -> RaceScenario:
    """The committed pair that an event tells of."""
    told = (*raced.operations, raced.overlap)
    return next(pair for pair in PAIRS if told == (name_of(pair.first), name_of(pair.second), pair.overlap))


def beside(engine: str, work: Path) -> Row:
    """Schedules a minute of delta-rs beside an engine on a JVM that has been at it for a while."""
    told: list[Event] = []
    specs = {each: parse_engine(each) for each in (ENGINE, engine)}
    instrumented_engines = InstrumentedEngines(specs, work, told.append)
    try:
        players = [each for each in map(instrumented_engines.player, (engine, ENGINE)) if each is not None]
        group = WriterGroup(
            tuple(players), SEVERAL if promises(engine_session_of(players[0].engine)) else IN_TURN
        )
        until = time.monotonic() + WARM_SECONDS
        hosts = EnginePool(list(specs.values()), work / "hosts", told.append)
        context = SuiteContext(
            hosts, FindingRecorder(work), told.append, lambda: time.monotonic() > until, instrumented_engines
        )
        game = RaceScenarios(context, BESIDE_RACES, work)
        history_recorder = HistoryRecorder(BESIDE_RACES, 0, context.finding_recorder, told.append)
        tables = (work / f"{at}" / "table" for at in itertools.count())
        pairs = itertools.cycle(PAIRS)

        def play() -> float:
            start = time.monotonic()
            while not context.is_over():
                history_recorder.begin_from(())
                game.play_pair(
                    history_recorder, group.table_session(context, next(tables), "bench"), next(pairs), group
                )
            return time.monotonic() - start

        play()
        told.clear()
        until = time.monotonic() + SECONDS
        seconds = play()
    finally:
        instrumented_engines.close()
    counted = sum(each.schedules for each in told if isinstance(each, RaceOutcome))
    return row(
        f"schedules with {ENGINE} beside {engine}", "a minute", [60 * counted / seconds], BESIDE_BAR,
        more=True, note=f"{counted} in {seconds:.0f} s, after {WARM_SECONDS:.0f} s of the same",
    )  # fmt: skip


def _twins() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        clock, bare = Clock(ENGINE, "AB", Path(folder)), Bare(ENGINE, Path(folder))
        try:
            return alone(clock, bare)
        finally:
            bare.close()
            clock.instrumented_engines.close()


def _beside(engine: str) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return [beside(engine, Path(folder))]


WORKS = {ENGINE: _twins, **{each: partial(_beside, each) for each in BESIDE}}


def main(asked: Sequence[str] = ()) -> Result:
    """Two of an engine, then one beside an engine on a JVM."""
    return in_parts("schedules", WORKS, asked, ("our own reader and the engines read after each",))


if __name__ == "__main__":
    main(sys.argv[1:])
