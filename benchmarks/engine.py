"""Benchmark the in-house engine beside bare Spark jobs, delta-spark and deltalake.

    ./dev bench engine                                everything, within BENCH_SECONDS (5400)
    ./dev python -m benchmarks.engine append merge-rewrite  some works, whose rows replace theirs in results/engine.json

The rows of a work are written to the file as soon as they are measured. BENCH_ROWS sets the size of the large tables
(10 million rows) and BENCH_PAIRS the number of pairs (15). With lower numbers the result proves nothing and goes to
engine-look.json. BENCH_FOLDER names a folder that keeps the large tables for another run; otherwise they are temporary.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.bench import ROWS, Bench
from benchmarks.engine_works import changes, logs, scans, small, writes
from benchmarks.pairs import PAIRS
from benchmarks.results import Measured, Result, Row

RESULTS = Path(__file__).parent / "results"

WORKS: dict[str, Callable[[Bench], list[Row]]] = {
    "small": small.small,
    "upkeep": small.upkeep,
    "log": logs.log,
    "scan": scans.scan,
    "append": writes.append,
    "append-partitioned": partial(writes.append, by="p"),
    "vectors": scans.vectors,
    "filter": scans.selective,
    "proportion": writes.proportion,
    "million": logs.million,
    "delete-vectors": partial(changes.delete, peers="vectors"),
    "delete-rewrite": partial(changes.delete, peers="rewrite"),
    "delete-deltalake": partial(changes.delete, peers="deltalake"),
    "merge-vectors": partial(changes.merge, peers="vectors"),
    "merge-rewrite": partial(changes.merge, peers="rewrite"),
    "merge-deltalake": partial(changes.merge, peers="deltalake"),
    "merge-vectors-deltalake": partial(changes.merge, peers="vectors beside deltalake"),
}


def main(names: list[str] | None = None) -> Result:
    """Measure the named parts, or all of them as far as the time allows."""
    rows: list[Row] = []
    with contextlib.ExitStack() as stack:
        chosen = os.environ.get("BENCH_FOLDER")
        folder = Path(chosen or stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(
            folder,
            rows=int(os.environ.get("BENCH_ROWS", ROWS)),
            pairs=int(os.environ.get("BENCH_PAIRS", PAIRS)),
            seconds=float(os.environ.get("BENCH_SECONDS", "5400")),
        )
        stack.callback(bench.close)
        title = "engine" if (bench.rows, bench.pairs) >= (ROWS, PAIRS) else "engine-look"
        for name in names or WORKS:
            if name not in WORKS:
                raise SystemExit(f"no work is called {name!r}; there are {', '.join(WORKS)}")
            if bench.left <= 0:
                print(f"{name}: not measured, the time was up", flush=True)
                continue
            figures = WORKS[name](bench)
            for row in figures:
                print(f"  {row}", flush=True)
            rows += figures
            Measured(title, tuple(figures), tuple(bench.notes)).write(RESULTS)
    return Measured(title, tuple(rows), tuple(bench.notes))


if __name__ == "__main__":
    main(sys.argv[1:])
