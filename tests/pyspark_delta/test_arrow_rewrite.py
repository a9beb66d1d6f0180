"""Arrow rewrites files exactly as Spark would, or leaves them to Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable as Deltalake
from deltalake import QueryBuilder, write_deltalake

from pyspark_delta import DeltaTable, arrow_rewrite, read, write
from pyspark_delta.commands import file_candidates
from pyspark_delta.commands.alter import set_properties
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta.small_tables import job_count, metrics

pytestmark = pytest.mark.slow

COLUMNS = """
    id, cast(id as short) as small, cast(id % 3 as int) as p, if(id % 5 = 0, null, concat('name ', id)) as name,
    if(id = 7, double('nan'), id / 4d) as x,
    if(id % 10 = 6, double('nan'), 1d) as odd, if(id < 9, -0.0f, float('inf')) as y,
    timestamp_micros(1700000000000000 + id * 1001) as at, cast(timestamp_micros(id) as timestamp_ntz) as wall,
    date_from_unix_date(cast(id as int)) as day, cast(id as decimal(9, 2)) as price, cast(id as decimal(18, 3)) as dear,
    cast(id as decimal(38, 4)) as dearest, encode(cast(id as string), 'utf-8') as raw, id % 2 = 0 as even,
    array(id, null) as numbers, map('a', id) as known, named_struct('deep', id / 2d) as inside
"""


def make_table(spark: Any, path: str, **options: Any) -> DeltaTable:
    frame = spark.range(0, 30, 1, 3).selectExpr(*_split(COLUMNS))
    write(frame, path, **options)
    return DeltaTable.forPath(spark, path)


def live(path: str) -> list[dict[str, Any]]:
    """The adds of the newest commit."""
    newest = max(Path(path, "_delta_log").glob("*.json"))
    lines = map(json.loads, newest.read_text().splitlines())
    return [line["add"] for line in lines if "add" in line]


def footers(path: str) -> list[Any]:
    return [pq.read_metadata(Path(path, add["path"])) for add in live(path)]


def rows(spark: Any, path: str) -> list[str]:
    return sorted(map(str, read(spark, path).collect()))


@pytest.mark.parametrize("options", ({}, {"partition_by": "p"}), ids=("whole", "partitioned"))
def test_what_arrow_leaves_is_what_spark_would_leave(spark, tmp_path, monkeypatch, options):
    # 4, 7 and 20 are in files of different partitions and parts
    ours, sparks = str(tmp_path / "ours"), str(tmp_path / "sparks")
    one, other = make_table(spark, ours, **options), make_table(spark, sparks, **options)
    shapes = {tuple(str(footer.schema).splitlines()[2:]) for footer in footers(ours)}
    before = job_count(spark)
    one.delete("id in (4, 7, 20)")
    assert job_count(spark) == before + 1, "rows are looked for by a job, and no job writes"
    monkeypatch.setattr(arrow_rewrite, "MOST_BYTES", 0)
    other.delete("id in (4, 7, 20)")
    assert all(footer.created_by.startswith("parquet-cpp") for footer in footers(ours))
    assert all(footer.created_by.startswith("parquet-mr") for footer in footers(sparks))
    assert {tuple(str(footer.schema).splitlines()[2:]) for footer in footers(ours)} == shapes
    assert all(b"org.apache.spark.version" in footer.metadata for footer in footers(ours))
    assert rows(spark, ours) == rows(spark, sparks)
    assert len(rows(spark, ours)) == 27

    assert sorted(map(str, without_lower_bound(ours))) == sorted(map(str, without_lower_bound(sparks)))


def without_lower_bound(path: str) -> list[Any]:
    """Partition values and statistics, without the lower bound that Arrow can give despite NaN."""
    files = []
    for add in live(path):
        stats = json.loads(add["stats"])
        stats["minValues"].pop("odd", None)
        files.append((add["partitionValues"], stats))
    return files


def test_files_of_other_writers_are_rewritten_by_spark(spark, table):
    for start in (0, 10):
        write_deltalake(table, pa.table({"id": range(start, start + 10)}), mode="append")
    DeltaTable.forPath(spark, table).delete("id in (3, 13)")
    assert {footer.created_by.split()[0] for footer in footers(table)} == {"parquet-mr"}
    assert read(spark, table).count() == 18


def test_rows_that_a_vector_took_stay_away(spark, table):
    frame = spark.range(0, 30, 1, 3)
    write(frame, table, properties={"delta.enableDeletionVectors": "true"})
    target = DeltaTable.forPath(spark, table)
    target.delete("id in (2, 12, 22)")
    set_properties(spark, DeltaLog.for_path(table), {"delta.enableDeletionVectors": "false"})
    target.delete("id in (5, 15)")
    assert all(footer.created_by.startswith("parquet-cpp") for footer in footers(table))
    assert sorted(row.id for row in read(spark, table).collect()) == [
        number for number in range(30) if number not in {2, 5, 12, 15, 22}
    ]
    theirs = QueryBuilder().register("t", Deltalake(table)).execute("select id from t").read_all()
    assert len(theirs) == 25


def test_updates_and_merges_copy_the_rows_that_stay(spark, table, monkeypatch):
    monkeypatch.setattr(file_candidates, "AT_ONCE_BYTES", 1)
    write(spark.range(0, 300, 1, 3).selectExpr("id", "id * 2 as x"), table)
    target = DeltaTable.forPath(spark, table)
    expected = {number: number * 2 for number in range(300)}

    target.update("id in (4, 150)", {"x": "-x"})
    expected |= {4: -8, 150: -300}
    assert dict(tuple(row) for row in read(spark, table).collect()) == expected
    assert sorted(footer.created_by.split("-")[1][:3] for footer in footers(table))[:2] == ["cpp", "cpp"]
    assert (metrics(table)["numUpdatedRows"], metrics(table)["numCopiedRows"]) == (2, 198)

    source = spark.range(290, 302).selectExpr("id", "-1L as x")
    (
        target.alias("t")
        .merge(source.alias("s"), "t.id = s.id")
        .whenMatchedDelete("s.id = 295")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute()
    )
    expected |= dict.fromkeys(range(290, 302), -1)
    del expected[295]
    assert dict(tuple(row) for row in read(spark, table).collect()) == expected
    counts = [metrics(table)[f"numTargetRows{kind}"] for kind in ("Updated", "Deleted", "Inserted", "Copied")]
    assert counts == [9, 1, 2, 90]
    assert [footer.num_rows for footer in footers(table) if "cpp" in footer.created_by] == [90]


def _split(columns: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for character in columns.strip():
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append(current)
            current = ""
        else:
            current += character
    return [*parts, current]
