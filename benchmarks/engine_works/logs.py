"""Benchmark the log: many commits, checkpoints of a million files, refreshes; beside deltalake and bare parsing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import orjson
from deltalake import DeltaTable as Deltalake

from benchmarks.bench import ROWS, Bench, add, alone, beginning, commit, seconds
from benchmarks.results import Row
from pyspark_delta.log.delta_log import DeltaLog

__all__ = ["log", "million"]


def log(bench: Bench) -> list[Row]:
    def make(path: Path) -> None:
        commit(path, 0, beginning())
        for version in range(1, 10_000):
            commit(
                path, version, [{"commitInfo": {"timestamp": version, "operation": "WRITE"}}, add(version)]
            )

    table = bench.made("commits", make, changed=True)
    spark = None

    def ours(_: int) -> float:
        DeltaLog.forget(str(table))
        took = seconds(lambda: DeltaLog.for_path(str(table), spark).update())
        assert DeltaLog.for_path(str(table)).update().num_files == 9_999
        return took

    def parsed(_: int) -> float:
        def work() -> None:
            for entry in sorted(os.scandir(table / "_delta_log"), key=lambda entry: entry.name):
                if entry.name.endswith(".json"):
                    for line in Path(entry.path).read_bytes().splitlines():
                        orjson.loads(line)

        return seconds(work)

    rows = [
        bench.compared(
            "snapshot of 10,000 commits without checkpoint, cold", "ms", ours, "deltalake",
            lambda _: seconds(lambda: Deltalake(str(table)).version()), bar=0.12, aim=0.05,
        ),
        bench.compared(
            "snapshot of 10,000 commits without checkpoint, cold", "ms", ours, "reading the bytes and orjson", parsed,
            bar=4.0, aim=1.5,
        ),
    ]  # fmt: skip
    DeltaLog.for_path(str(table)).checkpoint()
    rows.append(bench.compared(
        "snapshot of 10,000 commits with a checkpoint, cold", "ms", ours, "deltalake",
        lambda _: seconds(lambda: Deltalake(str(table)).version()), bar=1.5, aim=0.8,
    ))  # fmt: skip
    mine, theirs, state = (
        DeltaLog.for_path(str(table)),
        Deltalake(str(table)),
        {"version": 9_999, "turn": None},
    )

    def grown(turn: int) -> None:
        if state["turn"] != turn:
            state["turn"] = turn
            for _ in range(10):
                state["version"] += 1  # type: ignore[operator]
                commit(table, state["version"], [add(state["version"])])  # type: ignore[arg-type]

    def refresh(turn: int, work: Callable[[], object]) -> float:
        grown(turn)
        return seconds(work)

    rows.append(bench.compared(
        "refresh by 10 commits", "ms", lambda turn: refresh(turn, mine.update), "deltalake",
        lambda turn: refresh(turn, theirs.update_incremental), bar=0.25, aim=0.1,
    ))  # fmt: skip
    assert mine.update().version == state["version"]
    return rows


MEMORY = """
import json, sys
from pathlib import Path
import pyarrow, pyarrow.compute, pyarrow.parquet, pyspark.sql, pyspark_delta
from pyspark_delta.log.delta_log import DeltaLog

def peak():  # ru_maxrss would be the parent's if that was larger
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])

before = peak()
snapshot = DeltaLog.for_path(json.loads(sys.argv[1])["table"]).update()
print(json.dumps({"files": snapshot.num_files,
                  "mb": (peak() - before) / 1024}))
"""


def million(bench: Bench) -> list[Row]:
    count = 1_000_000 * bench.rows // ROWS

    def make(path: Path) -> None:
        commit(path, 0, [*beginning(), *(add(number) for number in range(count))])

    table = bench.made("million", make, changed=True)
    DeltaLog.forget(str(table))
    mine, theirs = DeltaLog.for_path(str(table)), Deltalake(str(table))
    mine.update()

    def written(work: Callable[[], object]) -> float:
        for old in (
            *table.glob("_delta_log/*.checkpoint.parquet"),
            *table.glob("_delta_log/_last_checkpoint"),
        ):
            old.unlink()  # deltalake writes no checkpoint if there is one
        took = seconds(work)
        assert len(list(table.glob("_delta_log/*.checkpoint.parquet"))) == 1
        return took

    rows = [bench.compared(
        f"checkpoint of {count:,} adds with statistics: write", "ms", lambda _: written(mine.checkpoint), "deltalake",
        lambda _: written(theirs.create_checkpoint), bar=1.0, aim=0.7, warm=1,
    )]  # fmt: skip
    mine.checkpoint()

    def load(_: int) -> float:
        DeltaLog.forget(str(table))
        return seconds(lambda: DeltaLog.for_path(str(table)).update())

    rows.append(bench.compared(
        f"checkpoint of {count:,} adds with statistics: load", "ms", load, "deltalake",
        lambda _: seconds(lambda: Deltalake(str(table)).version()), bar=1.0, aim=0.5, warm=1,
    ))  # fmt: skip
    memory = alone(MEMORY, table=str(table))
    assert memory["files"] == count
    rows.append(Row(
        f"checkpoint of {count:,} adds with statistics: load", "MB above what is loaded", memory["mb"], "bar in MB",
        900.0, memory["mb"] / 900, (memory["mb"] / 900, memory["mb"] / 900), 1.0, more_is_better=False,
    ))  # fmt: skip
    DeltaLog.forget(str(table))
    return rows
