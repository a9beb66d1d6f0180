"""The other ways to a table: without a JVM at hand, and as a data source in Python."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from pyspark_delta import DeltaTable, deleted_rows, file_index, parallel, read, write
from pyspark_delta.datasource import register
from pyspark_delta.exceptions import DeltaError, MissingDataFile
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta.small_tables import let_a_millisecond_pass

pytestmark = pytest.mark.slow

VECTORS = {"delta.enableDeletionVectors": "true"}


def rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=repr)


@pytest.fixture
def marked(spark, table):
    """A partitioned table with hostile values and deletion vectors."""
    texts = ["a+b %41", "c/d", "{x}*", None]
    data = pa.table({"id": list(range(40)), "p": [texts[n % 4] for n in range(40)]})
    write(spark.createDataFrame(data), table, partition_by="p", properties=VECTORS)
    DeltaTable.forPath(spark, table).delete("id in (3, 17)")
    return table


def test_rows_are_the_same_by_constants_by_joins_and_without_a_jvm(spark, marked, monkeypatch):
    wanted = rows(read(spark, marked))
    assert len(wanted) == 38
    monkeypatch.setattr(deleted_rows, "MOST_BITS", 0)
    assert rows(read(spark, marked)) == wanted
    monkeypatch.setattr(file_index, "_made", lambda spark, name: None)
    assert rows(read(spark, marked)) == wanted
    assert rows(read(spark, marked, version=0).where("p = 'c/d'")) == sorted(
        ((n, "c/d") for n in range(1, 40, 4)), key=repr
    )


def test_deleted_rows_are_the_same_however_spark_comes_by_the_numbers_of_rows(spark, table):
    """Counted where a task reads whole files; numbered by Spark's reader where a filter or a cut leaves rows out."""
    write(spark.range(0, 3000, 1, 5).selectExpr("id", "array(id) as a"), table, properties=VECTORS)
    DeltaTable.forPath(spark, table).delete("id % 100 in (7, 8) or id between 590 and 1210")
    wanted = [n for n in range(3000) if n % 100 not in (7, 8) and not 590 <= n <= 1210]

    def answers(frame):
        numbered = "_tmp_metadata_row_index" in frame._jdf.queryExecution().executedPlan().toString()
        return [row.id for row in frame.select("id").sort("id").collect()] == wanted, numbered

    def under(settings, frame):
        before = {key: spark.conf.get(key, None) for key in settings}
        try:
            for key, value in settings.items():
                spark.conf.set(key, value)
            return answers(frame())
        finally:
            for key, value in before.items():
                spark.conf.set(key, value) if value is not None else spark.conf.unset(key)

    def filtered():
        return read(spark, table).where("id % 2 = 0").union(read(spark, table).where("id % 2 = 1"))

    whole = {"spark.sql.files.openCostInBytes": "100"}
    assert under(whole, lambda: read(spark, table)) == (True, False)
    assert under({}, lambda: read(spark, table).where("length(uuid()) > 0"))[0]
    rowwise = {"spark.sql.parquet.enableVectorizedReader": "false"}
    interpreted = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    assert under(rowwise | interpreted, lambda: read(spark, table).select("a", "id")) == (True, False)
    exploded = lambda: read(spark, table).selectExpr("explode_outer(a) as id")  # noqa: E731 - takes the plan below along
    assert under(interpreted, exploded) == (True, False)
    assert read(spark, table).groupBy().count().collect()[0][0] == len(wanted)
    assert under({}, filtered) == (True, True)
    assert under({"spark.sql.files.maxPartitionBytes": "2000"}, lambda: read(spark, table)) == (True, True)
    planned = read(spark, table).select("id").sort("id")
    planned._jdf.queryExecution().executedPlan()
    spark.conf.set("spark.sql.files.maxPartitionBytes", "2000")
    try:
        assert [row.id for row in planned.collect()] == wanted
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")


def test_what_leaves_deleted_rows_out_is_short_to_look_at_and_of_spark_s_own_classes(spark, marked):
    query = read(spark, marked)._jdf.queryExecution()
    for plan in (query.optimizedPlan(), query.executedPlan()):
        assert "pyspark_delta.DeletedRows" not in plan.toString()
        assert "util.collection.BitSet@" in plan.toString()
        assert len(plan.toString()) < 5_000
    assert not query.optimizedPlan().sameResult(
        read(spark, marked, version=0)._jdf.queryExecution().optimizedPlan()
    )


def test_the_data_source_reads_and_writes(spark, marked):
    register(spark)
    wanted = rows(read(spark, marked))
    source = spark.read.format("pyspark_delta")
    assert rows(source.load(marked)) == wanted
    assert source.option("versionAsOf", "0").load(marked).count() == 40
    new = spark.createDataFrame(pa.table({"p": ["c/d", None], "id": [100, 101]}))
    new.write.format("pyspark_delta").mode("append").save(marked)
    assert rows(read(spark, marked)) == sorted([*wanted, (100, "c/d"), (101, None)], key=repr)
    new.write.format("pyspark_delta").mode("overwrite").save(marked)
    assert rows(read(spark, marked)) == [(100, "c/d"), (101, None)]


def test_the_data_source_refuses_what_it_would_do_wrongly(spark, table):
    register(spark)
    write(spark.range(3), table)
    with pytest.raises(Exception, match=DeltaError.__name__ + "|SchemaMismatch"):
        spark.sql("select 'x' as id").write.format("pyspark_delta").mode("append").save(table)
    assert read(spark, table).count() == 3


def test_work_on_very_many_files_is_spark_jobs(spark, table, tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "JOB_FROM", 2)
    write(spark.range(0, 30, 1, 3), table)
    adds = DeltaLog.for_path(table).update().files().adds()
    assert sorted(json.loads(add.stats or "")["minValues"]["id"] for add in adds) == [0, 10, 20]
    changed = DeltaTable.forPath(spark, table)
    changed.delete()
    changed.restoreToVersion(0)
    copy = changed.clone(str(tmp_path / "copy"), isShallow=False)
    assert copy.count() == copy.toDF().count() == 30
    (tmp_path / "plain").mkdir()
    for add in adds:
        shutil.copy(Path(table) / add.path, tmp_path / "plain")
    converted = DeltaTable.convertToDelta(spark, f"parquet.`{tmp_path / 'plain'}`")
    assert converted.count() == converted.toDF().count() == 30
    changed.delete()
    let_a_millisecond_pass()
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    changed.vacuum(0)
    spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    assert not any((Path(table) / add.path).exists() for add in adds)
    with pytest.raises(MissingDataFile, match="3 of its files"):
        changed.restoreToVersion(0)
    (tmp_path / "copy" / adds[0].path).unlink()
    with pytest.raises(MissingDataFile, match="is not there"):
        copy.clone(str(tmp_path / "copy of copy"), isShallow=False)
    assert not list((tmp_path / "copy of copy").rglob("*.parquet"))
