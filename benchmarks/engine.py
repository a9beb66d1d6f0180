"""The in-house engine beside bare Spark jobs, delta-spark and deltalake: the table of its issue, line by line.

    ./dev bench engine                                everything, within BENCH_SECONDS (5400)
    ./dev python -m benchmarks.engine append merge    some works, whose rows replace theirs in results/engine.json

Each work's rows are in the file as soon as they are measured. BENCH_ROWS makes the large tables smaller (10 million
rows) and BENCH_PAIRS takes fewer pairs (15), for a look that proves nothing and goes to engine-look.json. BENCH_FOLDER
names a folder where large tables stay for another run; without it they are made anew, and go.
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


def main(asked: list[str] | None = None) -> Result:
    """The works asked for, or all of them as far as the budget of time goes."""
    rows: list[Row] = []
    with contextlib.ExitStack() as stack:
        given = os.environ.get("BENCH_FOLDER")
        folder = Path(given or stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(
            folder,
            rows=int(os.environ.get("BENCH_ROWS", ROWS)),
            pairs=int(os.environ.get("BENCH_PAIRS", PAIRS)),
            seconds=float(os.environ.get("BENCH_SECONDS", "5400")),
        )
        stack.callback(bench.close)
        called = "engine" if (bench.rows, bench.pairs) >= (ROWS, PAIRS) else "engine-look"
        for name in asked or WORKS:
            if bench.left <= 0:
                print(f"{name}: not measured, the time was up", flush=True)
                continue
            found = WORKS[name](bench)
            for row in found:
                print(f"  {row}", flush=True)
            rows += found
            Measured(called, tuple(found), tuple(bench.notes)).write(RESULTS)
    return Measured(called, tuple(rows), tuple(bench.notes))


if __name__ == "__main__":
    main(sys.argv[1:])
