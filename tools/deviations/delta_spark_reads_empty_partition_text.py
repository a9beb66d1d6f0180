"""delta-spark 4.4.0: an empty partition text in the log is read as an empty text, although it means null.

Needs pyspark and delta-spark only; the log is made to say what deltalake writes for ''. Ends with 1 where the
deviation shows.
"""

import json
import os
import shutil
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
    written, table = Path(folder) / "written", Path(folder) / "table"
    row = spark.createDataFrame([(1, "")], "id BIGINT, part STRING")
    row.write.format("delta").partitionBy("part").save(str(written))
    shutil.copytree(
        written, table, ignore=shutil.ignore_patterns("*.crc")
    )  # at a path that Spark has not cached
    commit = table / "_delta_log" / f"{0:020}.json"
    forms = [json.loads(line) for line in commit.read_text("utf-8").splitlines()]
    for form in forms:
        if "add" in form:
            print("delta-spark itself writes:", form["add"]["partitionValues"])
            form["add"]["partitionValues"] = {"part": ""}
    commit.write_text("".join(json.dumps(form) + "\n" for form in forms), "utf-8")
    frame = spark.read.format("delta").load(str(table))
    rows = [tuple(found) for found in frame.collect()]
    nulls, empty = (frame.where(where).count() for where in ("part IS NULL", "part = ''"))
print(f"rows: {rows}; part IS NULL finds {nulls}, part = '' finds {empty}")
if rows == [(1, None)] and (nulls, empty) == (1, 0):
    print("as it should be: an empty string means null")
    sys.exit(0)
print(f"DEVIATION: the rows are {rows}, they should be [(1, None)]")
sys.exit(1)
