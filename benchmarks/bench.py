"""The tools of a benchmark of the engine: sessions, tables that are made once, copies, a budget of time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from benchmarks.pairs import LONG_SECONDS, PAIRS, Pairs, measure
from benchmarks.results import Row
from tests.pyspark_delta.delta_spark import DeltaSpark

ROWS = 10_000_000
VECTORS = {"delta.enableDeletionVectors": "true"}
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
}
COLUMNS = """
    id, cast(id % 20 as int) as p, concat('name ', id % 100000) as name, id / 3d as amount,
    timestamp_micros(1700000000000000 + id * 1000) as at, cast(id % 1000 as decimal(10, 2)) as price
"""


@dataclass
class Bench:
    """One run of the benchmark `engine`."""

    work: Path
    rows: int = ROWS
    pairs: int = PAIRS
    seconds: float = 1800.0
    started: float = field(default_factory=time.monotonic)
    notes: list[str] = field(default_factory=list)
    _made: dict[str, Path] = field(default_factory=dict)
    _spark: SparkSession | None = None
    _delta_spark: DeltaSpark | None = None

    @property
    def spark(self) -> SparkSession:
        """The Spark session of `pyspark_delta` and of the bare Spark jobs."""
        if self._spark is None:
            os.environ["PYSPARK_PYTHON"] = sys.executable
            builder = SparkSession.builder.master("local[2]").appName("benchmarks")
            for key, value in SETTINGS.items():
                builder = builder.config(key, value)
            self._spark = builder.config(
                "spark.sql.warehouse.dir", str(self.work / "warehouse")
            ).getOrCreate()
            self._spark.sparkContext.setLogLevel("ERROR")
        return self._spark

    @property
    def delta_spark(self) -> DeltaSpark:
        """delta-spark, in a JVM of its own."""
        if self._delta_spark is None:
            folder = self.work / "delta-spark"
            folder.mkdir(exist_ok=True)
            self._delta_spark = DeltaSpark(folder, SETTINGS)
        return self._delta_spark

    def close(self) -> None:
        """Stop the sessions that were started."""
        if self._delta_spark is not None:
            self._delta_spark.__exit__()
        if self._spark is not None:
            self._spark.stop()

    @property
    def left(self) -> float:
        """Seconds that are left of the budget."""
        return self.seconds - (time.monotonic() - self.started)

    def made(self, name: str, make: Callable[[Path], object], *, changed: bool = False) -> Path:
        """Return a folder, made at its first use. An earlier run's folder is used again, unless it is `changed`."""
        if name not in self._made:
            place = self.work / name
            whole = self.work / f".{name}.{self.rows}.whole"
            if changed or not whole.exists():
                shutil.rmtree(place, ignore_errors=True)
                make(place)
                whole.touch()
            self._made[name] = place
        return self._made[name]

    def copy(self, source: Path, name: str) -> str:
        """Return a copy of a table that may be changed. It shares its data files, which never change."""
        target = self.work / "copies" / name
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(exist_ok=True)
        shutil.copytree(source, target, copy_function=os.link)
        return str(target)

    def source(self) -> DataFrame:
        """Return the rows that large writes write, from Parquet files."""
        path = self.made("source", lambda p: self.frame().write.parquet(str(p)))
        return self.spark.read.schema(self.frame().schema).parquet(str(path))

    def frame(self, files: int = 4) -> DataFrame:
        """Return the same rows, computed by Spark, in so many partitions."""
        return self.spark.range(0, self.rows, 1, files).selectExpr(*_split(COLUMNS))

    def remote(self, lines: str, **names: Any) -> float:
        """Return the seconds that delta-spark takes for these lines, by the clock of its own process."""
        body = "\n".join(f"    {line}" for line in lines.strip().splitlines())
        clock = "began = time.perf_counter()\nwork()\nresult = time.perf_counter() - began"
        timed = f"import time\ndef work():\n{body}\n{clock}"
        return float(self.delta_spark.run(timed, **names))

    def compared(
        self,
        work: str,
        measured: str,
        ours: Callable[[int], float],
        peer: str,
        theirs: Callable[[int], float],
        *,
        bar: float | None = None,
        aim: float | None = None,
        warm: int = 2,
        pairs: int | None = None,
        unit: float = 1000.0,
    ) -> Row:
        """Return one row: ours and the peer by turns, after a few turns that do not count."""
        for turn in range(warm):
            ours(-1 - turn)
            theirs(-1 - turn)
        measured_pairs: Pairs = measure(ours, theirs, pairs or self.pairs)
        count = len(measured_pairs.ours)
        note = f"{count} pairs: one takes more than {LONG_SECONDS:.0f} s" if count < PAIRS else ""
        return Row(
            work, measured, _median(measured_pairs.ours) * unit, peer, _median(measured_pairs.peer) * unit,
            measured_pairs.ratio, measured_pairs.interval, bar, aim, count, more_is_better=False, note=note,
        )  # fmt: skip


def seconds(work: Callable[[], object]) -> float:
    """Return how long this work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def alone(lines: str, **names: Any) -> dict[str, Any]:
    """Run lines in a process of their own, for memory and cold starts. Return the JSON that they print last."""
    completed = subprocess.run(
        [sys.executable, "-c", lines, json.dumps(names)], capture_output=True, text=True, check=True
    )
    result: dict[str, Any] = json.loads(completed.stdout.splitlines()[-1])
    return result


def commit(table: Path, version: int, actions: list[Mapping[str, Any]]) -> None:
    """Write a commit into a log."""
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(action, separators=(",", ":")) + "\n" for action in actions)
    (log / f"{version:020d}.json").write_text(lines)


def add(number: int) -> dict[str, Any]:
    """Return the add of a file that does not exist, with statistics of three columns."""
    low = number * 1000
    stats = {
        "numRecords": 1000,
        "minValues": {"id": low, "name": f"name {low}", "amount": low / 4},
        "maxValues": {"id": low + 999, "name": f"name {low + 999}", "amount": low / 4 + 250},
        "nullCount": {"id": 0, "name": 0, "amount": 0},
    }
    return {
        "add": {
            "path": f"part-{number:05d}-{number:032x}.c000.snappy.parquet", "partitionValues": {},
            "size": 1000 + number, "modificationTime": 1_700_000_000_000 + number, "dataChange": True,
            "stats": json.dumps(stats),
        }
    }  # fmt: skip


def beginning() -> list[Mapping[str, Any]]:
    """Return the protocol and metadata of a table with these columns."""
    fields = [("id", "long"), ("name", "string"), ("amount", "double")]
    schema = {
        "type": "struct",
        "fields": [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in fields],
    }
    return [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {
            "metaData": {
                "id": "00000000-0000-0000-0000-000000000001", "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps(schema), "partitionColumns": [], "configuration": {}, "createdTime": 0,
            }
        },
    ]  # fmt: skip


def _split(columns: str) -> list[str]:
    """Split a list of columns at its commas, except those within parentheses."""
    columns_before, depth, current = [], 0, ""
    for character in columns.strip():
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            columns_before.append(current)
            current = ""
        else:
            current += character
    return [*columns_before, current]


def _median(values: tuple[float, ...]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
