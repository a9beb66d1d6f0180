"""Tables of a few numbers, and what there is of them: rows, files, actions of the newest commit."""

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


def numbers(spark: Any, *values: int | None) -> Any:
    return spark.createDataFrame(pa.table({"id": pa.array(values, pa.int64())})).coalesce(1)


def several(
    spark: Any, path: str, *files: tuple[int, ...], properties: dict[str, str] | None = None
) -> DeltaTable:
    """A table of one file for each group of numbers."""
    for number, values in enumerate(files):
        write(numbers(spark, *values), path, mode="append", properties=None if number else properties)
    return DeltaTable.forPath(spark, path)


def ids(spark: Any, path: str) -> list[int]:
    found = sorted(row[0] for row in DeltaTable.forPath(spark, path).toDF().collect())
    theirs = pa.table(QueryBuilder().register("t", Deltalake(path)).execute("select id from t").read_all())
    assert sorted(theirs["id"].to_pylist()) == found
    return found


def age(*paths: Path, seconds: int = WEEK) -> None:
    for path in paths:
        moment = time.time() - seconds
        os.utime(path, (moment, moment))


def let_a_millisecond_pass() -> None:
    """What was removed in the very millisecond of a vacuum stays, whatever the retention."""
    now = time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 <= now:
        time.sleep(0.001)


def files(path: str) -> list[Path]:
    return sorted(each for each in Path(path).rglob("*") if each.is_file() and "_delta_log" not in each.parts)


def live(path: str) -> int:
    return DeltaLog.for_path(path).update().num_files


def actions(path: str, kind: str) -> list[dict[str, Any]]:
    newest = max(Path(path, "_delta_log").glob("*.json"))
    lines = [json.loads(line) for line in newest.read_text().splitlines()]
    return [line[kind] for line in lines if kind in line]
