"""If Spark reads a state that is too large for the driver, it is the same state."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import deltalake
import pytest

from pyspark_delta.expressions import predicate_of
from pyspark_delta.log import spark_state
from pyspark_delta.log.actions import Add
from pyspark_delta.log.delta_log import DeltaLog, load
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.log.spark_state import SparkBase
from pyspark_delta.log.state import Overlay, State
from pyspark_delta.log.store import open_store
from pyspark_delta.predicates import And, Comparison, IsNull, Or
from tests.pyspark_delta import logs

pytestmark = pytest.mark.slow

HERE = Comparison("=", ("p",), "x y%")


def table_with_checkpoint(path: Path, form: str) -> None:
    vector = logs.vector("a" * 20)
    files = [
        logs.add(
            "f1",
            partitionValues={"p": "x y%"},
            stats='{"numRecords":3,"minValues":{"id":1},"maxValues":{"id":5}}',
        ),
        logs.add("f2", partitionValues={"p": "x y%"}, deletionVector=vector, stats='{"numRecords":9}'),
        logs.add("f3", partitionValues={"p": None}),
        logs.add("file:/else/f4", partitionValues={"p": "z"}),
        logs.remove("f0"),
    ]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7}
    lists = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    head = [
        {"protocol": {**protocol, **lists}},
        logs.metadata(partitions=["p"]),
        {"txn": {"appId": "a", "version": 1}},
    ]
    logs.commit(path, 0, *head, *files)
    folder = logs.log_folder(path)
    if form == "sidecars":
        logs.checkpoint(folder / "_sidecars" / "one.parquet", files[:2])
        logs.checkpoint(folder / "_sidecars" / "two.parquet", files[2:])
        sidecars = [
            {"sidecar": {"path": f"{name}.parquet", "sizeInBytes": 1, "modificationTime": 1}}
            for name in ("one", "two")
        ]
        text = "".join(json.dumps(action) + "\n" for action in [*head, *sidecars])
        (folder / f"{0:020d}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json").write_text(text)
    else:
        logs.checkpoint(folder / f"{0:020d}.checkpoint.parquet", [*head, *files])
    logs.commit(
        path,
        1,
        logs.remove("/else/f4"),
        logs.add("f5", partitionValues={"p": "x y%"}),
        logs.remove("f2", deletionVector=vector),
    )


def described(snapshot: Snapshot) -> object:
    return (
        snapshot.version,
        snapshot.num_files,
        snapshot.size_in_bytes,
        sorted(map(str, snapshot.files().adds())),
        sorted(map(str, snapshot.tombstones().removes())),
        snapshot.txns,
        snapshot.metadata,
    )


@pytest.mark.parametrize("form", ("sidecars", "classic"))
@pytest.mark.parametrize("folder", ("plain", "with {a,b} [c] * and %20"))
def test_spark_reads_the_same_state_as_the_driver(spark, tmp_path, monkeypatch, form, folder):
    place = tmp_path / folder
    table_with_checkpoint(place, form)
    store = open_store(place)
    near = load(store)
    monkeypatch.setenv(spark_state.LIMIT_VARIABLE, "0")
    far = load(store, spark=spark)
    assert far.state.base.is_remote
    assert described(far) == described(near)


def test_files_come_to_the_driver_only_from_partitions_that_matter(spark, tmp_path, monkeypatch):
    table_with_checkpoint(tmp_path, "classic")
    monkeypatch.setenv(spark_state.LIMIT_VARIABLE, "0")
    snapshot = load(open_store(tmp_path), spark=spark)
    base = snapshot.state.base
    assert isinstance(base, SparkBase)
    assert sorted(snapshot.files(HERE).raw_paths()) == ["f1", "f5"]
    assert base.selected(snapshot.pruner(), HERE)["path"].to_pylist() == ["f1", "f2"]
    assert snapshot.files(IsNull(("p",))).raw_paths() == ["f3"]
    assert snapshot.files(Or((IsNull(("p",)), HERE))).raw_paths() == ["f1", "f3", "f5"]
    condition = predicate_of("p = 'x y%' and id > 5", snapshot.schema, spark)
    assert snapshot.files(condition).raw_paths() == ["f5"]
    assert snapshot.files(And((HERE, Comparison("=", ("id",), 3)))).raw_paths() == ["f1", "f5"]
    assert "_all_adds" not in vars(base)


def test_a_table_whose_state_is_with_spark_is_written_and_refreshed(spark, tmp_path, monkeypatch):
    table_with_checkpoint(tmp_path, "classic")
    monkeypatch.setenv(spark_state.LIMIT_VARIABLE, "0")
    log = DeltaLog.for_path(tmp_path, spark)
    log.begin().commit([Add("f6", {"p": "z"}, 1, 1)], "WRITE")
    assert log.update().state.base.is_remote
    assert sorted(log.update().files(Comparison("=", ("p",), "z")).raw_paths()) == ["f6"]
    log.checkpoint()
    monkeypatch.delenv(spark_state.LIMIT_VARIABLE)
    assert sorted(load(open_store(tmp_path)).files().raw_paths()) == ["f1", "f3", "f5", "f6"]


def test_a_state_that_is_with_spark_is_checkpointed_by_it(spark, tmp_path, monkeypatch):
    table_with_checkpoint(tmp_path, "classic")
    now = int(time.time() * 1000)
    recent = logs.remove(
        "f8", deletionTimestamp=now, extendedFileMetadata=True, partitionValues={"p": "z"}, size=3
    )
    logs.commit(tmp_path, 2, recent, logs.add("f9", partitionValues={"p": None}, stats='{"numRecords":1}'))
    monkeypatch.setenv(spark_state.LIMIT_VARIABLE, "0")
    far = load(open_store(tmp_path), spark=spark)
    DeltaLog.for_path(tmp_path, spark).checkpoint(far)
    assert isinstance(far.state.base, SparkBase)
    assert "_all_adds" not in vars(far.state.base)
    same = {add.path: replace(add, data_change=False) for add in far.files().adds()}
    monkeypatch.delenv(spark_state.LIMIT_VARIABLE)
    folder = tmp_path / "_delta_log"
    for old in (*folder.glob("*.json"), folder / f"{0:020d}.checkpoint.parquet"):
        old.unlink()
    assert json.loads((folder / "_last_checkpoint").read_text())["parts"] > 1
    near = load(open_store(tmp_path))
    assert sorted(near.files().raw_paths()) == ["f1", "f3", "f5", "f9"]
    assert {add.path: add for add in near.files().adds()} == same
    assert near.tombstones().raw_paths() == ["f8"]  # the others' retention is over
    assert (near.txns, near.metadata, near.protocol) == (far.txns, far.metadata, far.protocol)
    assert deltalake.DeltaTable(tmp_path).version() == 2


def test_checkpoint_and_commits_are_reconciled_by_path_and_vector(spark, tmp_path):
    table_with_checkpoint(tmp_path, "classic")
    store = open_store(tmp_path)
    folder = "_delta_log"
    logs.commit(
        tmp_path, 2, logs.add("f2", partitionValues={"p": "x y%"}, deletionVector=logs.vector("a" * 20, 90))
    )
    commits = [f"{folder}/{version:020d}.json" for version in (1, 2)]
    near = load(store)
    overlay = Overlay(protocol=near.protocol, metadata=near.metadata, txns=dict(near.txns))
    for checkpoint in ([f"{folder}/{0:020d}.checkpoint.parquet"], []):
        read = commits if checkpoint else [f"{folder}/{0:020d}.json", *commits]
        base = SparkBase(spark, store, checkpoint, read)
        assert described(Snapshot(store, 2, State(base, overlay))) == described(near)
