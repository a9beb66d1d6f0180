"""delta-spark 4.4.0: RESTORE and CONVERT TO DELTA leave no version checksum beside their commits.

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
    for at in range(2):
        spark.range(at, at + 1, numPartitions=1).write.format("delta").mode("append").save(str(table))
    spark.sql(f"RESTORE TABLE delta.`{table}` TO VERSION AS OF 0")
    spark.range(5, 6, numPartitions=1).write.format("delta").mode("append").save(str(table))
    log = table / "_delta_log"
    lacking = [path.name for path in sorted(log.glob("*.json")) if not path.with_suffix(".crc").exists()]
    plain = Path(folder) / "plain"
    spark.range(1, 2, numPartitions=1).write.parquet(str(plain))
    spark.sql(f"CONVERT TO DELTA parquet.`{plain}`")
    converted = (plain / "_delta_log" / f"{0:020d}.crc").exists()
print(
    "commits without a checksum:", lacking, "of four, the third is a RESTORE; converted has one:", converted
)
if not lacking and converted:
    print("as it should be: each commit has a version checksum")
    sys.exit(0)
print(
    f"DEVIATION: no version checksum beside {', '.join(lacking) or 'none'}; beside a conversion's: {converted}"
)
sys.exit(1)
