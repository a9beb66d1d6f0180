"""This engine and delta-spark read the logs of one another, with all forms of checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyroaring import BitMap64
from pyspark.sql.types import LongType, StringType, StructField, StructType

from pyspark_delta import deletion_vectors
from pyspark_delta import schema as schemas
from pyspark_delta.log.actions import Add, Metadata, Txn
from pyspark_delta.log.delta_log import DeltaLog, load
from pyspark_delta.log.store import open_store

# A busy machine starts a JVM in minutes.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

COUNT = """
shown = spark.read.format("delta").load(table)
result = [shown.count(), shown.agg({"id": "sum"}).first()[0]]
"""

MAKE = """
for setting in settings:
    spark.conf.set(*setting.split("=", 1))
where = "delta.`" + table + "`"
spark.sql(f"CREATE TABLE {where} (id LONG, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ({properties})")
rows = spark.range(30).selectExpr("id", "concat('a/b ', id % 2) as p")
rows.repartition(3).write.format("delta").mode("append").save(table)
spark.sql(f"DELETE FROM {where} WHERE id % 5 = 1")
spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, table).checkpoint()
spark.sql(f"DELETE FROM {where} WHERE id = 12")
for setting in settings:
    spark.conf.unset(setting.split("=", 1)[0])
"""


def make(delta_spark: Any, table: Path, properties: str, settings: tuple[str, ...]) -> list[int]:
    """Let delta-spark make a table with partitions, removals, a checkpoint in version 2 and a commit after it."""
    rows = delta_spark.run(MAKE + COUNT, table=str(table), properties=properties, settings=list(settings))
    assert isinstance(rows, list)
    return rows


VECTORS = '"delta.enableDeletionVectors" = "true"'
V2 = '"delta.checkpointPolicy" = "v2"'
STRUCTS = '"delta.checkpoint.writeStatsAsJson" = "false", "delta.checkpoint.writeStatsAsStruct" = "true"'
MAPPED = '"delta.columnMapping.mode" = "name"'


@pytest.mark.parametrize(
    ("properties", "settings", "form"),
    (
        (VECTORS, (), "02.checkpoint.parquet"),
        (VECTORS, ("spark.databricks.delta.checkpoint.partSize=2",), ".checkpoint.0000000001."),
        (f"{V2}, {VECTORS}", (), ".json"),
        (V2, ("spark.databricks.delta.checkpointV2.topLevelFileFormat=parquet",), ".checkpoint."),
        (f"{STRUCTS}, {MAPPED}", (), "02.checkpoint.parquet"),
    ),
    ids=("classic", "parts", "v2 json", "v2 parquet", "struct stats under mapped names"),
)
def test_a_checkpoint_of_delta_spark_is_the_state_of_its_commits(
    delta_spark, tmp_path, properties, settings, form
):
    table = tmp_path / "t"
    rows, _ = make(delta_spark, table, properties, settings)
    log = table / "_delta_log"
    assert any(form in file.name for file in log.iterdir() if ".checkpoint." in file.name)
    with_commits = load(open_store(table))
    for version in range(2):
        (log / f"{version:020d}.json").unlink()
    snapshot = load(open_store(table))
    assert snapshot.version == with_commits.version == 3
    assert snapshot.files().total_rows() == rows == 23
    assert sorted(snapshot.files().raw_paths()) == sorted(with_commits.files().raw_paths())
    assert all(Path(path).is_file() for path in snapshot.files().paths())
    (field,) = (field for field in snapshot.schema if field.name == "p")
    values = snapshot.files().partition_values(schemas.physical_name(field)).to_pylist()
    assert set(values) == {"a/b 0", "a/b 1"}
    for add in snapshot.files().with_deletion_vectors().adds():
        assert add.deletion_vector is not None
        assert len(deletion_vectors.read(add.deletion_vector, str(table))) == add.deletion_vector.cardinality
    checksum = json.loads((log / f"{3:020d}.crc").read_text())
    assert (snapshot.num_files, snapshot.size_in_bytes) == (checksum["numFiles"], checksum["tableSizeBytes"])


def test_delta_spark_reads_its_own_checkpoint_after_it_was_replaced_here(delta_spark, tmp_path):
    table = tmp_path / "t"
    rows = make(delta_spark, table, VECTORS, ())
    log = DeltaLog.for_path(table)
    log.checkpoint(log.snapshot(2))
    for version in range(2):
        (table / "_delta_log" / f"{version:020d}.json").unlink()
    elsewhere = table.rename(tmp_path / "cold")
    assert delta_spark.run(COUNT, table=str(elsewhere)) == rows


SCHEMA = StructType([StructField("id", LongType()), StructField("p", StringType())])


def data_file(table: Path, name: str, start: int) -> Add:
    pq.write_table(pa.table({"id": pa.array(range(start, start + 10))}), table / name)
    stats = {
        "numRecords": 10,
        "minValues": {"id": start},
        "maxValues": {"id": start + 9},
        "nullCount": {"id": 0},
    }
    return Add(name, {"p": "x/y %"}, (table / name).stat().st_size, 1, stats=json.dumps(stats))


@pytest.mark.parametrize("commits_left", (True, False), ids=("with commits", "from the checkpoint"))
def test_delta_spark_reads_what_is_written_here(delta_spark, tmp_path, commits_left):
    table = tmp_path / "t"
    log = DeltaLog.for_path(table)
    transaction = log.begin()
    properties = {"delta.enableDeletionVectors": "true", "delta.checkpointInterval": "4"}
    transaction.new_table(
        Metadata("00000000-0000-0000-0000-000000000001", schemas.to_json(SCHEMA), ("p",), properties)
    )
    transaction.commit([], "CREATE TABLE")
    for number in range(3):
        log.begin().commit(
            [data_file(table, f"f{number}.parquet", number * 10), Txn("app", number, 1)], "WRITE"
        )
    first = log.update().files().adds()[0]
    (vector,) = deletion_vectors.write_many(str(table), {first.path: BitMap64([0, 3])}).values()
    changed = Add.from_json({**first.to_json(), "deletionVector": vector.to_json()})
    log.begin().commit([first.remove(1), changed], "DELETE", {"predicate": '["(id < 4)"]'})
    if not commits_left:
        for version in range(4):
            (table / "_delta_log" / f"{version:020d}.json").unlink()
    assert delta_spark.run(COUNT, table=str(table)) == [28, sum(range(30)) - 3]
    state = """
log = spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, table)
snapshot = log.unsafeVolatileSnapshot()
result = [snapshot.version(), snapshot.numOfFiles(), snapshot.sizeInBytes()]
"""
    assert delta_spark.run(state, table=str(table)) == [4, 3, log.update().size_in_bytes]
    append = """
spark.range(5).selectExpr("id", "'q' as p").coalesce(1).write.format("delta").mode("append").save(table)
result = 0
"""
    delta_spark.run(append, table=str(table))
    assert log.update().version == 5
    assert log.update().files().total_rows() == 33
