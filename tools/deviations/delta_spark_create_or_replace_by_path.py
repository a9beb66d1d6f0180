"""delta-spark 4.4.0: createOrReplace().location(path) on a table that is there replaces nothing, and tells nobody.

Needs pyspark and delta-spark only. Ends with 1 where the deviation shows.
"""

import os
import sys
import tempfile
from pathlib import Path

import delta
from pyspark.sql import SparkSession

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.databricks.delta.snapshotPartitions", "1")  # 50 tasks a snapshot otherwise
)
jars = os.environ.get("DELTA_JARS")  # files, comma-separated; without it Spark resolves them from Maven
session = builder.config("spark.jars", jars) if jars else delta.configure_spark_with_delta_pip(builder)
spark = session.getOrCreate()
spark.sparkContext.setLogLevel("OFF")

with tempfile.TemporaryDirectory() as folder:
    table = Path(folder) / "table"
    spark.range(1, 3, numPartitions=1).write.format("delta").save(str(table))
    delta.DeltaTable.createOrReplace(spark).location(str(table)).addColumn("id", "BIGINT").execute()
    after = spark.read.format("delta").load(str(table)).count()
    versions = len(list((table / "_delta_log").glob("*.json")))
    delta.DeltaTable.replace(spark).location(str(table)).addColumn("id", "BIGINT").execute()
    replaced = spark.read.format("delta").load(str(table)).count()
print(f"createOrReplace: {after} rows of 2 are left, {versions} versions; replace: {replaced} rows")
if after == 0:
    print("as it should be: the table was replaced by one without rows")
    sys.exit(0)
print(f"DEVIATION: createOrReplace has left all {after} rows, and committed nothing")
sys.exit(1)
