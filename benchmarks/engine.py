"""The in-house engine beside bare Spark jobs, delta-spark and deltalake: the table of its issue, line by line.

    ./dev bench engine                                everything, within BENCH_SECONDS (1800)
    ./dev python -m benchmarks.engine append merge    some works, whose rows replace theirs in results/engine.json

BENCH_ROWS makes the large tables smaller (10 million rows), for a look that proves nothing. BENCH_FOLDER names a folder
where large tables stay for another run; without it they are made anew, and go.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
from deltalake import DeltaTable as Deltalake
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from benchmarks.bench import ROWS, Bench, add, alone, beginning, commit, seconds
from benchmarks.results import Result, Row
from pyspark_delta import DeltaTable, read, write
from pyspark_delta.log.delta_log import DeltaLog

VECTORS = {"delta.enableDeletionVectors": "true"}
FIVE = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5], pa.int64()),
        "name": ["a", "b", "c", "d", "e"],
        "x": [0.1, 0.2, 0.3, 0.4, 0.5],
    }
)


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
    found = read(bench.spark, table).where(text)
    assert found.count() == 101
    leaf = found._jdf.queryExecution().executedPlan().collectLeaves().head()  # noqa: SLF001 - shows the files read
    found.collect()
    files = leaf.metrics().apply("numFiles").value()
    row = bench.compared(
        "selective filter, 100 files", "ms", lambda _: seconds(lambda: read(bench.spark, table).where(text).collect()),
        "delta-spark",
        lambda _: bench.remote("spark.read.format('delta').load(table).where(text).collect()", table=table, text=text),
        bar=0.9, aim=0.5,
    )  # fmt: skip
    bench.notes.append(f"selective filter: {files} of 100 files read")
    return [row]


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
            for entry in sorted(os.scandir(table / "_delta_log"), key=lambda each: each.name):
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

def peak():  # ru_maxrss is that of the parent where it was larger
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
            old.unlink()  # where there is one already, deltalake writes none
        took = seconds(work)
        assert len(list(table.glob("_delta_log/*.checkpoint.parquet"))) == 1
        return took

    rows = [bench.compared(
        f"checkpoint of {count:,} adds with statistics: write", "ms", lambda _: written(mine.checkpoint), "deltalake",
        lambda _: written(theirs.create_checkpoint), bar=1.0, aim=0.7, warm=1, pairs=7,
    )]  # fmt: skip
    mine.checkpoint()

    def load(_: int) -> float:
        DeltaLog.forget(str(table))
        return seconds(lambda: DeltaLog.for_path(str(table)).update())

    rows.append(bench.compared(
        f"checkpoint of {count:,} adds with statistics: load", "ms", load, "deltalake",
        lambda _: seconds(lambda: Deltalake(str(table)).version()), bar=1.0, aim=0.5, warm=1,
    ))  # fmt: skip
    told = alone(MEMORY, table=str(table))
    assert told["files"] == count
    rows.append(Row(
        f"checkpoint of {count:,} adds with statistics: load", "MB above what is loaded", told["mb"], "bar in MB",
        900.0, told["mb"] / 900, (told["mb"] / 900, told["mb"] / 900), 1.0, more_is_better=False,
    ))  # fmt: skip
    DeltaLog.forget(str(table))
    return rows


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
    rows = [
        bench.compared(
            f"{name}append", "ms", lambda _: seconds(lambda: write(five(), appended, "append")),
            "the bare Spark job", lambda _: seconds(lambda: five().write.mode("append").parquet(plain + "-appended")),
            bar=1.5, aim=1.2, warm=5,
        ),
        bench.compared(
            f"{name}read", "ms", lambda _: seconds(lambda: read(spark, str(table)).toArrow()),
            "the bare Spark job", lambda _: seconds(lambda: parquet().toArrow()), bar=1.5, aim=1.2, warm=5,
        ),
        bench.compared(
            f"{name}delete", "ms", ours(lambda t: t.delete("id = 3")),
            "the bare Spark job", bare(lambda: parquet().where("not (id <=> 3)")), bar=1.5, aim=1.2, warm=5,
        ),
        bench.compared(
            f"{name}update", "ms", ours(lambda t: t.update("id = 3", {"name": "'z'"})),
            "the bare Spark job", bare(lambda: parquet().selectExpr("id", "if(id = 3, 'z', name) as name", "x")),
            bar=1.5, aim=1.2, warm=5,
        ),
        bench.compared(
            f"{name}merge", "ms",
            ours(lambda t: t.alias("t").merge(five().alias("s"), "t.id = s.id")
                 .whenMatchedUpdate(set={"x": "s.x"}).whenNotMatchedInsertAll().execute()),
            "the bare Spark job", bare(joined), bar=1.5, aim=1.2, warm=5,
        ),
    ]  # fmt: skip

    def make(path: Path) -> None:
        for _ in range(3):
            write(five().coalesce(1), str(path), "append")

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
            f"{name}{what}", "ms", own, "delta-spark", their, bar=bar, aim=aim, warm=3,
        ))  # fmt: skip
    return rows


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
        pairs=bench.pairs if peers == "vectors" and "delete" in work else min(bench.pairs, 5),
    )]  # fmt: skip


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


def proportion(bench: Bench) -> list[Row]:
    tables = {}
    for count in (1_000, 100_000):

        def make(path: Path, count: int = count) -> None:
            commit(path, 0, [*beginning(), *(add(number) for number in range(count))])
            DeltaLog.for_path(str(path)).checkpoint()

        tables[count] = bench.made(f"files {count}", make, changed=True)
    rows = bench.spark.createDataFrame(FIVE.select(["id", "name"]))

    def appended(count: int) -> Callable[[int], float]:
        # A checkpoint is written every tenth commit, and its cost is the table's: it belongs to the figure.
        return lambda _: seconds(lambda: write(rows, str(tables[count]), "append"))

    return [bench.compared(
        "append 1 file to a table of 100,000 files", "ms", appended(100_000), "the same at 1,000 files",
        appended(1_000), bar=1.5, aim=1.1, warm=3, pairs=max(bench.pairs, 30),
    )]  # fmt: skip


WORKS: dict[str, Callable[[Bench], list[Row]]] = {
    "small": small,
    "log": log,
    "scan": scan,
    "append": append,
    "append-partitioned": partial(append, by="p"),
    "vectors": vectors,
    "filter": selective,
    "proportion": proportion,
    "million": million,
    "delete-vectors": partial(delete, peers="vectors"),
    "delete-rewrite": partial(delete, peers="rewrite"),
    "delete-deltalake": partial(delete, peers="deltalake"),
    "merge-vectors": partial(merge, peers="vectors"),
    "merge-rewrite": partial(merge, peers="rewrite"),
    "merge-deltalake": partial(merge, peers="deltalake"),
    "merge-vectors-deltalake": partial(merge, peers="vectors beside deltalake"),
}


def main(asked: list[str] | None = None) -> Result:
    """The works asked for, or all of them as far as the budget of time goes."""
    names = asked or list(WORKS)
    rows: list[Row] = []
    with contextlib.ExitStack() as stack:
        given = os.environ.get("BENCH_FOLDER")
        folder = Path(given or stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(
            folder,
            rows=int(os.environ.get("BENCH_ROWS", ROWS)),
            pairs=int(os.environ.get("BENCH_PAIRS", "15")),
            seconds=float(os.environ.get("BENCH_SECONDS", "1800")),
        )
        stack.callback(bench.close)
        for name in names:
            if bench.left <= 0:
                bench.notes.append(f"{name}: not measured, the time was up")
                continue
            found = WORKS[name](bench)
            for row in found:
                print(f"  {row}", flush=True)
            rows += found
    if bench.rows != ROWS:
        bench.notes.append(f"with {bench.rows:,} rows in place of {ROWS:,}")
    return Result("engine", tuple(rows), tuple(bench.notes))


def some(asked: list[str], results: Path) -> Path:
    """Measure some works; what the file has of others stays, and says of which commit it is."""
    path = results / "engine.json"
    before = orjson.loads(path.read_bytes()) if path.exists() else {"rows": [], "notes": []}
    made = main(asked).write(results)
    after = orjson.loads(made.read_bytes())
    known = {(row["work"], row["measure"], row["peer"]) for row in after["rows"]}
    old = {"commit": before.get("commit"), "at": before.get("at"), "machine": before.get("machine")}
    kept = [old | row for row in before["rows"] if (row["work"], row["measure"], row["peer"]) not in known]
    after["rows"] = [*kept, *after["rows"]]
    after["notes"] = list(dict.fromkeys([*before["notes"], *after["notes"]]))
    made.write_bytes(orjson.dumps(after, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return made


if __name__ == "__main__":
    results = Path(__file__).parent / "results"
    print(some(sys.argv[1:], results) if sys.argv[1:] else main().write(results))
