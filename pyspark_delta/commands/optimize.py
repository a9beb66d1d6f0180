"""OPTIMIZE: combine small files, and rewrite files with many deleted rows. The table's rows do not change."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from pyspark_delta.commands.command_context import Change, changing, now_ms
from pyspark_delta.commands.conditions import analyse, read_conf
from pyspark_delta.commands.file_candidates import find_candidates, whole_files
from pyspark_delta.commands.rewrite import group_by_partition, pack_bins, publish, result_frame, rewrite
from pyspark_delta.exceptions import InvalidArgument
from pyspark_delta.log.actions import Add, dump
from pyspark_delta.log.delta_log import DeltaLog

__all__ = ["chosen_files", "optimize", "target_size"]

_MAX_SIZE = "spark.databricks.delta.optimize.maxFileSize"
_MIN_SIZE = "spark.databricks.delta.optimize.minFileSize"
_DEFAULT_SIZE = 1 << 30
# A file is rewritten for its deletion vector alone if more than this part of its rows is deleted.
_MAX_DELETED = 0.05


def optimize(spark: SparkSession, log: DeltaLog, partition_filter: str | None = None) -> DataFrame:
    """Compact the files of the partitions that the filter picks; return one row with metrics."""
    started = now_ms()
    with changing(spark, log) as change:
        chosen = chosen_files(change, partition_filter)
        limit = target_size(change)
        smallest = int(read_conf(spark, _MIN_SIZE, str(limit)) or limit)
        bins = [
            files
            for group in group_by_partition([add for add in chosen if _wants(change, add, smallest)])
            for files in pack_bins(group, limit)
            if len(files) > 1 or _mostly_deleted(change, files[0])
        ]
        if not bins:
            return result_frame(change, bins=bins, added=[], considered=len(chosen), started_ms=started)
        old = [add for files in bins for add in files]
        change.transaction.read_files(old)
        added = rewrite(change, bins)
        parameters = {
            "predicate": dump([] if partition_filter is None else [partition_filter]).decode(),
            "zOrderBy": "[]",
            "clusterBy": "[]",
            "auto": "false",
        }
        publish(change, bins, added, "OPTIMIZE", parameters)
        return result_frame(change, bins=bins, added=added, considered=len(chosen), started_ms=started)


def chosen_files(change: Change, partition_filter: str | None) -> Sequence[Add]:
    """The files of the partitions that a filter picks; refuses a filter on other columns."""
    snapshot = change.snapshot
    if partition_filter is None:
        return snapshot.files().adds()
    condition = analyse(change.spark, snapshot.schema, partition_filter, "OPTIMIZE")
    if not condition.only_of(snapshot.partition_columns):
        columns = ", ".join(snapshot.partition_columns) or "none"
        raise InvalidArgument(
            f"the filter {partition_filter} asks for columns that the table is not partitioned by",
            f"Use partition columns only ({columns}).",
        )
    if condition.constant is not None:
        return snapshot.files().adds() if condition.constant else []
    files = whole_files(change, condition, find_candidates(change, condition, reading=False))
    return files or []


def target_size(change: Change) -> int:
    """The size in bytes that new files should have."""
    setting = read_conf(change.spark, _MAX_SIZE)
    if setting is not None:
        return int(setting)
    wanted = change.snapshot.properties.get("delta.targetFileSize")
    return _DEFAULT_SIZE if wanted is None else size_of(wanted)


def size_of(text: str) -> int:
    """The number of bytes in a text such as `128mb` or `1g`."""
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
    folded = text.strip().lower().removesuffix("b")
    number, unit = (folded[:-1], units[folded[-1]]) if folded[-1:] in units else (folded, 1)
    try:
        return int(number) * unit
    except ValueError:
        raise InvalidArgument(f"{text} is no size", "Write it as a number of bytes, or as 128mb.") from None


def _wants(change: Change, add: Add, smallest: int) -> bool:
    return add.size < smallest or _mostly_deleted(change, add)


def _mostly_deleted(change: Change, add: Add) -> bool:
    vector = add.deletion_vector
    return vector is not None and vector.cardinality > _MAX_DELETED * change.physical_rows(add)
