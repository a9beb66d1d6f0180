"""DESCRIBE HISTORY: one row for each commit of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    BooleanType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pyspark_delta.commands.detail import moment
from pyspark_delta.commands.result_frames import frame_of
from pyspark_delta.log.actions import dump
from pyspark_delta.log.delta_log import DeltaLog

__all__ = ["history"]

_TEXTS = MapType(StringType(), StringType())
_JOB = StructType(
    [
        StructField(name, StringType())
        for name in ("jobId", "jobName", "jobRunId", "runId", "jobOwnerId", "triggerType")
    ]
)
_SCHEMA = StructType(
    [
        StructField("version", LongType()),
        StructField("timestamp", TimestampType()),
        StructField("userId", StringType()),
        StructField("userName", StringType()),
        StructField("operation", StringType()),
        StructField("operationParameters", _TEXTS),
        StructField("job", _JOB),
        StructField("notebook", StructType([StructField("notebookId", StringType())])),
        StructField("clusterId", StringType()),
        StructField("readVersion", LongType()),
        StructField("isolationLevel", StringType()),
        StructField("isBlindAppend", BooleanType()),
        StructField("operationMetrics", _TEXTS),
        StructField("userMetadata", StringType()),
        StructField("engineInfo", StringType()),
    ]
)


def history(spark: SparkSession, log: DeltaLog, limit: int | None = None) -> DataFrame:
    """The newest `limit` commits, newest first; all without a limit, none for a limit below 1."""
    rows = [
        _row(entry.version, entry.timestamp, entry.commit_info.raw if entry.commit_info else {})
        for entry in log.history(None if limit is None else max(0, limit))
    ]
    return frame_of(spark, _SCHEMA, rows)


def _row(version: int, timestamp: int, info: Mapping[str, Any]) -> dict[str, Any]:
    read = info.get("readVersion")
    blind = info.get("isBlindAppend")
    return {
        "version": version,
        "timestamp": moment(timestamp),
        **{
            name: _text(info.get(name))
            for name in ("userId", "userName", "operation", "clusterId", "isolationLevel")
        },
        "operationParameters": _texts(info.get("operationParameters")),
        "job": _struct(info.get("job")),
        "notebook": _struct(info.get("notebook")),
        "readVersion": int(read) if isinstance(read, int) else None,
        "isBlindAppend": blind if isinstance(blind, bool) else None,
        "operationMetrics": _texts(info.get("operationMetrics")),
        "userMetadata": _text(info.get("userMetadata")),
        "engineInfo": _text(info.get("engineInfo")),
    }


def _text(value: Any) -> str | None:
    """The value as text; other writers store numbers or lists here."""
    if value is None or isinstance(value, str):
        return value
    return dump(value).decode()


def _texts(value: Any) -> dict[str, str | None] | None:
    return {str(key): _text(item) for key, item in value.items()} if isinstance(value, Mapping) else None


def _struct(value: Any) -> dict[str, str | None] | None:
    return _texts(value)
