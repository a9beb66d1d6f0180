"""delta-spark 4.4.0: what a creation left that was cut before its commit is no table, and can't be created any more.

Needs pyspark and delta-spark only. What a kill leaves is made here by hand: the folder and an empty `_delta_log`.
Ends with 1 where the deviation shows.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import delta
from pyspark.errors import PySparkException
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


def told(ask: Callable[[], object]) -> str:
    """What came of it."""
    try:
        ask()
    except PySparkException as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
    return "done"


with tempfile.TemporaryDirectory() as folder:
    table = Path(folder) / "table"
    (table / "_delta_log").mkdir(parents=True)
    read = told(lambda: spark.read.format("delta").load(str(table)))
    created = told(lambda: spark.sql(f"CREATE TABLE delta.`{table}` (id BIGINT) USING delta"))
    commits = sorted(path.name for path in (table / "_delta_log").glob("*.json"))
print("read:", read)
print("create:", created)
print("commits:", commits)
if created == "done" or read == "done":
    print("as it should be: what is no table can be made one")
    sys.exit(0)
print("DEVIATION: the folder is no table to who reads it, and one to who creates it")
sys.exit(1)
