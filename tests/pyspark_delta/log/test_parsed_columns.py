"""A checkpoint repeats statistics and partition values by their types where the table asks for it."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    ByteType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pyspark_delta import schema as schemas
from pyspark_delta.log import spark_state
from pyspark_delta.log.actions import Add, Metadata
from pyspark_delta.log.delta_log import DeltaLog, load
from pyspark_delta.log.store import open_store

INSIDE = StructType([StructField("x", LongType()), StructField("many", ArrayType(LongType()))])
SCHEMA = StructType(
    [
        StructField("id", LongType()),
        StructField("small", ByteType()),
        StructField("price", DecimalType(38, 20)),
        StructField("day", DateType()),
        StructField("at", TimestampType()),
        StructField("name", StringType()),
        StructField("size", DoubleType()),
        StructField("flag", BooleanType()),
        StructField("inside", INSIDE),
        StructField("p", DateType()),
    ]
)
BOTH = {"delta.checkpoint.writeStatsAsStruct": "true"}
ALONE = {**BOTH, "delta.checkpoint.writeStatsAsJson": "false"}
PRICE = "123456789012345678.01234567890123456789"
LOW = {
    "id": -5, "day": "2020-02-29", "at": "1969-12-31T23:59:59.001Z", "name": "a", "size": -0.5, "inside": {"x": 1}
}  # fmt: skip
STATS = json.dumps(
    {
        "numRecords": 3,
        "minValues": LOW,
        "maxValues": LOW,
        "nullCount": {"id": 1, "inside": {"x": 2, "many": 3}},
    }
).replace('"id": -5', f'"price": {PRICE}, "id": -5', 1)


def checkpoint_of(table: Path, stats: str | None, properties: dict[str, str]) -> list[dict[str, Any]]:
    """The adds in the checkpoint of a table with one file, as rows."""
    log = DeltaLog.for_path(table)
    transaction = log.begin()
    transaction.new_table(Metadata("an-id", schemas.to_json(SCHEMA), ("p",), properties, created_time=1))
    transaction.commit([], "CREATE TABLE")
    log.begin().commit([Add("f", {"p": "2021-03-01"}, 1, 1, stats=stats)], "WRITE")
    log.checkpoint()
    path = table / "_delta_log" / f"{1:020d}.checkpoint.parquet"
    return [add for add in pq.read_table(path)["add"].to_pylist() if add is not None]


def test_statistics_and_partition_values_have_the_types_of_their_columns(tmp_path):
    (add,) = checkpoint_of(tmp_path, STATS, BOTH)
    assert add["stats"] == STATS
    assert add["partitionValues_parsed"] == {"p": dt.date(2021, 3, 1)}
    parsed = add["stats_parsed"]
    assert parsed["numRecords"] == 3
    assert parsed["minValues"]["price"] == Decimal(PRICE)
    assert parsed["maxValues"]["day"] == dt.date(2020, 2, 29)
    assert parsed["maxValues"]["at"] == dt.datetime(1969, 12, 31, 23, 59, 59, 1000, tzinfo=dt.UTC)
    assert (parsed["minValues"]["name"], parsed["minValues"]["size"]) == ("a", -0.5)
    assert parsed["minValues"]["inside"] == {"x": 1}
    assert parsed["nullCount"]["inside"] == {"x": 2, "many": 3}
    assert "flag" not in parsed["minValues"]
    assert "p" not in parsed["nullCount"]
    assert parsed["minValues"]["small"] is parsed["tightBounds"] is None


def test_a_state_without_the_texts_keeps_its_statistics(tmp_path):
    (add,) = checkpoint_of(tmp_path, STATS, ALONE)
    assert "stats" not in add
    for version in range(2):
        (tmp_path / "_delta_log" / f"{version:020d}.json").unlink()
    (again,) = DeltaLog.for_path(tmp_path).update().files().adds()
    kept = json.loads(str(again.stats), parse_float=Decimal)
    assert kept["minValues"]["price"] == Decimal(PRICE)
    assert kept["minValues"]["id"] == -5
    assert kept["nullCount"]["inside"] == {"x": 2, "many": 3}


@pytest.mark.parametrize(
    "bounds",
    (
        {"small": 128},
        {"small": True},
        {"id": "many"},
        {"day": "+20000-01-01"},
        {"price": "1e30"},
        {"name": 5},
        {"inside": 1},
        {"at": "yesterday"},
    ),
    ids=str,
)
def test_a_bound_that_the_type_cannot_hold_is_left_out(tmp_path, bounds):
    stats = json.dumps({"numRecords": 1, "minValues": bounds, "maxValues": {"id": 7}})
    (add,) = checkpoint_of(tmp_path, stats, BOTH)
    assert not any(add["stats_parsed"]["minValues"].values())
    assert add["stats_parsed"]["maxValues"]["id"] == 7


@pytest.mark.parametrize("stats", (None, "no JSON", "[]"))
def test_a_file_without_statistics_has_none(tmp_path, stats):
    (add,) = checkpoint_of(tmp_path, stats, BOTH)
    assert add["stats_parsed"] is None
    assert add["partitionValues_parsed"] is not None


def test_a_table_that_does_not_ask_has_no_such_columns(tmp_path):
    (add,) = checkpoint_of(tmp_path, STATS, {})
    assert not {"stats_parsed", "partitionValues_parsed"} & add.keys()


@pytest.mark.slow
@pytest.mark.parametrize("properties", (BOTH, ALONE), ids=("beside the texts", "alone"))
def test_a_state_that_is_with_spark_gets_the_same_columns(spark, tmp_path, monkeypatch, properties):
    checkpoint_of(tmp_path, STATS, BOTH)
    folder = tmp_path / "_delta_log"
    log = DeltaLog.for_path(tmp_path)
    transaction = log.begin()
    transaction.update_metadata(replace(transaction.snapshot.metadata, configuration=properties))
    transaction.commit([Add("g", {"p": None}, 1, 1)], "WRITE")
    monkeypatch.setenv(spark_state.LIMIT_VARIABLE, "0")
    far = load(open_store(tmp_path), spark=spark)
    assert far.state.base.is_remote
    DeltaLog.for_path(tmp_path, spark).checkpoint(far)
    parts = folder.glob(f"{2:020d}.checkpoint.*.parquet")
    adds = {add["path"]: add for part in parts for add in pq.read_table(part)["add"].to_pylist() if add}
    (near,) = pq.read_table(folder / f"{1:020d}.checkpoint.parquet")["add"].drop_null().to_pylist()
    for name in ("stats_parsed", "partitionValues_parsed"):
        assert adds["f"][name] == near[name]
    assert ("stats" in adds["f"]) == (properties is BOTH)
    assert adds["g"]["partitionValues_parsed"] == {"p": None}


def test_deltalake_reads_such_a_checkpoint_without_the_commits(tmp_path):
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "f")
    checkpoint_of(tmp_path, '{"numRecords": 2, "minValues": {"id": 1}, "maxValues": {"id": 2}}', ALONE)
    for version in range(2):
        (tmp_path / "_delta_log" / f"{version:020d}.json").unlink()
    assert deltalake.DeltaTable(tmp_path).version() == 1
