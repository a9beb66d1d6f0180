"""A script written for delta-spark runs on the engine with another import and gives the same result."""

from __future__ import annotations

import json

import pytest

from pyspark_delta import DeltaTable
from tests.pyspark_delta.shared_script import SCRIPT

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("vectors", ("false", "true"))
def test_a_script_shows_the_same_on_delta_spark_and_here(spark, delta_spark, tmp_path, vectors):
    names = {"spark": spark, "DeltaTable": DeltaTable, "path": str(tmp_path / "ours"), "vectors": vectors}
    exec(compile(SCRIPT, "<script>", "exec"), names)
    ours = json.loads(json.dumps(names["result"], default=str))
    theirs = delta_spark.run(SCRIPT, path=str(tmp_path / "theirs"), vectors=vectors)
    assert [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]] == []


def test_each_engine_goes_on_where_the_other_stopped(spark, delta_spark, table):
    delta_spark.run(
        """
        builder = DeltaTable.create(spark).location(path).addColumn("id", "bigint").addColumn("p", "string")
        builder.partitionedBy("p").property("delta.enableDeletionVectors", "true").execute()
        frame = spark.range(100).selectExpr("id", "concat('p', id % 2) p").coalesce(1)
        frame.write.format("delta").mode("append").save(path)
        DeltaTable.forPath(spark, path).delete("id % 10 = 3")
        """,
        path=table,
    )
    ours = DeltaTable.forPath(spark, table)
    ours.delete("id % 10 = 4")
    ours.update("id = 5", {"p": "'p5'"})
    source = spark.range(98, 102).selectExpr("id", "'new' p").alias("s")
    ours.alias("t").merge(source, "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    ours.optimize().where("p = 'new'").executeCompaction()
    theirs = delta_spark.run(
        """
        table = DeltaTable.forPath(spark, path)
        before = sorted([list(row) for row in table.toDF().collect()])
        table.delete("id % 10 = 6")
        table.optimize().executeCompaction()
        after = DeltaTable.forPath(spark, path).toDF()  # delta-spark's old handle still shows the old version
        result = before, sorted([list(row) for row in after.collect()])
        """,
        path=table,
    )
    left = [number for number in range(102) if number % 10 not in {3, 4} or number > 99]
    assert [row[0] for row in theirs[0]] == left
    assert theirs[1] == sorted([list(row) for row in ours.toDF().collect()])
