"""A write that fails half way on a real storage raises a named error and leaves the table unchanged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from deltalake import write_deltalake

from pyspark_delta import DeltaTable, read, write
from pyspark_delta.exceptions import StorageFailure
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta import folder_watch

pytestmark = pytest.mark.slow


def files_of(table: Path) -> set[str]:
    """All files except hidden ones and the staging files of killed writers."""
    files = (path.relative_to(table) for path in table.rglob("*") if path.is_file())
    return {
        str(path)
        for path in files
        if not path.name.startswith(".") and not str(path).startswith("_temporary")
    }


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of four megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mount: no disk can be mounted here; run as root, or in a container that may mount")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_in_mid_write_leaves_the_table_as_it_was(spark, small_disk):
    table = small_disk / "table"
    write(spark.range(3), str(table))
    before = files_of(table)
    with pytest.raises(StorageFailure, match="no space"):
        write(spark.range(400_000).selectExpr("id", "uuid() as u"), str(table), "append", merge_schema=True)
    assert files_of(table) == before
    assert not list(table.glob("_temporary*"))
    assert read(spark, str(table)).count() == 3
    # More space, as the error asks for: Parquet's writer loses the open file whose end it can't write, and what that
    # file holds of the disk comes back when the JVM next collects its garbage.
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    write(spark.range(3), str(table), "append")
    assert read(spark, str(table)).count() == 6


def test_a_disk_that_is_full_when_rows_are_left_out_leaves_the_table_as_it_was(spark, small_disk):
    table = small_disk / "table"
    write(spark.range(0, 60_000, 1, 2).selectExpr("id", "uuid() as u"), str(table))
    before = files_of(table)
    with pytest.raises(StorageFailure, match="full"):
        DeltaTable.forPath(spark, str(table)).delete("id in (1, 50000)")
    assert files_of(table) == before
    assert not list(table.glob("_temporary*"))
    assert read(spark, str(table)).count() == 60_000


def test_a_read_only_disk_is_reported(spark, small_disk):
    table = small_disk / "table"
    write(spark.range(3), str(table), properties={"delta.enableDeletionVectors": "true"})
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StorageFailure, match=r"read-only|could not be made"):
        write(spark.range(3), str(table), "append")
    with pytest.raises(StorageFailure):
        write(spark.range(3), str(small_disk / "other"))
    changed = DeltaTable.forPath(spark, str(table))
    copied = partial(changed.clone, str(small_disk / "copy"))
    generated = partial(changed.generate, "symlink_format_manifest")
    for refused in (partial(changed.delete, "id = 1"), changed.checkpoint, copied, generated):
        with pytest.raises(StorageFailure, match="Read-only"):
            refused()
    assert read(spark, str(table)).count() == 3


def test_a_folder_that_can_not_be_made_is_reported(spark, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageFailure):
        write(spark.range(3), str(tmp_path / "file" / "table"))
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_job_that_is_cancelled_leaves_nothing(spark, table):
    write(spark.range(3), table)
    before = files_of(Path(table))
    started = threading.Event()
    failed: list[BaseException] = []

    def writing() -> None:
        slow = spark.range(0, 10_000_000, 1, 2).selectExpr(
            "id", "sha2(sha2(cast(id as string), 512), 512) as s"
        )
        spark.sparkContext.setJobGroup("to be cancelled", "", interruptOnCancel=True)
        started.set()
        try:
            write(slow, table, "append", merge_schema=True)
        except Exception as error:  # noqa: BLE001 - looked at below
            failed.append(error)

    thread = threading.Thread(target=writing)
    thread.start()
    started.wait(60)
    while thread.is_alive():
        spark.sparkContext.cancelAllJobs()
        thread.join(0.2)
    assert failed
    assert files_of(Path(table)) == before
    assert not list(Path(table).glob("_temporary*"))
    assert DeltaLog.for_path(table).update().version == 0


CLUSTER = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
from pyspark_delta import DeltaTable, parallel, read, write

parallel.JOB_FROM = 1  # executors then do footers, listings and deletions
builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
spared = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # three JVMs for a few jobs each
for who in ("driver", "executor"):
    builder = builder.config(f"spark.{who}.extraJavaOptions", spared)
spark = builder.config("spark.driver.memory", "512m").config("spark.sql.shuffle.partitions", "2").getOrCreate()
path = sys.argv[1]
write(spark.sql("select id, id % 3 as p, cast(id as string) s from range(0, 30, 1, 4)"), path,
      partition_by="p", properties={"delta.enableDeletionVectors": "true"})
write(spark.range(30, 40).selectExpr("id", "5L as p", "'x' as s"), path, "append")
changed = DeltaTable.forPath(spark, path)
changed.delete("id % 10 = 7")
changed.update("id = 1", {"s": "'updated'"})
source = spark.sql("select id, 5L as p, 'merged' as s from range(38, 44)").alias("s")
changed.alias("t").merge(source, "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
marked = read(spark, path)
spark.conf.set("spark.sql.codegen.wholeStage", "false")  # operators then send the plan below them to executors
exploded = marked.selectExpr("explode_outer(array(id, id))").count()
spark.conf.unset("spark.sql.codegen.wholeStage")
print("marked", len(marked.collect()), exploded, marked.where("id < 20").count(), flush=True)
changed.optimize().executeCompaction()
spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
changed.vacuum(0)
rows = read(spark, path)
print("counted", rows.count(), rows.where("p = 5").count(), rows.where("id < 3").count(), flush=True)

slow = spark.range(0, 50_000_000, 1, 2).selectExpr("id", "0L as p", "sha2(sha2(cast(id as string), 512), 512) as s")
for _ in range(2):
    sys.stdin.readline()
    try:
        write(slow, path, "append")
    except KeyboardInterrupt:
        tracker = spark.sparkContext.statusTracker()
        print("stopped by hand, jobs at work:", list(tracker.getActiveJobsIds()), flush=True)
"""


