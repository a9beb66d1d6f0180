"""delta-spark 4.4.0: a second RESTORE to a state before row tracking gives its rows row ids anew.

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


def ids(table: Path, version: int) -> list[int | None]:
    """The row ids with which a commit adds files."""
    lines = (table / "_delta_log" / f"{version:020d}.json").read_text("utf-8").splitlines()
    return [form["add"].get("baseRowId") for form in map(json.loads, lines) if "add" in form]


with tempfile.TemporaryDirectory() as folder:
    table = Path(folder) / "table"
    spark.range(1, 2, numPartitions=1).write.format("delta").save(str(table))
    named = f"delta.`{table}`"
    spark.sql(f"ALTER TABLE {named} SET TBLPROPERTIES ('delta.feature.rowTracking' = 'supported')")
    added = []
    for _ in range(2):
        delta.DeltaTable.forPath(spark, str(table)).delete()
        spark.sql(f"RESTORE TABLE {named} TO VERSION AS OF 0")
        newest = max(int(path.stem) for path in (table / "_delta_log").glob("*.json"))
        added.append(ids(table, newest))
print("baseRowId of the file, restored once and once more:", added)
if added[0] == added[1]:
    print("as it should be: a file keeps the ids that it was last added with")
    sys.exit(0)
print(f"DEVIATION: the same file is added with the row ids from {added[0]} on, then from {added[1]} on")
sys.exit(1)
