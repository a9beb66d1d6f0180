"""Deleted rows stay out of a scan, in every way that Spark can execute it."""

from __future__ import annotations

import pytest

from pyspark_delta import DeltaTable, deleted_rows, file_index, read, write
from tests.pyspark_delta.small_tables import VECTORS

pytestmark = pytest.mark.slow


def rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def test_rows_are_the_same_by_constants_by_joins_and_without_a_jvm(spark, marked, monkeypatch):
    wanted = rows(read(spark, marked))
    assert len(wanted) == 38
    monkeypatch.setattr(deleted_rows, "MOST_BITS", 0)
    assert rows(read(spark, marked)) == wanted
    monkeypatch.setattr(file_index, "_jvm_instance", lambda spark, name: None)
    assert rows(read(spark, marked)) == wanted
    assert rows(read(spark, marked, version=0).where("p = 'c/d'")) == sorted(
        ((n, "c/d") for n in range(1, 40, 4)), key=repr
    )


def test_deleted_rows_are_the_same_however_spark_comes_by_the_numbers_of_rows(spark, table):
    """If a task reads whole files, rows are counted; if rows are filtered or files split, Spark numbers them."""
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
