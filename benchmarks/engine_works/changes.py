"""Benchmark delete and merge on large tables, by rewriting and by deletion vectors, beside other engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable as Deltalake

from benchmarks.bench import VECTORS, Bench, seconds
from benchmarks.results import Row
from pyspark_delta import DeltaTable, write
from pyspark_delta.log.delta_log import DeltaLog

__all__ = ["delete", "merge"]


def delete(bench: Bench, peers: str) -> list[Row]:
    return _changed(
        bench, f"delete 0.1 % of {bench.rows:,} rows in 100 files", peers, lambda t: t.delete("id % 1000 = 7"),
        ("DeltaTable.forPath(spark, table).delete('id % 1000 = 7')", lambda t: t.delete("id % 1000 = 7")),
    )  # fmt: skip


def merge(bench: Bench, peers: str) -> list[Row]:
    step, count = bench.rows // 100_000 or 1, bench.rows

    def ours(target: DeltaTable) -> None:
        source = bench.spark.range(0, count + count // 10, step).selectExpr("id", "'merged' as name")
        insert = {"id": "s.id", "name": "s.name"}
        (target.alias("t").merge(source.alias("s"), "t.id = s.id").whenMatchedUpdate(set={"name": "s.name"})
         .whenNotMatchedInsert(values=insert).execute())  # fmt: skip

    remote = f"""
source = spark.range(0, {count + count // 10}, {step}).selectExpr("id", "'merged' as name").alias("s")
builder = DeltaTable.forPath(spark, table).alias("t").merge(source, "t.id = s.id")
builder = builder.whenMatchedUpdate(set={{"name": "s.name"}})
builder.whenNotMatchedInsert(values={{"id": "s.id", "name": "s.name"}}).execute()
"""
    ids = pa.array(range(0, count + count // 10, step), pa.int64())
    source = pa.table({"id": ids, "name": ["merged"] * len(ids)})

    def lake(target: Deltalake) -> None:
        merger = target.merge(source, "t.id = s.id", source_alias="s", target_alias="t")
        merger = merger.when_matched_update({"name": "s.name"})
        merger.when_not_matched_insert({"id": "s.id", "name": "s.name"}).execute()

    return _changed(bench, f"merge 100,000 rows into {count:,}", peers, ours, (remote, lake))


def _large(bench: Bench, *, with_vectors: bool) -> Path:
    name = "hundred with vectors" if with_vectors else "hundred"
    properties = VECTORS if with_vectors else {}
    return bench.made(name, lambda path: write(bench.frame(100), str(path), properties=properties))


def _changed(
    bench: Bench, work: str, peers: str, ours: Callable[[DeltaTable], object], theirs: tuple[str, Any]
) -> list[Row]:
    remote, lake = theirs
    with_vectors, peer, bar = {
        "vectors": (True, "delta-spark", 1.0 if "delete" in work else 0.5),
        "rewrite": (False, "delta-spark", 1.0 if "delete" in work else 0.8),
        "deltalake": (False, "deltalake", 1.0 if "delete" in work else None),
        "vectors beside deltalake": (True, "deltalake", None if "delete" in work else 1.0),
    }[peers]
    table = _large(bench, with_vectors=with_vectors)
    plain = _large(bench, with_vectors=False)

    def own(_: int) -> float:
        path = bench.copy(table, "ours")
        DeltaLog.forget(path)
        target = DeltaTable.forPath(bench.spark, path)
        return seconds(lambda: ours(target))

    def their(turn: int) -> float:
        path = bench.copy(plain if peer == "deltalake" else table, f"theirs{turn}")
        if peer == "delta-spark":
            return bench.remote(remote, table=path, rows=bench.rows)
        return seconds(lambda: lake(Deltalake(path)))

    how = "deletion vectors" if with_vectors else "rewrite"
    called = f"{peer}, rewrite" if peers == "vectors beside deltalake" else peer
    return [bench.compared(
        f"{work}, {how}", "ms", own, called, their, bar=bar, aim=0.6 if "delete" in work else None, warm=1,
    )]  # fmt: skip
