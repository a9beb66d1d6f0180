"""Rewrite data files without some of their rows, by Arrow and on the driver.

Arrow copies the rows that stay as they are stored. That is several times faster than Spark, which decodes every row.
Only files that Spark's writer made of the table's current columns qualify, and the copy must have the same Parquet
schema. `MOST_BYTES` limits how much the driver copies. In all other cases the result is None and Spark must do the
work.
"""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyroaring import BitMap64
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from pyspark_delta import statistics
from pyspark_delta.log.actions import Add
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import absolute_path, encode_path, hive_path
from pyspark_delta.schema import physical_name
from pyspark_delta.storage import storage_failures, storage_of
from pyspark_delta.void_types import is_in_files, without_void_fields
from pyspark_delta.write import CODEC_PROPERTY, STAGING_PREFIX, discard

__all__ = ["LIVE_ROWS_PER_CHANGE", "MOST_BYTES", "rewrite_by_arrow"]

# The first limits all files together, as stored. The second limits one file, unpacked, because it is held in memory.
MOST_BYTES = 1 << 30
LARGEST_FILE = 128 << 20
THREADS = 4
# An update or merge then writes changed rows to extra files. That is worth it from this many live rows for a change.
LIVE_ROWS_PER_CHANGE = 4

# The name of a new file in the staging folder, and its statistics.
NewFile: TypeAlias = "tuple[str, statistics.FileStatistics]"

_CODECS = {"snappy", "gzip", "zstd"}
_ROW_METADATA = b"org.apache.spark.sql.parquet.row.metadata"
_LEGACY = b"org.apache.spark.legacy"


def rewrite_by_arrow(
    spark: SparkSession, snapshot: Snapshot, adds: Sequence[Add], deleted: Sequence[BitMap64]
) -> list[Add] | None:
    """Write each file anew without the rows at the given indexes, and return the actions that add the new files.

    The new files are in their final places, but no commit names them yet. If a file can't be rewritten this way, this
    returns None and leaves nothing behind.
    """
    rewriter = _ArrowRewriter.of(spark, snapshot)
    if rewriter is None or sum(add.size for add in adds) > MOST_BYTES:
        return None
    root = snapshot.path
    storage = storage_of(root)
    staging = f"{root}/{STAGING_PREFIX}{uuid.uuid4().hex}"
    placed: list[Add] = []
    try:
        with storage_failures(f"data could not be written below {root}"):
            written = _rewrite_all(
                lambda add, rows: rewriter.rewrite_without(add, rows, staging), adds, deleted
            )
            if written is None:
                return None
            for add, new_file in zip(adds, written, strict=True):
                placed.append(rewriter.place(add, new_file, staging))
    except BaseException:
        discard(root, placed)
        raise
    finally:
        storage.remove_tree(staging)
    return placed


def _rewrite_all(
    work: Callable[[Add, BitMap64], NewFile | None], adds: Sequence[Add], deleted: Sequence[BitMap64]
) -> list[NewFile] | None:
    """Run the work on all files in threads; None, without beginning further files, once it returns None for one."""
    with ThreadPoolExecutor(max_workers=min(THREADS, os.cpu_count() or 1)) as pool:
        results = [pool.submit(work, add, rows) for add, rows in zip(adds, deleted, strict=True)]
        try:
            new_files = list(
                itertools.takewhile(lambda new_file: new_file is not None, (r.result() for r in results))
            )
        finally:
            pool.shutdown(cancel_futures=True)
    complete = [new_file for new_file in new_files if new_file is not None]
    return complete if len(complete) == len(adds) else None


