"""delta-spark 4.4.0: the commit of an append does not say that row tracking is preserved, that of a delete does.

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
    tracked = "TBLPROPERTIES ('delta.enableRowTracking' = 'true')"
    spark.sql(f"CREATE TABLE delta.`{table}` (id BIGINT) USING delta {tracked}")
    spark.range(1, 3, numPartitions=1).write.format("delta").mode("append").save(str(table))
    delta.DeltaTable.forPath(spark, str(table)).delete("id = 1")
    tags = {}
    for version, what in ((1, "append"), (2, "delete")):
        lines = (table / "_delta_log" / f"{version:020d}.json").read_text("utf-8").splitlines()
        told = next(form["commitInfo"] for form in map(json.loads, lines) if "commitInfo" in form)
        tags[what] = (told.get("tags") or {}).get("delta.rowTracking.preserved")
print("delta.rowTracking.preserved:", tags)
if tags["append"] == "true":
    print("as it should be: an append updates and copies no row, and says so")
    sys.exit(0)
print(
    f"DEVIATION: an append copies no row, and its commit has the tag {tags['append']}; a delete's has {tags['delete']}"
)
sys.exit(1)
