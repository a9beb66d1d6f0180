"""delta-spark 4.4.0: a path in the log has characters that a URI of RFC 2396 cannot have.

Needs pyspark and delta-spark only. Ends with 1 where the deviation shows.
"""

import json
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
    row = spark.createDataFrame([(1, chr(0xE9))], "id BIGINT, part STRING").coalesce(1)
    row.write.format("delta").partitionBy("part").save(str(table))
    lines = (table / "_delta_log" / f"{0:020d}.json").read_text("utf-8").splitlines()
    (path,) = (form["add"]["path"] for form in map(json.loads, lines) if "add" in form)
print("path in the log:", path)
raw = sorted({each for each in path if not each.isascii()})
if not raw:
    print("as it should be: the path is US-ASCII, all else is escaped")
    sys.exit(0)
print(f"DEVIATION: the path has the raw characters {raw}")
sys.exit(1)