@dataclass(frozen=True, slots=True)
class _ArrowRewriter:
    """The facts about a table that decide whether and how its files can be rewritten."""

    root: str
    types: Mapping[str, str]
    partition: tuple[str, ...]
    columns: tuple[statistics.Column, ...]
    codec: str

    @classmethod
    def of(cls, spark: SparkSession, snapshot: Snapshot) -> _ArrowRewriter | None:
        schema, properties = snapshot.schema, snapshot.metadata.configuration
        codec = properties.get(CODEC_PROPERTY) or spark.conf.get("spark.sql.parquet.compression.codec")
        if codec is None or codec.lower() not in _CODECS:
            return None
        partition = snapshot.metadata.partition_columns
        data = [f for f in schema.fields if f.name not in partition and is_in_files(f.dataType)]
        columns = statistics.indexed_columns(schema, partition, properties)
        keys = tuple(physical_name(schema[name]) for name in partition)
        types = {field.name: without_void_fields(field.dataType).simpleString() for field in data}
        return cls(snapshot.path, types, keys, tuple(columns), codec.lower())

    def rewrite_without(self, add: Add, deleted: BitMap64, staging: str) -> NewFile | None:
        """Write the remaining rows into the staging folder; the file's name and statistics, None if not possible."""
        content = self._read(absolute_path(add.path, self.root))
        if content is None:
            return None
        footer, rows = content
        kept = rows.filter(_kept_rows(deleted, len(rows)))
        name = f"part-{0:05d}-{uuid.uuid4()}.c000.{self.codec}.parquet"
        target = f"{staging}/{name}"
        with (
            storage_of(target).create(target) as file,
            pq.ParquetWriter(
                file,
                kept.schema,
                compression=self.codec,
                use_dictionary=_dictionary_columns(footer),
                store_decimal_as_integer=_has_integer_decimals(footer),
                store_schema=False,
                write_page_index=True,
            ) as writer,
        ):
            writer.write_table(kept, row_group_size=max(1, len(kept)))
            writer.add_key_value_metadata(footer.metadata)
        with storage_of(target).open(target) as opened:
            new = pq.read_metadata(opened)
        if _schema_text(new) != _schema_text(footer):
            return None
        return name, statistics.of_footer(new, self.columns, _columns_without_nan(kept))

    def place(self, old: Add, new_file: NewFile, staging: str) -> Add:
        """Move a new file to its final place, in the folder of its partition."""
        name, facts = new_file
        values = {key: old.partition_values.get(key) for key in self.partition}
        folder = hive_path(values)
        relative = f"{folder}/{name}" if folder else name
        target = f"{self.root}/{relative}"
        storage = storage_of(self.root)
        storage.move(f"{staging}/{name}", target)
        state = storage.entry(target)
        return Add(
            path=encode_path(relative),
            partition_values=values,
            size=state.size,
            modification_time=state.mtime_ms,
            data_change=True,
            stats=facts.text,
        )

    def _read(self, place: str) -> tuple[Any, pa.Table] | None:
        """The footer and the rows of a file; None if only Spark can read them, or if Spark must report why it can't."""
        try:
            with storage_of(place).open(place) as opened:
                source = pq.ParquetFile(pa.BufferReader(opened.read()))
            if not self._is_known(source.metadata):
                return None
            return source.metadata, source.read(use_threads=False)
        except (OSError, ValueError, KeyError, pa.ArrowException):
            return None

    def _is_known(self, footer: Any) -> bool:
        """Whether Spark's writer made the file with the table's columns, and nothing in it needs Spark to read it."""
        metadata = footer.metadata or {}
        if _ROW_METADATA not in metadata or any(key.startswith(_LEGACY) for key in metadata):
            return False
        groups = (footer.row_group(number) for number in range(footer.num_row_groups))
        if sum(group.total_byte_size for group in groups) > LARGEST_FILE:
            return False
        if any(footer.schema.column(index).physical_type == "INT96" for index in range(footer.num_columns)):
            return False
        fields = StructType.fromJson(orjson.loads(metadata[_ROW_METADATA])).fields
        return self.types == {field.name: field.dataType.simpleString() for field in fields}


def _kept_rows(deleted: BitMap64, count: int) -> pa.Array:
    """A mask of `count` rows that is false for the deleted ones."""
    kept = np.ones(count, dtype=bool)
    kept[np.array(deleted.to_array(), dtype=np.int64)] = False
    return pa.array(kept)


def _dictionary_columns(footer: Any) -> list[str]:
    """The columns that Spark's writer stored with a dictionary throughout. The others are not worth the attempt."""
    if not footer.num_row_groups:
        return []
    group = footer.row_group(0)
    chunks = [group.column(index) for index in range(group.num_columns)]
    return [
        chunk.path_in_schema
        for chunk in chunks
        if "PLAIN" not in chunk.encodings and any("DICTIONARY" in encoding for encoding in chunk.encodings)
    ]


def _has_integer_decimals(footer: Any) -> bool:
    columns = [footer.schema.column(index) for index in range(footer.num_columns)]
    return any(
        column.physical_type in {"INT32", "INT64"} and column.logical_type.type == "DECIMAL"
        for column in columns
    )


def _columns_without_nan(rows: pa.Table) -> set[tuple[str, ...]]:
    """The floating point columns without NaN. Arrow ignores NaN in its bounds, so only theirs cover all values."""
    paths: set[tuple[str, ...]] = set()
    columns: list[tuple[tuple[str, ...], Any]] = [((name,), rows.column(name)) for name in rows.column_names]
    while columns:
        path, values = columns.pop()
        if pa.types.is_struct(values.type):
            parts = zip(values.type, values.flatten(), strict=True)
            columns += [((*path, field.name), part) for field, part in parts]
        elif pa.types.is_floating(values.type) and not pc.any(pc.is_nan(values)).as_py():
            paths.add(path)
    return paths


def _schema_text(footer: Any) -> list[str]:
    """The Parquet schema as text, without the names of the object and the root."""
    return str(footer.schema).splitlines()[2:]
