"""DESCRIBE DETAIL: one row of facts about a table."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pyspark_delta.commands.result_frames import frame_of
from pyspark_delta.features import reader_features, writer_features
from pyspark_delta.log.delta_log import DeltaLog

__all__ = ["detail"]

_TEXTS = ArrayType(StringType())
_SCHEMA = StructType(
    [
        StructField("format", StringType()),
        StructField("id", StringType()),
        StructField("name", StringType()),
        StructField("description", StringType()),
        StructField("location", StringType()),
        StructField("createdAt", TimestampType()),
        StructField("lastModified", TimestampType()),
        StructField("partitionColumns", _TEXTS),
        StructField("clusteringColumns", _TEXTS),
        StructField("numFiles", LongType()),
        StructField("sizeInBytes", LongType()),
        StructField("properties", MapType(StringType(), StringType())),
        StructField("minReaderVersion", IntegerType()),
        StructField("minWriterVersion", IntegerType()),
        StructField("tableFeatures", _TEXTS),
    ]
)


def detail(spark: SparkSession, log: DeltaLog) -> DataFrame:
    """One row about the newest version."""
    snapshot = log.update()
    metadata, protocol = snapshot.metadata, snapshot.protocol
    features = writer_features(protocol) | reader_features(protocol)
    row = {
        "format": "delta",
        "id": metadata.id,
        "name": metadata.name,
        "description": metadata.description,
        "location": Path(log.path).as_uri() if log.path.startswith("/") else log.path,
        "createdAt": moment(metadata.created_time),
        "lastModified": moment(snapshot.timestamp),
        "partitionColumns": list(snapshot.partition_columns),
        "clusteringColumns": [],
        "numFiles": snapshot.num_files,
        "sizeInBytes": snapshot.size_in_bytes,
        "properties": dict(snapshot.properties),
        "minReaderVersion": protocol.min_reader,
        "minWriterVersion": protocol.min_writer,
        "tableFeatures": sorted(features),
    }
    return frame_of(spark, _SCHEMA, [row])


def moment(ms: int | None) -> dt.datetime | None:
    """A time of the log in Arrow's type."""
    return None if ms is None else dt.datetime.fromtimestamp(ms / 1000, tz=dt.UTC)
