"""REORG ... APPLY (PURGE): rewrite files with deletion vectors without the deleted rows."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from pyspark_delta.commands.command_context import changing, now_ms
from pyspark_delta.commands.optimize import chosen_files, target_size
from pyspark_delta.commands.rewrite import group_by_partition, pack_bins, publish, result_frame, rewrite
from pyspark_delta.log.actions import dump
from pyspark_delta.log.delta_log import DeltaLog

__all__ = ["purge"]


def purge(spark: SparkSession, log: DeltaLog, partition_filter: str | None = None) -> DataFrame:
    """Rewrite the files with deleted rows in the partitions that the filter picks; return one row with metrics."""
    started = now_ms()
    with changing(spark, log) as change:
        chosen = chosen_files(change, partition_filter)
        marked = [add for add in chosen if add.deletion_vector is not None]
        bins = [
            files for group in group_by_partition(marked) for files in pack_bins(group, target_size(change))
        ]
        added = []
        if bins:
            change.transaction.read_files(marked)
            added = rewrite(change, bins)
            predicate = dump([] if partition_filter is None else [partition_filter]).decode()
            publish(change, bins, added, "REORG", {"predicate": predicate, "applyPurge": "true"})
        return result_frame(change, bins=bins, added=added, considered=len(chosen), started_ms=started)
