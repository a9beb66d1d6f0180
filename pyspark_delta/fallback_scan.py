"""Scan files through Spark's public API, for sessions without a reachable JVM (such as Spark Connect).

Spark receives the paths, and a join on the path gives each row the values of its file. The result is right, but slower,
and a query's filters skip no files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it
from pyspark.sql.types import StructType

from pyspark_delta import sql_text
from pyspark_delta.log.file_set import Files
from pyspark_delta.partition_values import parse_column
from pyspark_delta.storage import storage_of

__all__ = ["scan_by_path"]

_PATH = "__path"
# Spark returns a file's path as a URI: encoded, with one or three slashes after `file:`, and a plain `+`.
_OWN_PATH = "regexp_replace(url_decode(replace(_metadata.file_path, '+', '%2B')), '^file:/+', '/')"


def scan_by_path(
    spark: SparkSession,
    files: Files,
    *,
    stored: StructType,
    partition: StructType,
    constants: Mapping[str, Sequence[int]],
    row: str | None,
    options: Mapping[str, str],
    zone: str,
) -> DataFrame:
    """The stored columns, then the constants of each file, then the index of the row under the name `row`."""
    keys = set(partition.names)
    data = StructType([field for field in stored.fields if field.name not in keys])
    columns = [sql_text.name(name) for name in (*stored.names, *constants)] + ([row] if row else [])
    if len(files) == 0:
        kinds = [f"{sql_text.name(f.name)} {sql_text.type_text(f.dataType)}" for f in stored.fields]
        numbers = [f"{name} bigint" for name in (*constants, *([row] if row else []))]
        return spark.createDataFrame([], ", ".join([*kinds, *numbers]))
    paths = [storage_of(path).for_spark(path) for path in files.paths()]
    # Spark must not treat names as patterns or folders as partitions: it would add columns and read files twice.
    reader = spark.read.schema(data).options(**options).option("__globPaths__", "false")
    rows = reader.option("recursiveFileLookup", "true").parquet(*paths)
    kept = [sql_text.name(name) for name in data.names]
    if not keys and not constants:
        return rows.selectExpr(*kept, *([f"_metadata.row_index as {row}"] if row else []))
    rows = rows.selectExpr(
        *kept, f"{_OWN_PATH} as {_PATH}", *([f"_metadata.row_index as {row}"] if row else [])
    )
    facts = {
        _PATH: pa.array([re.sub("^file:/+", "/", path) for path in paths]),
        **{f.name: parse_column(files.partition_values(f.name), f.dataType, zone) for f in partition.fields},
        **{name: pa.array(numbers, pa.int64()) for name, numbers in constants.items()},
    }
    known = spark.createDataFrame(pa.table(facts)).withColumn("__known", F.lit(True))
    joined = rows.join(F.broadcast(known), _PATH, "left")
    unknown = f"raise_error(concat('Spark read a file that was not asked for: ', {_PATH}))"
    return joined.where(f"if(__known, true, {unknown})").selectExpr(*columns)
