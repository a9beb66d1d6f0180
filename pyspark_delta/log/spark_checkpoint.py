"""Write the checkpoint of a state that Spark holds: executors write the parts, the driver writes its own overlay.

The parts get their final names when all are written, because readers ignore a checkpoint with a missing part.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pyspark_delta import spark_jobs
from pyspark_delta.log.names import LOG, checkpoint_part_name
from pyspark_delta.log.parsed_columns import PARTITION_VALUES, STATS
from pyspark_delta.log.spark_state import SparkBase, keys_of_actions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyspark_delta.log.snapshot import Snapshot

__all__ = ["WrittenCheckpoint", "write_parts"]


class WrittenCheckpoint(NamedTuple):
    """How many parts, actions and bytes a checkpoint has."""

    parts: int
    actions: int
    size: int


def write_parts(
    snapshot: Snapshot, base: SparkBase, schema: pa.Schema, cutoff_ms: int, fill: Callable[[str], None]
) -> WrittenCheckpoint:
    """Write the checkpoint; `fill` writes the driver's own part to a path."""
    from pyspark_delta.write import parquet_configured  # noqa: PLC0415 - it imports this package

    local = snapshot.store.local_path(LOG)
    assert local is not None  # noqa: S101 - the caller checked it
    folder = Path(local)
    staging = folder / f".checkpoint_{uuid.uuid4().hex}"
    try:
        frame = _frame(snapshot, base, schema, cutoff_ms)
        writer = frame.write.option("compression", "snappy")
        writer = writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        with parquet_configured(base.spark, frame.schema):
            spark_jobs.run(base.spark, lambda: writer.parquet(f"file:{staging}"))
        fill(str(staging / "part-last.parquet"))
        files = sorted(staging.glob("part-*.parquet"))
        written = WrittenCheckpoint(
            len(files),
            sum(int(pq.read_metadata(file).num_rows) for file in files),
            sum(file.stat().st_size for file in files),
        )
        for part, file in enumerate(files, 1):
            file.replace(folder / checkpoint_part_name(snapshot.version, part, len(files)))
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return written


def _parsed_values(kind: str, target: Any) -> Column:
    from pyspark.sql import functions as sf  # noqa: PLC0415 - only where there is a session

    texts = sf.col(f"{kind}.partitionValues")
    return sf.struct(
        *(
            sf.when(texts[field.name] != "", texts[field.name]).try_cast(field.dataType).alias(field.name)
            for field in target.fields
        )
    )


def _frame(snapshot: Snapshot, base: SparkBase, schema: pa.Schema, cutoff_ms: int) -> DataFrame:
    """The part of the base that is still valid, in the checkpoint's columns."""
    from pyspark.sql import functions as sf  # noqa: PLC0415 - only where there is a session
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415

    wanted = from_arrow_schema(schema)
    frame = base.frame
    changed = snapshot.state.changed
    if changed:
        texts = pa.array([f"{path}\x00{vector or ''}" for path, vector in changed], pa.string())
        replaced = base.spark.createDataFrame(pa.table({"gone": texts}))
        frame = frame.join(sf.broadcast(replaced), keys_of_actions() == replaced["gone"], "left_anti")
    recent = sf.coalesce("remove.deletionTimestamp", sf.lit(0)) > cutoff_ms
    frame = frame.where(sf.col("add.path").isNotNull() | recent)

    def body(kind: str) -> Column:
        fields: list[Any] = []
        for field in wanted[kind].dataType.fields:
            if field.name == STATS:
                fields.append(sf.from_json(f"{kind}.stats", field.dataType).alias(STATS))
                continue
            if field.name == PARTITION_VALUES:
                fields.append(_parsed_values(kind, field.dataType).alias(PARTITION_VALUES))
                continue
            value = sf.col(f"{kind}.{field.name}")
            if field.name == "dataChange":  # no file of the state is new
                value = sf.lit(False)
            elif field.name == "partitionValues" and kind == "add":
                value = sf.coalesce(value, sf.create_map().cast(field.dataType))
            fields.append(value.cast(field.dataType).alias(field.name))
        return sf.when(sf.col(f"{kind}.path").isNotNull(), sf.struct(*fields)).alias(kind)

    columns = [
        body(field.name)
        if field.name in {"add", "remove"}
        else sf.lit(None).cast(field.dataType).alias(field.name)
        for field in wanted.fields
    ]
    return frame.select(*columns)
