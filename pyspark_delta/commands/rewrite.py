"""Rewrite files without changing rows, bin by bin: shared by optimize, z-order and purge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType, StructField, StructType

from pyspark_delta import schema as schemas
from pyspark_delta import statistics
from pyspark_delta.commands.command_context import Change, now_ms, total
from pyspark_delta.commands.result_frames import frame_of
from pyspark_delta.log.actions import Add
from pyspark_delta.log.file_set import Files
from pyspark_delta.scan import scan

__all__ = ["ANSWER", "Bins", "group_by_partition", "pack_bins", "result_frame", "rewrite"]

Bins = Sequence[Sequence[Add]]
# The number of bins in one job; each is a part of the plan and a task.
BINS_IN_A_JOB = 64
JOBS_AT_ONCE = 4
_UNION = "spark.sql.unionOutputPartitioning"


def _longs(*names: str) -> StructType:
    return StructType([StructField(name, LongType()) for name in names])


_SIZES = StructType(
    [
        *_longs("min", "max"),
        StructField("avg", DoubleType()),
        *_longs("totalFiles", "totalSize"),
    ]
)
_FILES = _longs("num", "size")
_Z_ORDER = StructType(
    [
        StructField("strategyName", StringType()),
        StructField("inputCubeFiles", _FILES),
        StructField("inputOtherFiles", _FILES),
        *_longs("inputNumCubes"),
        StructField("mergedFiles", _FILES),
        *_longs("numOutputCubes", "mergedNumCubes"),
    ]
)
_CLUSTERED = _longs("numFiles", "size")
_CLUSTERING = StructType(
    [
        StructField("inputZCubeFiles", _CLUSTERED),
        StructField("inputOtherFiles", _CLUSTERED),
        *_longs("inputNumZCubes"),
        StructField("mergedFiles", _CLUSTERED),
        *_longs("numOutputZCubes"),
    ]
)
_PARALLELISM = _longs(
    "maxClusterActiveParallelism",
    "minClusterActiveParallelism",
    "maxSessionActiveParallelism",
    "minSessionActiveParallelism",
)
_METRICS = StructType(
    [
        *_longs("numFilesAdded", "numFilesRemoved"),
        StructField("filesAdded", _SIZES),
        StructField("filesRemoved", _SIZES),
        *_longs("partitionsOptimized"),
        StructField("zOrderStats", _Z_ORDER),
        StructField("clusteringStats", _CLUSTERING),
        *_longs("numBins", "numBatches", "totalConsideredFiles", "totalFilesSkipped"),
        StructField("preserveInsertionOrder", BooleanType()),
        *_longs("numFilesSkippedToReduceWriteAmplification", "numBytesSkippedToReduceWriteAmplification"),
        *_longs("startTimeMs", "endTimeMs", "totalClusterParallelism", "totalScheduledTasks"),
        StructField("autoCompactParallelismStats", _PARALLELISM),
        StructField(
            "deletionVectorStats", _longs("numDeletionVectorsRemoved", "numDeletionVectorRowsRemoved")
        ),
        *_longs("numTableColumns", "numTableColumnsWithStats"),
    ]
)
ANSWER = StructType([StructField("path", StringType()), StructField("metrics", _METRICS)])


def group_by_partition(adds: Sequence[Add]) -> list[list[Add]]:
    """Group files by their partition values."""
    groups: dict[tuple[tuple[str, str | None], ...], list[Add]] = defaultdict(list)
    for add in adds:
        groups[tuple(sorted(add.partition_values.items()))].append(add)
    return list(groups.values())


def pack_bins(adds: Sequence[Add], limit: int) -> Iterator[list[Add]]:
    """Groups of small files, smallest first, each up to the size limit."""
    current: list[Add] = []
    size = 0
    for add in sorted(adds, key=lambda action: action.size):
        if current and size + add.size > limit:
            yield current
            current, size = [], 0
        current.append(add)
        size += add.size
    if current:
        yield current


def rewrite(
    change: Change, bins: Bins, shape: Callable[[DataFrame, Sequence[Add]], DataFrame] | None = None
) -> list[Add]:
    """Write each bin as files of its own, by default one. There are a few jobs, each of many bins."""
    shape = shape or (lambda frame, _: frame.coalesce(1))
    batches = [bins[start : start + BINS_IN_A_JOB] for start in range(0, len(bins), BINS_IN_A_JOB)]

    def run(batch: Bins) -> list[Add]:
        parts = []
        for files in batch:
            rows = scan(change.spark, change.snapshot, Files.of(files, change.snapshot.path))
            parts.append(shape(rows, files))
        return change.write(reduce(DataFrame.unionAll, parts), data_change=False)

    with _keep_files_apart(change.spark):
        if len(batches) == 1:
            return run(batches[0])
        with ThreadPoolExecutor(max_workers=JOBS_AT_ONCE) as pool:
            return [add for added in pool.map(run, batches) for add in added]


@contextmanager
def _keep_files_apart(spark: SparkSession) -> Iterator[None]:
    """Keep the parts of a union in separate files. Spark would merge parts that have one partition each."""
    before = spark.conf.get(_UNION, "true")
    spark.conf.set(_UNION, "false")
    try:
        yield
    finally:
        spark.conf.set(_UNION, before)


def publish(
    change: Change, bins: Bins, added: Sequence[Add], operation: str, parameters: dict[str, Any]
) -> dict[str, int]:
    """Commit new files in place of those of the bins."""
    old = [add for files in bins for add in files]
    now = now_ms()
    removes = [add.remove(now, data_change=False) for add in old]
    sizes = sorted(add.size for add in added) or [0]
    metrics = {
        "numAddedFiles": len(added),
        "numAddedBytes": total(added),
        "numRemovedFiles": len(old),
        "numRemovedBytes": total(old),
        "numDeletionVectorsRemoved": sum(add.deletion_vector is not None for add in old),
        "minFileSize": sizes[0],
        "p25FileSize": sizes[len(sizes) // 4],
        "p50FileSize": sizes[len(sizes) // 2],
        "p75FileSize": sizes[len(sizes) * 3 // 4],
        "maxFileSize": sizes[-1],
    }
    change.commit([*removes, *added], operation, parameters, metrics, data_change=False)
    return metrics


def result_frame(
    change: Change,
    *,
    bins: Bins,
    added: Sequence[Add],
    considered: int,
    started_ms: int,
    z_ordered: bool = False,
) -> DataFrame:
    """The result row of optimize, in delta-spark's shape."""
    snapshot = change.snapshot
    old = [add for files in bins for add in files]
    rewritten = {"num": len(old), "size": total(old)}
    vectors = [add.deletion_vector.cardinality for add in old if add.deletion_vector is not None]
    indexed = statistics.indexed_columns(snapshot.schema, snapshot.partition_columns, snapshot.properties)
    metrics = {
        "numFilesAdded": len(added),
        "numFilesRemoved": len(old),
        "filesAdded": _sizes(added),
        "filesRemoved": _sizes(old),
        "partitionsOptimized": len(group_by_partition(old))
        if any(add.partition_values for add in old)
        else 0,
        "zOrderStats": None
        if not z_ordered
        else {
            "strategyName": "all",
            "inputCubeFiles": {"num": 0, "size": 0},
            "inputOtherFiles": rewritten,
            "inputNumCubes": 0,
            "mergedFiles": rewritten,
            "numOutputCubes": len(bins),
        },
        "numBins": len(bins),
        "numBatches": int(bool(bins)),
        "totalConsideredFiles": considered,
        "totalFilesSkipped": considered - len(old),
        "preserveInsertionOrder": False,
        "numFilesSkippedToReduceWriteAmplification": 0,
        "numBytesSkippedToReduceWriteAmplification": 0,
        "startTimeMs": started_ms,
        "endTimeMs": now_ms(),
        "totalClusterParallelism": int(change.spark.sparkContext.defaultParallelism),
        "totalScheduledTasks": len(bins),
        "deletionVectorStats": {
            "numDeletionVectorsRemoved": len(vectors),
            "numDeletionVectorRowsRemoved": sum(vectors),
        },
        "numTableColumns": len(list(schemas.leaves(snapshot.schema))),
        "numTableColumnsWithStats": len(indexed),
    }
    return frame_of(change.spark, ANSWER, [{"path": snapshot.path, "metrics": metrics}])


def _sizes(adds: Sequence[Add]) -> dict[str, float | None]:
    sizes = [add.size for add in adds]
    if not sizes:
        return {"min": None, "max": None, "avg": 0.0, "totalFiles": 0, "totalSize": 0}
    return {
        "min": min(sizes),
        "max": max(sizes),
        "avg": sum(sizes) / len(sizes),
        "totalFiles": len(sizes),
        "totalSize": sum(sizes),
    }
