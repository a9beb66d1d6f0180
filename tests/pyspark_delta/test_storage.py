"""Tables work on a storage that code can reach through `storage` and `log.store` only."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from deltalake import DeltaTable as Deltalake
from deltalake import QueryBuilder
from pyspark import cloudpickle

from pyspark_delta import DeltaTable, file_index, parallel, read, storage, write
from pyspark_delta.datasource import PysparkDeltaSource, register
from pyspark_delta.exceptions import InvalidArgument, MissingDataFile, StorageFailure
from pyspark_delta.log import store
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.partition_values import absolute_path
from tests.pyspark_delta import logs, other_storage

HOSTILE = "a b%41/ü=#?"
VECTORS = {"delta.enableDeletionVectors": "true", "delta.checkpointInterval": "4"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bucket").mkdir()
    return tmp_path / "bucket"


@pytest.fixture
def bucket(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A storage that is registered under `test:` for one test."""
    for known in (storage._STORAGES, storage._REGISTERED, store._STORES):
        monkeypatch.setitem(known, other_storage.SCHEME, None)
    yield other_storage.mount(folder)
    DeltaLog.forget()


def rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def test_an_unregistered_storage_is_refused():
    for ask in (DeltaLog.for_path, storage.storage_of):
        with pytest.raises(InvalidArgument, match="nowhere:"):
            ask("nowhere://bucket/table")


def test_the_log_is_read_and_written_through_the_store(bucket, folder):
    logs.plain_table(folder / "t", 3)
    log = DeltaLog.for_path(f"{bucket}/t")
    assert log.update().version == 3
    assert log.update().files().paths()[0] == f"{bucket}/t/f1"
    log.checkpoint()
    for version in range(3):
        (folder / "t" / "_delta_log" / f"{logs.name(version)}.json").unlink()
    DeltaLog.forget()
    assert DeltaLog.for_path(f"{bucket}/t").update().num_files == 3


def test_a_copy_from_one_storage_to_another_has_the_same_bytes(bucket, folder, tmp_path):
    (tmp_path / "x").write_bytes(b"bytes" * 1_000_000)
    storage.copy(str(tmp_path / "x"), f"{bucket}/y z/x")
    assert (folder / "y z" / "x").read_bytes() == b"bytes" * 1_000_000


def test_the_data_source_knows_storages_in_the_processes_that_spark_asks_it_in(bucket, folder):
    logs.plain_table(folder / "t", 2)
    kept: list[type[PysparkDeltaSource]] = []
    register(
        SimpleNamespace(dataSource=SimpleNamespace(register=kept.append))
    )  # in Spark, the session pickles it
    script = "import pickle, sys; it = pickle.load(sys.stdin.buffer); print(len(it.reader(it.schema()).partitions()))"
    output = subprocess.run(
        [sys.executable, "-P", "-c", script],
        input=cloudpickle.dumps(kept[0]({"path": f"{bucket}/t"})),
        capture_output=True,
        check=True,
    )
    assert output.stdout.split() == [b"2"]


def test_what_the_system_says_of_a_storage_has_a_name_and_a_jvm_that_died_keeps_its_own(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(StorageFailure, match=r"^t can't be written: the storage refuses it .*File exists"),
        storage.storage_failures("t can't be written"),
    ):
        storage.storage_of(str(tmp_path)).create(str(tmp_path / "file" / "more"))
    with (
        pytest.raises(StorageFailure, match="the disk is full"),
        storage.storage_failures("t can't be written"),
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        full.write(b"x")
    with pytest.raises(ConnectionRefusedError), storage.storage_failures("t can't be written"):
        socket.create_connection(("127.0.0.1", 1))


@pytest.mark.slow
def test_every_operation_works_on_a_storage_of_ones_own(spark, bucket, folder, tmp_path, monkeypatch):
    path = f"{bucket}/some/table"
    frame = spark.sql(f"select id, if(id % 2 = 0, '{HOSTILE}', null) as p from range(0, 20, 1, 2)")
    write(frame, path, partition_by="p", properties=VECTORS)
    write(spark.range(20, 24).selectExpr("id", "'x' as p"), path, "append")
    table = DeltaTable.forPath(spark, path)
    table.delete("id in (3, 4)")
    table.update("id = 5", {"p": "'five'"})
    source = spark.range(22, 26).selectExpr("id", "'merged' as p").alias("s")
    table.alias("t").merge(source, "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    wanted = rows(table.toDF())
    assert [row[0] for row in sorted(wanted)] == [n for n in range(26) if n not in {3, 4}]
    assert rows(table.toDF().where("p = 'merged'")) == [(n, "merged") for n in range(22, 26)]
    table.optimize().executeCompaction()
    table.purge()
    assert rows(read(spark, path)) == wanted
    assert (folder / "some" / "table" / "_delta_log" / "_last_checkpoint").exists()
    theirs = QueryBuilder().register("t", Deltalake(str(folder / "some" / "table")))
    their_rows = pa.table(theirs.execute("select id, p from t").read_all()).to_pylist()
    assert sorted(((row["id"], row["p"]) for row in their_rows), key=repr) == wanted
    for copy, shallow in (
        (f"{bucket}/shallow", True),
        (f"{bucket}/deep", False),
        (str(tmp_path / "local"), False),
    ):
        assert rows(table.clone(copy, isShallow=shallow).toDF()) == wanted
    with monkeypatch.context() as without_a_jvm:
        without_a_jvm.setattr(file_index, "_jvm_instance", lambda spark, name: None)
        assert rows(read(spark, path)) == wanted
    table.restoreToVersion(1)
    assert table.toDF().count() == table.count() == 24
    table.delete()
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    dry = [row[0] for row in table.vacuum(0, dryRun=True).collect()]
    assert dry
    assert all(place.startswith(f"{path}/") and storage.exists(place) for place in dry)
    monkeypatch.setattr(parallel, "JOB_FROM", 1)
    table.vacuum(0)
    spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    assert not any(storage.exists(place) for place in dry)
    with pytest.raises(MissingDataFile, match="can't be restored"):
        table.restoreToVersion(1)
    assert not Path("test:").exists()


@pytest.mark.slow
def test_the_data_source_and_conversions_work_there_too(spark, bucket, folder):
    register(spark)
    path = f"{bucket}/t"
    write(spark.sql("select 1L as id, 'x y' as p"), path, partition_by="p", properties=VECTORS)
    spark.sql("select 2L as id, 'z' as p").write.format("pyspark_delta").mode("append").save(path)
    assert rows(spark.read.format("pyspark_delta").load(path)) == [(1, "x y"), (2, "z")]
    spark.sql("select 1 as a, 'v' as p").write.partitionBy("p").parquet(str(folder / "plain"))
    converted = DeltaTable.convertToDelta(spark, f"parquet.`{bucket}/plain`", "p string")
    assert rows(converted.toDF()) == [(1, "v")]
    manifest = folder / "plain" / "_symlink_format_manifest" / "p=v" / "manifest"
    for _ in range(2):
        converted.generate("symlink_format_manifest")
        assert manifest.read_text().startswith(f"file:{folder}/plain/p=v/")
    converted.delete()
    converted.generate("symlink_format_manifest")
    assert not manifest.parent.exists()
    add = DeltaLog.for_path(path).update().files().adds()[0]
    storage.storage_of(path).remove(absolute_path(add.path, path))
    with pytest.raises(Exception, match=r"FileNotFound|does not exist|FILE_NOT_EXIST"):
        read(spark, path).collect()
