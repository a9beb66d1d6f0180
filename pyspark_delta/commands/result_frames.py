"""Small data frames for results, made on the driver without a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

__all__ = ["frame_of"]


def frame_of(spark: SparkSession, schema: StructType, rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """A frame of these rows; fields that a row lacks are null."""
    shape = to_arrow_schema(schema, timezone="UTC")
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=shape)
    return spark.createDataFrame(table, schema)
