"""Whether a schedule plays the same each time: thirty races for each pair of engines.

All thirty must pass the same gates in the same order, with the same storage events and the same answers. That is the
bar; there is no peer.

    ./dev bench traces                                               every pair, twins too
    ./dev python -m benchmarks.traces delta-spark/delta-spark        some, whose rows replace theirs in the file

As in the suite `races`, an engine that does not promise commits of several processes is not held between its check
that a version is free and its write.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

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


class Course(NamedTuple):
    """How one race went: everything in which two races of one schedule could differ."""

    timeline: tuple[tuple[int, str], ...]
    traces: tuple[tuple[object, ...], ...]
    answers: tuple[str, ...]
    failures: tuple[str, ...]


class Racers:
    """Two engines and the table from which they begin."""

    def __init__(self, names: tuple[str, str], work: Path) -> None:
        self.instrumented_engines = InstrumentedEngines(
            {name: parse_engine(name) for name in names}, work, lambda _: None
        )
        places = "AB" if names[0] == names[1] else "AA"
        players = [self.instrumented_engines.get(*pair) for pair in zip(names, places, strict=True)]
        self._players: list[InstrumentedEngine] = [player for player in players if player is not None]
        if len(self._players) < len(names):
            raise SystemExit(f"{' and '.join(names)} can't both run here: see ./dev conformance doctor")
        self._work = work
        self._tables = (work / f"table-{number}" for number in itertools.count())
        self._base = next(self._tables)
        host = self._host(0)
        host.open(str(self._base))
        for operation in BEFORE:
            assert host.execute(operation).outcome == Committed()
        self._schedule = tuple(self._order())

    def race(self) -> Course:
        """Play one race on a table of its own."""
        table = self._table()
        writers = [
            ScheduledWriter(
                player.instrumented_process, partial(self._submit, index), closed=self._closed(player)
            )
            for index, player in enumerate(self._players)
        ]
        for player in self._players:
            player.instrumented_process.watch(table)
        interleaved = interleave(self.instrumented_engines.turnstile, writers, self._schedule, together=True)
        answers = tuple(
            str(answer.outcome) if isinstance(answer, Reply) else str(answer)
            for answer in interleaved.answers
        )
        traces = tuple(record.trace for record in interleaved.records)
        return Course(interleaved.timeline, traces, answers, interleaved.failures)

    def _order(self) -> Iterator[int]:
        """Yield a schedule in which the writers take turns until each has passed its gates."""
        counts = [self._count_gates(index) for index in range(len(self._players))]
        for turn in range(max(counts)):
            yield from (index for index, count in enumerate(counts) if turn < count)

    def _count_gates(self, index: int) -> int:
        table, player = self._table(), self._players[index]
        passed = GateTracker(closed=self._closed(player))
        player.instrumented_process.watch(table)
        player.instrumented_process.begin(gate=lambda event: passed(event) and False)
        assert self._submit(index)().outcome == Committed()
        player.instrumented_process.end()
        return len(passed.passed)

    def _table(self) -> Path:
        table = next(self._tables)
        copy_folder(self._base, table)
        for index in range(len(self._players)):
            self._host(index).open(str(table))
        return table

    def _submit(self, index: int) -> Callable[[], Reply]:
        return self._host(index).submit((PAIR.first, PAIR.second)[index], f"trace-{index}").result

    def _host(self, index: int) -> HostClient:
        host = self._players[index].engine.host
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
            courses = Counter(racers.race() for _ in range(TIMES))
        finally:
            racers.instrumented_engines.close()
    (course, same), *others = courses.most_common()
    for other, times in others:
        print(f"  {times} of {TIMES} otherwise: {tuple(other)}\n  than: {tuple(course)}")
    share = same / TIMES
    row = Row(
        f"an append beside a delete, {names[0]} and {names[1]}", "races", same, "asked", TIMES, share, (share, share),
        1.0, pairs=TIMES, note=", ".join(f"{'AB'[index]} {gate}" for index, gate in course.timeline),
    )  # fmt: skip
    return [row]


WORKS = {
    f"{one}/{other}": partial(_rows, (one, other))
    for one, other in itertools.combinations_with_replacement(ENGINES, 2)
}


def main(names: Sequence[str] = ()) -> Result:
    """Measure the pairs of these names, or all; one row each."""
    return in_parts("traces", WORKS, names, ("ours: the races that went alike in gates, events and answers",))


if __name__ == "__main__":
    main(sys.argv[1:])
