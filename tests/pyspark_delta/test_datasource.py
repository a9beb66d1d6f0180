"""The Python data source reads and writes the same tables as `read` and `write`."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyspark_delta import read, write
from pyspark_delta.datasource import register
from pyspark_delta.exceptions import DeltaError

pytestmark = pytest.mark.slow


def rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=repr)


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
