"""Benchmark operations on five rows, beside the bare Spark jobs that they need at least, and beside delta-spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.bench import Bench, seconds
from benchmarks.results import Row
from pyspark_delta import DeltaTable, read, write
from pyspark_delta.log.delta_log import DeltaLog

__all__ = ["FIVE", "small", "upkeep"]

# A session repeats operations, so the JVM's compilation does not belong to the figure.
WARM = 20

FIVE = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5], pa.int64()),
        "name": ["a", "b", "c", "d", "e"],
        "x": [0.1, 0.2, 0.3, 0.4, 0.5],
    }
)


def small(bench: Bench) -> list[Row]:
    spark = bench.spark

    def five() -> Any:
        return spark.createDataFrame(FIVE)

    schema = five().schema
    table = bench.made("five", lambda path: write(five().coalesce(1), str(path)))
    plain = str(
        bench.made("plain five", lambda path: five().coalesce(1).write.parquet(str(path)), changed=True)
    )

    def parquet() -> Any:
        return spark.read.schema(schema).parquet(plain)

    def bare(frame: Callable[[], Any]) -> Callable[[int], float]:
        return lambda _: seconds(
            lambda: frame().write.mode("overwrite").parquet(str(bench.work / "copies" / "bare"))
        )

    def ours(change: Callable[[DeltaTable], object]) -> Callable[[int], float]:
        def work(turn: int) -> float:
            path = bench.copy(table, f"ours{turn}")
            DeltaLog.forget(path)
            target = DeltaTable.forPath(spark, path)
            target._log.update()  # noqa: SLF001 - a session knows the tables that it works with
            return seconds(lambda: change(target))

        return work

    def joined() -> Any:
        other = five().withColumnRenamed("x", "y").drop("name")
        return parquet().join(other, "id", "full").selectExpr("id", "name", "coalesce(y, x) as x")

    appended = bench.copy(table, "appended")
    name = "5 rows: "
    return [
        bench.compared(
            f"{name}append", "ms", lambda _: seconds(lambda: write(five(), appended, "append")),
            "the bare Spark job", lambda _: seconds(lambda: five().write.mode("append").parquet(plain + "-appended")),
            bar=1.5, aim=1.2, warm=WARM,
        ),
        bench.compared(
            f"{name}read", "ms", lambda _: seconds(lambda: read(spark, str(table)).toArrow()),
            "the bare Spark job", lambda _: seconds(lambda: parquet().toArrow()), bar=1.5, aim=1.2, warm=WARM,
        ),
        bench.compared(
            f"{name}delete", "ms", ours(lambda t: t.delete("id = 3")),
            "the bare Spark job", bare(lambda: parquet().where("not (id <=> 3)")), bar=1.5, aim=1.2, warm=WARM,
        ),
        bench.compared(
            f"{name}update", "ms", ours(lambda t: t.update("id = 3", {"name": "'z'"})),
            "the bare Spark job", bare(lambda: parquet().selectExpr("id", "if(id = 3, 'z', name) as name", "x")),
            bar=1.5, aim=1.2, warm=WARM,
        ),
        bench.compared(
            f"{name}merge", "ms",
            ours(lambda t: t.alias("t").merge(five().alias("s"), "t.id = s.id")
                 .whenMatchedUpdate(set={"x": "s.x"}).whenNotMatchedInsertAll().execute()),
            "the bare Spark job", bare(joined), bar=1.5, aim=1.2, warm=WARM,
        ),
    ]  # fmt: skip


def upkeep(bench: Bench) -> list[Row]:
    """Measure optimize and vacuum, for which there is no bare Spark job to compare with."""
    spark, rows = bench.spark, []

    def make(path: Path) -> None:
        for _ in range(3):
            write(spark.createDataFrame(FIVE).coalesce(1), str(path), "append")

    three = bench.made("three", make)
    for what, change, remote, bar, aim in (
        ("optimize", lambda t: t.optimize().executeCompaction(), "optimize().executeCompaction()", 0.3, 0.2),
        ("vacuum", lambda t: t.vacuum(), "vacuum()", 0.1, 0.05),
    ):

        def own(turn: int, change: Callable[[DeltaTable], object] = change) -> float:
            path = bench.copy(three, f"ours{turn}")
            target = DeltaTable.forPath(spark, path)
            target._log.update()  # noqa: SLF001
            return seconds(lambda: change(target))

        def their(turn: int, remote: str = remote) -> float:
            path = bench.copy(three, f"theirs{turn}")
            bench.delta_spark.run("DeltaTable.forPath(spark, table).toDF().schema", table=path)
            return bench.remote(f"DeltaTable.forPath(spark, table).{remote}", table=path)

        rows.append(bench.compared(
            f"5 rows: {what}", "ms", own, "delta-spark", their, bar=bar, aim=aim, warm=3,
        ))  # fmt: skip
    return rows
