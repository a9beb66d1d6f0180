"""Benchmark scans: beside plain Parquet, with deletion vectors, and of the few files that a filter leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from benchmarks.bench import VECTORS, Bench, seconds
from benchmarks.results import Row
from pyspark_delta import DeltaTable, read, write

__all__ = ["scan", "selective", "vectors"]


def scan(bench: Bench) -> list[Row]:
    table = str(bench.made("whole", lambda path: write(bench.source(), str(path))))
    plain = bench.made("plain", lambda path: bench.source().write.parquet(str(path)))
    spark, schema = bench.spark, bench.source().schema

    def parquet() -> Any:
        return spark.read.schema(schema).parquet(str(plain))

    whole = DeltaTable.forPath(spark, table)
    return [
        bench.compared(
            "scan, sum of one column", "ms", lambda _: seconds(lambda: read(spark, table).agg(F.sum("id")).collect()),
            "plain Parquet", lambda _: seconds(lambda: parquet().agg(F.sum("id")).collect()), bar=1.05,
            warm=5, pairs=4 * bench.pairs,
        ),
        bench.compared(
            "count of all rows", "ms", lambda _: seconds(whole.count),
            "plain Parquet", lambda _: seconds(lambda: parquet().count()), bar=0.1,
        ),
    ]  # fmt: skip


def vectors(bench: Bench) -> list[Row]:
    spark = bench.spark
    rows = []
    for share, every in (("0.1 %", 1000), ("1 %", 100)):

        def make(path: Path, every: int = every) -> None:
            write(bench.source(), str(path), properties=VECTORS)
            DeltaTable.forPath(spark, str(path)).delete(f"id % {every} = 7")

        table = str(bench.made(f"vectors{every}", make))
        assert read(spark, table).count() == bench.rows - bench.rows // every

        def total(version: int | None, table: str = table) -> Callable[[int], float]:
            return lambda _: seconds(lambda: read(spark, table, version).agg(F.sum("id")).collect())

        rows.append(bench.compared(
            f"scan with deletion vectors, {share} deleted, sum of one column", "ms", total(None),
            "the same without", total(0), bar=1.5, aim=1.3,
        ))  # fmt: skip
    return rows


def selective(bench: Bench) -> list[Row]:
    table = str(bench.made("hundred", lambda path: write(bench.frame(100), str(path))))
    low = bench.rows // 2 + 10
    text = f"id between {low} and {low + 100}"
    frame = read(bench.spark, table).where(text)
    assert frame.count() == 101
    leaf = frame._jdf.queryExecution().executedPlan().collectLeaves().head()  # noqa: SLF001 - shows the files read
    frame.collect()
    files = leaf.metrics().apply("numFiles").value()
    row = bench.compared(
        "selective filter, 100 files", "ms", lambda _: seconds(lambda: read(bench.spark, table).where(text).collect()),
        "delta-spark",
        lambda _: bench.remote("spark.read.format('delta').load(table).where(text).collect()", table=table, text=text),
        bar=0.9, aim=0.5,
    )  # fmt: skip
    bench.notes.append(f"selective filter: {files} of 100 files read")
    return [row]
