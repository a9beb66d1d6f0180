"""delta-spark 4.4.0: bytes that are no UTF-8 get into a column of texts, with bounds that they are not within.

Needs pyspark, delta-spark and pyarrow only. Ends with 1 where the deviation shows.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import delta
import pyarrow as pa
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
    odd = spark.sql("SELECT CAST(X'6180' AS STRING) AS text").coalesce(1)
    odd.write.format("delta").save(str(table))
    lines = (table / "_delta_log" / f"{0:020d}.json").read_text("utf-8").splitlines()
    (add,) = (form["add"] for form in map(json.loads, lines) if "add" in form)
    stored = pq.read_table(table / add["path"]).column("text").cast(pa.binary()).to_pylist()
    least = json.loads(add["stats"])["minValues"]["text"].encode()
print("bytes in the file:", stored, "least by the log:", least)
try:
    stored[0].decode("utf-8")
except UnicodeDecodeError:
    print(
        f"DEVIATION: a column of texts holds {stored[0]!r}, which is no UTF-8; its minimum is said to be {least!r}"
    )
    sys.exit(1)
print("as it should be: a text is UTF-8")
