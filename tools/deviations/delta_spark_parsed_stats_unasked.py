"""delta-spark 4.4.0: a checkpoint holds stats_parsed, which nobody asked for.

Needs pyspark, delta-spark and pyarrow only. Ends with 1 where the deviation shows.
"""

import os
import sys
import tempfile
from pathlib import Path

import delta
import pyarrow.parquet as pq
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
    # The change feed asks for writer version 4, and the property applies from version 3 on.
    properties = "TBLPROPERTIES ('delta.checkpointInterval' = '1', 'delta.enableChangeDataFeed' = 'true')"
    spark.sql(f"CREATE TABLE delta.`{table}` (id BIGINT) USING delta {properties}")
    spark.range(1, 3, numPartitions=1).write.format("delta").mode("append").save(str(table))
    (checkpoint,) = (table / "_delta_log").glob("*1.checkpoint*.parquet")
    add = pq.read_schema(checkpoint).field("add").type
    columns = [add.field(place).name for place in range(add.num_fields)]
print("delta.checkpoint.writeStatsAsStruct: not set, false by the protocol")
print("columns of add in the checkpoint:", columns)
if "stats_parsed" not in columns:
    print("as it should be: statistics are there as JSON only")
    sys.exit(0)
print("DEVIATION: stats_parsed is in the checkpoint, and the property that asks for it is not set")
sys.exit(1)
