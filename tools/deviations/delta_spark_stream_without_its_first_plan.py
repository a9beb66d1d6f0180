"""delta-spark 4.4.0 on Spark 4.2.0: a stream that was cut while it planned its first batch can't be started again.

Needs pyspark and delta-spark only. What the cut leaves is made here by hand: the temporary file of `offsets/0`, which
has not got its name. Nothing is planned, nothing is written. Ends with 1 where the deviation shows.
"""

import os
import sys
import tempfile
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


def poured(arrived: Path, table: Path, progress: Path) -> str:
    """What comes of the stream: the rows that are in the table afterwards, or why it did not run."""
    try:
        source = spark.readStream.schema("id BIGINT").parquet(str(arrived))
        written = source.writeStream.format("delta").option("checkpointLocation", str(progress))
        written.trigger(availableNow=True).start(str(table)).awaitTermination()
    except PySparkException as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
    return str(sorted(row.id for row in spark.read.format("delta").load(str(table)).collect()))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    spark.range(2).write.parquet(str(folder / "arrived"))
    whole = poured(folder / "arrived", folder / "table", folder / "progress")
    cut = folder / "cut" / "offsets"
    cut.mkdir(parents=True)
    (cut / ".0.2f1d6c3e-5f0a-4c6e-9d57-0b1c6b0f9a11.tmp").write_text("v1\n{")
    after = poured(folder / "arrived", folder / "other", cut.parent)
print("a stream with new progress:", whole)
print("one that was cut before its first plan had its name:", after)
if whole == after:
    print("as it should be: it plans its first batch again")
    sys.exit(0)
print("DEVIATION: a stream of which nothing is done can't be started again")
sys.exit(1)
