"""The Turnstile: its cost when idle, when it asks about every event, and when it holds a call.

The bar is on calls times cost per call. Two processes that do the same differ by more than the idle shim can cost: 0.7
to 1.4 with the shim in neither. So whole appends, by hosts that take turns, have no bar. A library made for it counts
the calls of an append. The cost of one call is that of a `write` that fails at once, in a C program.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from benchmarks.pairs import PAIRS, Pairs, bootstrap, measure
from benchmarks.results import Result, Row
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.instrumented_process import InstrumentedProcess
from conformance.fault_injection.shim_build import shim
from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine
from delta_models.operations import Append, Create
from delta_models.outcomes import Committed
from delta_models.schema import LONG, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG))
ROWS = Rows(SCHEMA, tuple((number,) for number in range(10)))
APPENDS = 4  # the quickest counts: a busy machine makes calls slower, never quicker
IDLE_BARS = {"delta-rs": 0.05, "delta-spark": 0.02}
HOSTS = 2
CALLS = 2000
HELD = 100

_CHILD = """
import os, sys, time
path, count = sys.argv[1], int(sys.argv[2])
best = 1e9
for _ in range(5):
    start = time.perf_counter()
    for _ in range(count // 5):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    best = min(best, (time.perf_counter() - start) / (count // 5))
print(best * 1e6)
"""


class Appender:
    """An engine that appends to a table of its own."""

    def __init__(
        self, work: Path, name: str, environment: Mapping[str, str] | None = None, engine: str = "delta-rs"
    ) -> None:
        self.table = work / f"{name}-table"
        self.host = HostClient.start(parse_engine(engine), work / name, environment=environment)

    def prepare(self) -> None:
        """Create the table, and append until the engine is warm."""
        self.host.open(str(self.table))
        assert self.host.execute(Create(SCHEMA)).outcome == Committed()
        for _ in range(5):
            self.append(0)

    def append(self, _: int) -> float:
        """Return the seconds of the quickest of a few appends, inside the host."""
        taken = []
        for _ in range(APPENDS):
            reply = self.host.execute(Append(ROWS))
            assert reply.outcome == Committed()
            taken.append(reply.seconds)
        return min(taken)


def appends(work: Path, turnstile: Turnstile) -> list[Row]:
    """Measure an append with the shim idle, and with all events asked about, beside one without the shim."""
    instrumented_processes = [turnstile.add_process(f"appender-{number}") for number in range(HOSTS)]
    shimmed = [Appender(work, process.name, process.environment()) for process in instrumented_processes]
    bare = [Appender(work, f"bare-{number}") for number in range(HOSTS)]
    try:
        for appender in (*shimmed, *bare):
            appender.prepare()
        for instrumented_process, appender in zip(instrumented_processes, shimmed, strict=True):
            instrumented_process.check_instrumented()
            instrumented_process.watch(appender.table)

        def armed(turn: int) -> float:
            instrumented_process = instrumented_processes[turn % HOSTS]
            instrumented_process.begin(reads=True)
            seconds = shimmed[turn % HOSTS].append(turn)
            assert instrumented_process.end().happened
            return seconds

        def idle(turn: int) -> float:
            return shimmed[turn % HOSTS].append(turn)

        def without(turn: int) -> float:
            return bare[turn // HOSTS % HOSTS].append(turn)

        return [
            _row("a delta-rs append, the shim idle", measure(idle, without, 2 * PAIRS)),
            _row(
                "a delta-rs append, every event and every read of the log asked about",
                measure(armed, without),
            ),
        ]
    finally:
        for appender in (*shimmed, *bare):
            appender.host.kill()


_TIGHT = """
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(void) {
    struct timespec a, b;
    double best = 1e9;
    for (int turn = 0; turn < 20; turn++) {
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int n = 0; n < 20000; n++) { ssize_t r = write(-1, "", 1); (void)r; }
        clock_gettime(CLOCK_MONOTONIC, &b);
        double each = ((b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9) / 20000;
        if (each < best) best = each;
    }
    printf("%.12f\\n", best);
}
"""


def share(work: Path, turnstile: Turnstile, engine: str) -> Row:
    """Measure the calls of an append times the cost of an idle call, as a share of the append."""
    with Turnstile(work / f"counting-{engine}", library=shim("-DTURNSTILE_COUNTS")) as counting:
        instrumented_process = counting.add_process("counted")
        counted = Appender(work, f"counted-{engine}", instrumented_process.environment(), engine)
        try:
            counted.prepare()
            before = instrumented_process.calls
            seconds = [counted.append(0) for _ in range(PAIRS)]
            number = (instrumented_process.calls - before) / (PAIRS * APPENDS)
        finally:
            counted.host.kill()
    (work / "tight.c").write_text(_TIGHT)
    subprocess.run(["cc", "-O2", "-w", "-o", work / "tight", work / "tight.c"], check=True)
    idle = turnstile.add_process(f"tight-{engine}").environment()

    def tight(environment: Mapping[str, str]) -> float:
        command = [str(work / "tight")]
        return float(
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        )

    extra = [tight(idle) - tight({}) for _ in range(PAIRS)]
    shares = [max(cost, 0) * number / taken for cost, taken in zip(extra, seconds, strict=True)]
    return Row(
        work=f"{number:.0f} calls of a {engine} append by an idle shim, each at {median(extra) * 1e9:.0f} ns",
        measure="seconds",
        ours=median(extra) * number,
        peer="the append",
        peer_value=median(seconds),
        ratio=median(shares),
        interval=bootstrap(shares),
        bar=IDLE_BARS[engine],
        pairs=PAIRS,
        more_is_better=False,
    )


def _row(work: str, pairs: Pairs) -> Row:
    return Row(
        work=work,
        measure="seconds",
        ours=median(pairs.ours),
        peer="without the shim",
        peer_value=median(pairs.peer),
        ratio=pairs.ratio,
        interval=pairs.interval,
        pairs=len(pairs.ours),
        more_is_better=False,
    )


def calls(work: Path, turnstile: Turnstile) -> list[Row]:
    """Measure one call: shim idle, armed for another folder, armed for this one; beside one without the shim."""
    instrumented_process = turnstile.add_process("caller")
    table = work / "calls"
    table.mkdir()
    instrumented_process.watch(table)

    def bare(_: int) -> float:
        return _child(work / "x", {})

    def idle(_: int) -> float:
        return _child(work / "x", instrumented_process.environment())

    def elsewhere(_: int) -> float:
        return _counted(instrumented_process, work / "x", 0)

    def armed(_: int) -> float:
        return _counted(instrumented_process, table / "x", HELD)

    rows = []
    few: list[tuple[str, Callable[[int], float], int]] = [
        ("the shim idle", idle, PAIRS),
        ("the shim armed, a file outside of the table", elsewhere, 7),
        ("the shim armed, a file of the table", armed, 7),
    ]
    for name, ours, pairs in few:
        taken = measure(ours, bare, pairs)
        rows.append(
            Row(
                work=f"open for writing and close, {name}",
                measure="microseconds",
                ours=median(taken.ours),
                peer="without the shim",
                peer_value=median(taken.peer),
                ratio=taken.ratio,
                interval=taken.interval,
                pairs=pairs,
                more_is_better=False,
            )
        )
    return rows


def _child(path: Path, environment: Mapping[str, str], count: int = CALLS) -> float:
    completed = subprocess.run(
        [sys.executable, "-S", "-c", _CHILD, str(path), str(count)],
        env={**os.environ, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(completed.stdout)


def _counted(instrumented_process: InstrumentedProcess, path: Path, events: int) -> float:
    instrumented_process.begin()
    taken = _child(path, instrumented_process.environment(), events or CALLS)
    assert len(instrumented_process.end().happened) == events
    return taken


def held(work: Path, turnstile: Turnstile) -> Row:
    """Measure a call that is held, and released as soon as it arrives."""
    instrumented_process = turnstile.add_process("held")
    table = work / "held"
    table.mkdir()
    instrumented_process.watch(table)
    instrumented_process.begin(gate=lambda _: True)
    with subprocess.Popen(
        [sys.executable, "-S", "-c", _CHILD, str(table / "x"), str(HELD)],
        env={**os.environ, **instrumented_process.environment()}, stdout=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        for _ in range(HELD):
            assert instrumented_process.wait_until_paused(30)
            instrumented_process.release()
        taken = float(child.communicate()[0])
    assert len(instrumented_process.end().happened) == HELD
    return Row(
        work="open for writing and close, held and released at once",
        measure="microseconds",
        ours=taken,
        peer="none",
        peer_value=None,
        more_is_better=False,
    )


def main() -> Result:
    """Measure what has a bar, then whole appends, then single calls."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        work = Path(folder)
        with Turnstile(work / "turnstile") as turnstile:
            rows = [
                *(share(work, turnstile, idle_bar) for idle_bar in IDLE_BARS),
                *appends(work, turnstile),
                *calls(work, turnstile),
                held(work, turnstile),
            ]
    return Result("turnstile", tuple(rows))
