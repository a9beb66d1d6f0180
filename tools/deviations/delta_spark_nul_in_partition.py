"""delta-spark 4.4.0: a row whose partition column holds a text with a NUL can't be written.

Needs pyspark and delta-spark only. Ends with 1 where the deviation shows.
"""

import os
import sys
import tempfile
from pathlib import Path

import delta
from py4j.protocol import Py4JJavaError
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
    spark.sql(f"CREATE TABLE delta.`{table}` (id BIGINT, part STRING) USING delta PARTITIONED BY (part)")
    row = spark.createDataFrame([(1, "a" + chr(0) + "b")], "id BIGINT, part STRING")
    try:
        row.write.format("delta").mode("append").save(str(table))
        told = "done"
    except Py4JJavaError as error:
        told = str(error.java_exception)[:160]
    rows = spark.read.format("delta").load(str(table)).count()
print("append:", told)
print("rows:", rows)
if told == "done" and rows == 1:
    print("as it should be: a partition value is any text")
    sys.exit(0)
print("DEVIATION: a text with the character 0 is no partition value")
sys.exit(1)
