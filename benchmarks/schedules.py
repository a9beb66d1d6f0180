"""Schedules a minute, with all checks after them, and the harness' own share, beside the bare engine.

    ./dev bench schedules                                           everything
    ./dev python -m benchmarks.schedules delta-rs delta-spark       some works, whose rows replace theirs in the file

The bare engine repeats the same openings, operations and reads, those that make the table among them. Its hosts run
without the Turnstile, one call after another, because the time of an operation that was held says nothing. Calls count
as their adapter times them. All other time is the harness' own: our log reader, the copies, and the run of each
operation alone that finds its gates.

Beside an engine on a JVM, the pairs are played for a minute before the clock starts, so that the JVM is warm. An engine
that does not promise commits of several processes publishes in turn.
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
from benchmarks.results import Result, Row, Works, in_parts
from conformance.engine_pool import EnginePool
from conformance.events.types import Event, RaceOutcome
from conformance.execution.history_recorder import HistoryRecorder
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
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
    """Repeats the engine calls of a chunk's schedules, without the Turnstile and without checks."""

    def __init__(self, engine: str, work: Path) -> None:
        self.hosts = [HostClient.start(parse_engine(engine), work / f"bare-{slot}").ready() for slot in "AB"]
        self._work = work
        self._chunks = 0

    def close(self) -> None:
        """End the hosts."""
        for host in self.hosts:
            host.close()

    def chunk(self, raced: Sequence[RaceOutcome]) -> float:
        """Return the seconds of the engine for the first table of all pairs, and for the calls of each schedule."""
        folder = self._work / f"bare-{self._chunks}"
        self._chunks += 1
        seconds = self._open(folder / "table")
        for operation in BEFORE:
            seconds += self.hosts[0].execute(operation).seconds + self.hosts[0].read(Read()).seconds
        for number, outcome in enumerate(raced):
            for order in range(outcome.schedules + outcome.unfollowed):
                shutil.copytree(folder / "table", folder / f"{number}-{order}")
                seconds += self._schedule(folder / f"{number}-{order}", _pair_of(outcome))
        shutil.rmtree(folder)
        return seconds

    def _schedule(self, table: Path, pair: RaceScenario) -> float:
        seconds = self._open(table)
        for host, operation in zip(self.hosts, (pair.first, pair.second), strict=True):
            reply = host.read(operation) if isinstance(operation, Read) else host.execute(operation)
            seconds += reply.seconds
        return seconds + self._open(table) + self.hosts[0].read(Read()).seconds

    def _open(self, table: Path) -> float:
        start = time.monotonic()
        for host in self.hosts:
            host.open(str(table))
        return time.monotonic() - start


def alone(clock: Clock, bare: Bare) -> list[Row]:
    """Measure two hosts of the engine: schedules a minute, and the harness' own share beside the bare calls."""
    clock.play(RACES)  # warm
    rates, shares = [], []
    for _ in range(RUNS):
        counted, seconds, _engine = clock.play(RACES)
        bare_seconds = bare.chunk([event for event in clock.events if isinstance(event, RaceOutcome)])
        rates.append(60 * counted / seconds)
        shares.append((seconds - bare_seconds) / bare_seconds)
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
    """Return the committed pair of this event."""
    names = (*raced.operations, raced.overlap)
    return next(pair for pair in PAIRS if names == (name_of(pair.first), name_of(pair.second), pair.overlap))


def beside(engine: str, work: Path) -> Row:
    """Measure schedules a minute of delta-rs beside a warm engine on a JVM."""
    events: list[Event] = []
    specs = {name: parse_engine(name) for name in (ENGINE, engine)}
    instrumented_engines = InstrumentedEngines(specs, work, events.append)
    try:
        players = [player for player in map(instrumented_engines.get, (engine, ENGINE)) if player is not None]
        group = WriterGroup(
            tuple(players), SEVERAL if promises(engine_session_of(players[0].engine)) else IN_TURN
        )
        until = time.monotonic() + WARM_SECONDS
        hosts = EnginePool(list(specs.values()), work / "hosts", events.append)
        context = SuiteContext(
            hosts,
            FindingRecorder(work),
            events.append,
            lambda: time.monotonic() > until,
            instrumented_engines,
        )
        scenarios = RaceScenarios(context, BESIDE_RACES, work)
        history_recorder = HistoryRecorder(BESIDE_RACES, 0, context.finding_recorder, events.append)
        tables = (work / f"{number}" / "table" for number in itertools.count())
        pairs = itertools.cycle(PAIRS)

        def play() -> float:
            start = time.monotonic()
            while not context.is_over():
                history_recorder.begin_from(())
                scenarios.play_pair(
                    history_recorder, group.table_session(context, next(tables), "bench"), next(pairs), group
                )
            return time.monotonic() - start

        play()
        events.clear()
        until = time.monotonic() + SECONDS
        seconds = play()
    finally:
        instrumented_engines.close()
    counted = sum(event.schedules for event in events if isinstance(event, RaceOutcome))
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


WORKS: Works = {ENGINE: _twins, **{engine: partial(_beside, engine) for engine in BESIDE}}


def main(names: Sequence[str] = ()) -> Result:
    """Measure schedules of two hosts of one engine, then of one beside an engine on a JVM."""
    return in_parts("schedules", WORKS, names, ("our own reader and the engines read after each",))


if __name__ == "__main__":
    main(sys.argv[1:])
