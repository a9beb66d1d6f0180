"""The turnstile in a JVM, in a PySpark driver and in its Python workers."""

import os
import subprocess
import sys

import pytest

from conformance.fault_injection.fault_actions import DeadTable, Fail, FaultRule
from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine
from delta_models.log import LogReader
from delta_models.operations import Append, Create
from delta_models.outcomes import Committed
from delta_models.schema import LONG, struct
from delta_models.values import Rows

pytestmark = pytest.mark.slow

SCHEMA = struct(("id", LONG))
# `facts/storage.md`: publishing a commit is eight events, always in this order.
PUBLISHING = (
    "staging#0 open",
    "side open",
    "commit#0 rename",
    "side rename",
    "checksum-staging#0 open",
    "side open",
    "checksum#0 rename",
    "side rename",
)


def rows(*ids):
    return Rows(SCHEMA, tuple((identity,) for identity in ids))


def ids(folder):
    reader = LogReader(folder)
    return sorted(row[0] for row in reader.rows(reader.snapshot()).rows)


def changes(record):
    """The names in order; Hadoop's block checksums are not numbered here, since the data file has one too."""
    events = [event.event for event in record.happened if event.event.role != "look"]
    return tuple(f"side {event.call.kind}" if event.role == "side" else event.name for event in events)


def test_delta_spark_is_seen_and_an_append_can_be_cut_and_failed(turnstile, tmp_path):
    instrumented_process = turnstile.add_process("jvm")
    table = tmp_path / "table"
    with HostClient.start(
        parse_engine("delta-spark"), tmp_path / "host", environment=instrumented_process.environment()
    ) as host:
        host.ready()
        instrumented_process.check_instrumented()
        instrumented_process.watch(table)
        host.open(str(table))
        for operation in (Create(SCHEMA), Append(rows(1))):
            assert host.execute(operation).outcome == Committed()
        instrumented_process.begin()
        assert host.execute(Append(rows(2))).outcome == Committed()
        trace = changes(instrumented_process.end())
        assert set(trace[:-8]) == {"data#0 open", "side open"}
        assert trace[-8:] == PUBLISHING

        instrumented_process.begin([FaultRule("staging", Fail("EIO"))])
        assert host.execute(Append(rows(3))).outcome != Committed()
        assert instrumented_process.end().followed
        assert ids(table) == [1, 2]

        instrumented_process.begin([FaultRule("commit", DeadTable())])
        assert host.execute(Append(rows(4))).outcome != Committed()
        assert instrumented_process.end().followed
        after = table.rename(tmp_path / "after")
        assert ids(after) == [1, 2]
        instrumented_process.watch(after)
        host.open(str(after))
        assert host.execute(Append(rows(5))).outcome == Committed()
        assert ids(after) == [1, 2, 5]


DRIVER = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
table = sys.argv[1]
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
Path(table, "_delta_log", "00000000000000000001.json#1").touch()
def write(part):
    Path(table, f"part-{part}.parquet").write_text("from a worker")
    return [part]
assert sorted(spark.sparkContext.parallelize(range(4), 4).flatMap(write).collect()) == [0, 1, 2, 3]
spark.range(3).coalesce(1).write.mode("append").parquet(table)
Path(table, "_delta_log", "00000000000000000001.json#1").rename(Path(table, "_delta_log", "00000000000000000001.json"))
spark.stop()
"""


def test_a_pyspark_driver_its_jvm_and_its_python_workers_are_one_actor(turnstile, table, tmp_path):
    instrumented_process = turnstile.add_process("driver")
    instrumented_process.watch(table)
    instrumented_process.begin()
    environment = {**os.environ, **instrumented_process.environment(), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, table],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    record = instrumented_process.end()
    pids: dict[int, set[str]] = {event.event.call.pid: set() for event in record.happened}
    for event in record.happened:
        pids[event.event.call.pid].add(event.event.role)
    assert sum("data" in roles for roles in pids.values()) >= 2, "workers, and the JVM"
    assert [roles for roles in pids.values() if "commit" in roles] == [{"staging", "commit"}], "the driver"
    assert any("side" in roles for roles in pids.values()), "the JVM"
    assert sum(event.event.role == "data" for event in record.happened) >= 5
