"""A state too large for the driver: Spark reads and reconciles it, and the driver fetches what it needs.

Below the threshold this is much slower. Above it, only numbers, single keys and the files that a predicate leaves come
to the driver. The effect of later commits stays on the driver as an overlay, as for small tables.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Sequence
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pyspark_delta.log import columns
from pyspark_delta.log.actions import FileKey
from pyspark_delta.log.state import Base
from pyspark_delta.log.store import LogStore
from pyspark_delta.partition_values import is_absolute
from pyspark_delta.predicates import TRUE
from pyspark_delta.predicates import columns as columns_of
from pyspark_delta.storage import storage_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from pyspark_delta.predicates import Predicate
    from pyspark_delta.skipping.exact import Pruner

__all__ = ["SparkBase", "driver_limit", "is_too_large", "keys_of_actions"]

_log = logging.getLogger("pyspark_delta")

LIMIT_VARIABLE = "PYSPARK_DELTA_DRIVER_STATE_MB"
# About seven million files, which take 3 to 4 GB on the driver.
_USUAL_LIMIT_MB = 512

_VECTOR = "struct<storageType:string,pathOrInlineDv:string,offset:int,sizeInBytes:int,cardinality:bigint>"
_SHARED = f"stats:string,tags:map<string,string>,deletionVector:{_VECTOR},baseRowId:bigint,"
_SHARED += "defaultRowCommitVersion:bigint"
_ADD = (
    "struct<path:string,partitionValues:map<string,string>,size:bigint,modificationTime:bigint,dataChange:boolean,"
    f"{_SHARED},clusteringProvider:string>"
)
_REMOVE = (
    "struct<path:string,deletionTimestamp:bigint,dataChange:boolean,extendedFileMetadata:boolean,"
    f"partitionValues:map<string,string>,size:bigint,{_SHARED}>"
)
_SCHEMA = f"add {_ADD}, remove {_REMOVE}"


def driver_limit() -> int:
    """The bytes of checkpoint and commits from which on Spark reads the state, if there is a session."""
    return int(float(os.environ.get(LIMIT_VARIABLE, _USUAL_LIMIT_MB)) * 1_000_000)


def is_too_large(store: LogStore, names: Sequence[str]) -> bool:
    """Whether these files of the log together exceed the limit."""
    limit = driver_limit()
    total = 0
    for name in names:
        total += store.stat(name).size
        if total > limit:
            return True
    return False


class SparkBase(Base):
    """A base whose files stay with Spark. `checkpoint` is Parquet of one version, `commits` are JSON of later ones."""

    is_remote = True

    def __init__(
        self, spark: SparkSession, store: LogStore, checkpoint: Sequence[str], commits: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self.spark = spark
        self.frame = _reconciled(spark, store, checkpoint, commits)
        _log.info("%s: the state is read by Spark", store.root)

    @property
    def adds(self) -> pa.Table:
        """All live files, fetched to the driver."""
        return self._all_adds

    @property
    def removes(self) -> pa.Table:
        """All tombstones, fetched to the driver."""
        return self._all_removes

    @cached_property
    def count(self) -> int:
        """The number of live files."""
        return self._totals[0]

    @cached_property
    def size(self) -> int:
        """The size of all live files together."""
        return self._totals[1]

    def live_sizes(self, keys: set[FileKey]) -> dict[FileKey, int]:
        """The live ones of the keys, with the sizes of their files."""
        if not keys:
            return {}
        paths = self.spark.createDataFrame(pa.table({"key": pa.array(sorted({path for path, _ in keys}))}))
        near = self._live.join(paths, _path("path") == paths["key"], "left_semi")
        rows = _collected(near.select("path", "deletionVector", "size"), _KEYED)
        sizes = zip(columns.keys(rows), rows["size"].to_pylist(), strict=True)
        return {key: size for key, size in sizes if key in keys}

    def selected(self, pruner: Pruner, predicate: Predicate) -> pa.Table:
        """The live files whose partition values allow the predicate to be true."""
        from pyspark.sql import functions as sf  # noqa: PLC0415 - only where there is a session

        named = [entry for column in columns_of(predicate) if (entry := pruner.column(column)) is not None]
        partitions = list(dict.fromkeys(physical[0] for physical, _, partition in named if partition))
        if not partitions:
            return self.adds
        values = [sf.col("partitionValues")[name].alias(f"v{n}") for n, name in enumerate(partitions)]
        tuples = self._live.select(*values).distinct().toArrow()
        rows = list(zip(*(tuples[f"v{n}"].to_pylist() for n in range(len(partitions))), strict=True))
        stay = [
            bool(pruner.outcomes(predicate, dict(zip(partitions, row, strict=True))) & TRUE) for row in rows
        ]
        if all(stay):
            return self.adds
        kept = self.spark.createDataFrame(tuples.filter(pa.array(stay)))
        same = [
            sf.col("partitionValues")[name].eqNullSafe(kept[f"v{n}"]) for n, name in enumerate(partitions)
        ]
        return _collected(self._live.join(sf.broadcast(kept), reduce(_and, same), "left_semi"), columns.ADD)

    @property
    def _live(self) -> DataFrame:
        return self.frame.where("add.path is not null").select("add.*")

    @cached_property
    def _all_adds(self) -> pa.Table:
        return _collected(self._live, columns.ADD)

    @cached_property
    def _all_removes(self) -> pa.Table:
        return _collected(self.frame.where("remove.path is not null").select("remove.*"), columns.REMOVE)

    @cached_property
    def _totals(self) -> tuple[int, int]:
        row = self._live.selectExpr("count(*)", "coalesce(sum(size), 0)").first()
        assert row is not None  # noqa: S101 - an aggregate has one row
        return int(row[0]), int(row[1])


def keys_of_actions() -> Column:
    """The key of each action as one text: its path, NUL, and its deletion vector if it has one."""
    from pyspark.sql import functions as sf  # noqa: PLC0415 - only where there is a session

    vector = sf.coalesce("add.deletionVector", "remove.deletionVector")
    offset = sf.coalesce(sf.concat(sf.lit("@"), vector["offset"].cast("string")), sf.lit(""))
    unique = sf.concat(vector["storageType"], vector["pathOrInlineDv"], offset)
    path = _path(sf.coalesce("add.path", "remove.path"))
    return sf.concat(path, sf.lit("\x00"), sf.coalesce(unique, sf.lit("")))


_KEYED = pa.schema([columns.ADD.field(name) for name in ("path", "deletionVector", "size")])


def _reconciled(
    spark: SparkSession, store: LogStore, checkpoint: Sequence[str], commits: Sequence[str]
) -> DataFrame:
    """The newest action for each file; a checkpoint alone is reconciled already."""
    from pyspark.sql import functions as sf  # noqa: PLC0415 - only where there is a session

    reader = spark.read.schema(_SCHEMA)
    frames = []
    if checkpoint:
        frames.append(
            reader.parquet(*(_uri(store, name) for name in checkpoint)).withColumn("version", sf.lit(-1))
        )
    if commits:
        lines = reader.option("mode", "FAILFAST").json([_uri(store, name) for name in commits])
        frames.append(lines.withColumn("version", sf.expr("cast(left(_metadata.file_name, 20) as bigint)")))
    files = reduce(lambda left, right: left.unionByName(right), frames)
    files = files.where("add.path is not null or remove.path is not null")
    if not commits:
        return files
    vector = sf.coalesce("add.deletionVector", "remove.deletionVector")
    key = [
        _path(sf.coalesce("add.path", "remove.path")).alias("key"),
        sf.struct(*(vector[name] for name in ("storageType", "pathOrInlineDv", "offset"))).alias("vector"),
    ]
    newest = files.groupBy(*key).agg(sf.max_by(sf.struct("add", "remove"), "version").alias("newest"))
    return newest.select("newest.*")


def _collected(frame: DataFrame, schema: pa.Schema) -> pa.Table:
    return columns.conform(frame.toArrow(), schema)


def _path(column: Column | str) -> Any:
    from pyspark.sql import functions as sf  # noqa: PLC0415 - only where there is a session

    return sf.regexp_replace(column, "^file:/*", "/")


def _and(left: Column, right: Column) -> Column:
    return left & right


def _uri(store: LogStore, name: str) -> str:
    """A path in the form that Hadoop reads; only characters of patterns are escaped.

    If patterns are switched off, Spark 4.2 reads several files twice if a folder's name looks like a pattern.
    """
    place = name if is_absolute(name) else f"{store.root}/{name}"
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", storage_of(place).for_spark(place))
