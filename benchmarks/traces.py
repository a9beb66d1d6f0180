"""The same schedule of the same operations, thirty times for each pair of engines: the same gates in the same order,
the same storage events, the same answers. Not a comparison with a peer: the bar is that all thirty are alike.

    ./dev bench traces                                               every pair, twins too
    ./dev python -m benchmarks.traces delta-spark/delta-spark        some, whose rows replace theirs in the file

Whoever does not promise commits of several processes is not held between his look whether a version is free and his
taking it, as in the suite.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.results import Result, Row, in_parts
from conformance.execution.table_copies import copy_folder
from conformance.fault_injection.gates import PUBLISH, GateTracker
from conformance.fault_injection.instrumented_engines import InstrumentedEngine, InstrumentedEngines
from conformance.fault_injection.interleaving import ScheduledWriter, interleave
from conformance.suites.context import engine_session_of
from conformance.suites.races.scenarios import BEFORE, PAIRS
from conformance.suites.races.session import promises
from delta_adapters.host_client import HostClient, Reply
from delta_adapters.registry import parse_engine
from delta_models.outcomes import Committed

TIMES = 30
ENGINES = ("delta-rs", "pyspark", "delta-spark")
PAIR = next(pair for pair in PAIRS if pair.name == "Append and Delete, table")
WARM = 3


class Racers:
    """Two engines and the table from which they begin."""

    def __init__(self, names: tuple[str, str], work: Path) -> None:
        self.instrumented_engines = InstrumentedEngines(
            {name: parse_engine(name) for name in names}, work, lambda _: None
        )
        places = "AB" if names[0] == names[1] else "AA"
        found = [self.instrumented_engines.get(*each) for each in zip(names, places, strict=True)]
        self._players: list[InstrumentedEngine] = [each for each in found if each is not None]
        if len(self._players) < len(names):
            raise SystemExit(f"{' and '.join(names)} can't both run here: see ./dev conformance doctor")
        self._work = work
        self._tables = (work / f"table-{at}" for at in itertools.count())
        self._base = next(self._tables)
        host = self._host(0)
        host.open(str(self._base))
        for each in BEFORE:
            assert host.execute(each).outcome == Committed()
        self._schedule = tuple(self._order())

    def race(self) -> tuple[object, ...]:
        """One race on a table of its own: all in which two could differ."""
        table = self._table()
        writers = [
            ScheduledWriter(
                player.instrumented_process, partial(self._submit, at), closed=self._closed(player)
            )
            for at, player in enumerate(self._players)
        ]
        for player in self._players:
            player.instrumented_process.watch(table)
        told = interleave(self.instrumented_engines.turnstile, writers, self._schedule, together=True)
        answers = tuple(
            str(answer.outcome) if isinstance(answer, Reply) else str(answer) for answer in told.answers
        )
        return told.timeline, tuple(record.trace for record in told.records), answers, told.failures

    def _order(self) -> Iterator[int]:
        """Turn by turn, as far as each has gates."""
        gates = [self._gates(at) for at in range(len(self._players))]
        for turn in range(max(gates)):
            yield from (at for at, many in enumerate(gates) if turn < many)

    def _gates(self, at: int) -> int:
        table, player = self._table(), self._players[at]
        passed = GateTracker(closed=self._closed(player))
        player.instrumented_process.watch(table)
        player.instrumented_process.begin(gate=lambda event: passed(event) and False)
        assert self._submit(at)().outcome == Committed()
        player.instrumented_process.end()
        return len(passed.passed)

    def _table(self) -> Path:
        table = next(self._tables)
        copy_folder(self._base, table)
        for at in range(len(self._players)):
            self._host(at).open(str(table))
        return table

    def _submit(self, at: int) -> Callable[[], Reply]:
        return self._host(at).submit((PAIR.first, PAIR.second)[at], f"trace-{at}").result

    def _host(self, at: int) -> HostClient:
        host = self._players[at].engine.host
        assert host is not None
        return host

    @staticmethod
    def _closed(player: InstrumentedEngine) -> frozenset[str]:
        return frozenset() if promises(engine_session_of(player.engine)) else frozenset({PUBLISH})


def _rows(names: tuple[str, str]) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="traces-") as folder:
        racers = Racers(names, Path(folder))
        try:
            for _ in range(WARM):  # the first call of an engine may do more than all after it
                racers.race()
            told = Counter(racers.race() for _ in range(TIMES))
        finally:
            racers.instrumented_engines.close()
    (course, same), *others = told.most_common()
    for each, times in others:
        print(f"  {times} of {TIMES} otherwise: {each}\n  than: {course}")
    share = same / TIMES
    row = Row(
        f"an append beside a delete, {names[0]} and {names[1]}", "races", same, "asked", TIMES, share, (share, share),
        1.0, pairs=TIMES, note=", ".join(f"{'AB'[at]} {gate}" for at, gate in course[0]),
    )  # fmt: skip
    return [row]


WORKS = {
    f"{one}/{other}": partial(_rows, (one, other))
    for one, other in itertools.combinations_with_replacement(ENGINES, 2)
}


def main(asked: Sequence[str] = ()) -> Result:
    """A row for each pair."""
    return in_parts("traces", WORKS, asked, ("ours: the races that went alike in gates, events and answers",))


if __name__ == "__main__":
    main(sys.argv[1:])
