"""delta-spark 4.4.0: with the change feed on, an UPDATE adds data files with a column that the table does not have.

Needs pyspark, delta-spark and pyarrow only. Ends with 1 where the deviation shows.
"""

import json
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
    feed = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    spark.sql(f"CREATE TABLE delta.`{table}` (id BIGINT) USING delta {feed}")
    spark.range(1, 3, numPartitions=1).write.format("delta").mode("append").save(str(table))
    delta.DeltaTable.forPath(spark, str(table)).update("id = 1", {"id": "3"})
    lines = (table / "_delta_log" / "00000000000000000002.json").read_text("utf-8").splitlines()
    added = [form["add"]["path"] for form in map(json.loads, lines) if "add" in form]
    columns = {name for path in added for name in pq.read_schema(table / path).names}
print("columns of the table: ['id']")
print("columns of the data files that the update added:", sorted(columns))
more = sorted(columns - {"id"})
if not more:
    print("as it should be: data files hold columns of the table only")
    sys.exit(0)
print(f"DEVIATION: {', '.join(more)} is in data files, and none of the table's columns")
sys.exit(1)