class Cluster:
    """Runs `CLUSTER` in another Python process, with executors of its own."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLUSTER, table],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True, env={**os.environ, "SPARK_HOME": str(Path(pyspark.__path__[0]))},
        )  # fmt: skip

    def wait_for(self, text: str) -> str:
        assert self.process.stdout
        while text not in (line := self.process.stdout.readline()):
            assert line, f"the writer ended before it said {text}"
        return line

    def write_until_there_is_data(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()
        assert folder_watch.wait_for(Path(self.table), self._staged, self.process.pid), (
            "the writer ended before"
        )

    def _staged(self) -> bool:
        # os.walk ignores a folder that vanishes; a glob of Python 3.11 raises
        folders = (folder for folder in os.walk(self.table) if "_temporary" in folder[0])
        return any(name.endswith(".parquet") for _, _, names in folders for name in names)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=60)


def test_separate_processes_write_and_one_that_is_stopped_or_killed_in_mid_write_changes_nothing(table):
    cluster = Cluster(table)
    try:
        assert "marked 40 80 18" in cluster.wait_for("marked")
        assert "counted 40 13 3" in cluster.wait_for("counted")
        before = files_of(Path(table))
        cluster.write_until_there_is_data()
        cluster.process.send_signal(signal.SIGINT)
        assert "jobs at work: []" in cluster.wait_for("stopped by hand")
        assert not list(Path(table).glob("_temporary*"))
        assert files_of(Path(table)) == before
        cluster.write_until_there_is_data()
    finally:
        cluster.kill()
    assert files_of(Path(table)) == before
    assert DeltaLog.for_path(table).update().files().total_rows() == 40
    more = pa.table(
        {"id": pa.array([0, 1, 2], pa.int64()), "p": pa.array([0, 0, 0], pa.int64()), "s": ["a", "b", "c"]}
    )
    write_deltalake(table, more, mode="append")
    assert DeltaLog.for_path(table).update().files().total_rows() == 43
