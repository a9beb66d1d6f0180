"""Benchmark large writes beside `df.write.parquet`, and a small one to tables with few and with very many files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from benchmarks.bench import Bench, add, beginning, commit, seconds
from benchmarks.engine_works.small import FIVE
from benchmarks.results import Row
from pyspark_delta import write
from pyspark_delta.log.delta_log import DeltaLog

__all__ = ["append", "proportion"]


def append(bench: Bench, by: str | None = None) -> list[Row]:
    source, work = bench.source(), bench.work

    def ours(_: int) -> float:
        target = str(work / "copies" / "a")
        shutil.rmtree(target, ignore_errors=True)
        DeltaLog.forget(target)
        return seconds(lambda: write(source, target, "append", by))

    def bare(_: int) -> float:
        target = str(work / "copies" / "b")
        shutil.rmtree(target, ignore_errors=True)
        writer = source.write.partitionBy(by) if by else source.write
        return seconds(lambda: writer.parquet(target))

    what, bar, aim = (" in 20 partitions", 1.05, 1.0) if by else ("", 1.15, 1.05)
    return [bench.compared(
        f"append {bench.rows:,} rows, 6 columns{what}", "ms", ours, "df.write.parquet", bare, bar=bar, aim=aim, warm=1,
    )]  # fmt: skip


def proportion(bench: Bench) -> list[Row]:
    tables = {}
    for count in (1_000, 100_000):

        def make(path: Path, count: int = count) -> None:
            commit(path, 0, [*beginning(), *(add(number) for number in range(count))])
            DeltaLog.for_path(str(path)).checkpoint()

        tables[count] = bench.made(f"files {count}", make, changed=True)
    rows = bench.spark.createDataFrame(FIVE.select(["id", "name"]))

    def appended(count: int) -> Callable[[int], float]:
        # Every tenth commit writes a checkpoint, whose cost grows with the table, so it belongs to the figure.
        return lambda _: seconds(lambda: write(rows, str(tables[count]), "append"))

    return [bench.compared(
        "append 1 file to a table of 100,000 files", "ms", appended(100_000), "the same at 1,000 files",
        appended(1_000), bar=1.5, aim=1.1, warm=3, pairs=max(bench.pairs, 30),
    )]  # fmt: skip
