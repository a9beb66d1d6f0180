"""Work on files: a few on the driver, several at a time; very many as a Spark job, on whatever machines there are.

Workers import this package for it, as for every Python function of Spark's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from pyspark.sql import SparkSession

from pyspark_delta import spark_jobs, storage

__all__ = ["map_items"]

THREADS = 8
THREADS_FROM = 8
JOB_FROM = 2_000

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_items(
    spark: SparkSession | None, items: Sequence[Item], work: Callable[[Item], Result]
) -> list[Result]:
    """What the work gives for each item, in their order; the work is a function of a module, or a `partial` of one."""
    if spark is not None and len(items) >= JOB_FROM and hasattr(spark, "sparkContext"):
        context: Any = spark.sparkContext
        slices = min(len(items), 4 * context.defaultParallelism)
        results: list[Result] = []
        job = context.parallelize(items, slices).mapPartitions(
            partial(_map_in_threads, work, storage.registered())
        )
        spark_jobs.run(spark, lambda: results.extend(job.collect()))
        return results
    if len(items) < THREADS_FROM:
        return [work(item) for item in items]
    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        return list(pool.map(work, items))


def _map_in_threads(
    work: Callable[[Item], Result], storages: storage.Registered, items: Iterator[Item]
) -> Iterator[Result]:
    """Work that is mostly waiting, several at a time also where an executor has one core for it."""
    storage.register_again(storages)
    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        yield from pool.map(work, items)
