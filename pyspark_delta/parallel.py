"""Run work on many files: in the driver's threads, or as a Spark job if there are very many.

As for every Python function in Spark, the workers import this package.
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
    """The result of the work for each item, in order. The work is a module's function, or a `partial` of one."""
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
    """Run work that mostly waits, in threads even if an executor has one core for it."""
    storage.register_again(storages)
    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        yield from pool.map(work, items)
