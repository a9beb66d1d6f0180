"""Make small tables, and look up their rows, files and newest actions."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable as Deltalake
from deltalake import QueryBuilder

from pyspark_delta import DeltaTable, write
from pyspark_delta.log.delta_log import DeltaLog

WEEK = 8 * 24 * 3600
VECTORS = {"delta.enableDeletionVectors": "true"}
Row = tuple[Any, ...]


def numbers(spark: Any, *values: int | None) -> Any:
    return spark.createDataFrame(pa.table({"id": pa.array(values, pa.int64())})).coalesce(1)


def several(
    spark: Any, path: str, *files: tuple[int, ...], properties: dict[str, str] | None = None
) -> DeltaTable:
    """Make a table with one file for each group of numbers."""
    for number, values in enumerate(files):
        write(numbers(spark, *values), path, mode="append", properties=None if number else properties)
    return DeltaTable.forPath(spark, path)


def ids(spark: Any, path: str) -> list[int]:
    ours = sorted(row[0] for row in DeltaTable.forPath(spark, path).toDF().collect())
    theirs = pa.table(QueryBuilder().register("t", Deltalake(path)).execute("select id from t").read_all())
    assert sorted(theirs["id"].to_pylist()) == ours
    return ours


def age(*paths: Path, seconds: int = WEEK) -> None:
    for path in paths:
        moment = time.time() - seconds
        os.utime(path, (moment, moment))


def let_a_millisecond_pass() -> None:
    """Wait a millisecond: vacuum keeps files that were removed in the same millisecond, whatever the retention."""
    now = time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 <= now:
        time.sleep(0.001)


def files(path: str) -> list[Path]:
    return sorted(file for file in Path(path).rglob("*") if file.is_file() and "_delta_log" not in file.parts)


def live(path: str) -> int:
    return DeltaLog.for_path(path).update().num_files


def actions(path: str, kind: str) -> list[dict[str, Any]]:
    newest = max(Path(path, "_delta_log").glob("*.json"))
    lines = [json.loads(line) for line in newest.read_text().splitlines()]
    return [line[kind] for line in lines if kind in line]


def frame(spark: Any, **columns: list[Any]) -> Any:
    types = {int: pa.int64(), str: pa.string(), float: pa.float64(), bool: pa.bool_()}
    arrays = {}
    for name, values in columns.items():
        kind = next((type(value) for value in values if value is not None), int)
        arrays[name] = pa.array(values, types[kind])
    return spark.createDataFrame(pa.table(arrays))


def make_table(
    spark: Any,
    path: str,
    properties: dict[str, str],
    partition_by: tuple[str, ...] = (),
    **columns: list[Any],
):
    write(frame(spark, **columns).coalesce(1), path, partition_by=partition_by, properties=properties)
    return DeltaTable.forPath(spark, path)


def rows(path: str, spark: Any) -> list[Row]:
    """The rows that the engine reads, after a check that deltalake reads the same."""
    ours = sorted((tuple(row) for row in DeltaTable.forPath(spark, path).toDF().collect()), key=repr)
    theirs = pa.table(QueryBuilder().register("t", Deltalake(path)).execute("select * from t").read_all())
    names = DeltaTable.forPath(spark, path).toDF().columns
    columns = [theirs[name].to_pylist() for name in names]
    assert sorted(zip(*columns, strict=True), key=repr) == ours
    assert DeltaTable.forPath(spark, path).count() == len(ours)
    return ours


def commit(path: str) -> dict[str, list[dict[str, Any]]]:
    """The actions of the newest commit, by kind."""
    newest = max(file for file in Path(path, "_delta_log").glob("*.json"))
    actions_by_kind: dict[str, list[dict[str, Any]]] = {"add": [], "remove": [], "commitInfo": []}
    for line in newest.read_text().splitlines():
        for kind, body in json.loads(line).items():
            actions_by_kind.setdefault(kind, []).append(body)
    return actions_by_kind


def metrics(path: str) -> dict[str, int]:
    return {name: int(value) for name, value in commit(path)["commitInfo"][0]["operationMetrics"].items()}


def data_files(path: str) -> set[str]:
    return {str(file) for file in Path(path).rglob("*.parquet") if "_delta_log" not in file.parts}


def version(path: str) -> int:
    return DeltaLog.for_path(path).update().version


def job_count(spark: Any) -> int:
    """The number of Spark jobs that the session has run so far."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().nextJobId())
