"""Data files written anew without some of their rows, by Arrow: the rows that stay go over as they were stored.

Making Spark's rows of them, and columns of those again, costs several times as much. Only for files that Spark's writer
made of the columns that the table has, as their footers say, and if what comes out has the very same Parquet schema;
and only for as much as the driver does in seconds. For everything else the answer is None: it is a job for Spark.
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
from pyspark.sql.types import NullType, StructType

from pyspark_delta import statistics
from pyspark_delta.log.actions import Add
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import absolute_path, encode_path, hive_path
from pyspark_delta.schema import physical_name
from pyspark_delta.storage import refusals_named, storage_of
from pyspark_delta.write import CODEC_PROPERTY, STAGING_PREFIX, discard

__all__ = ["MOST_BYTES", "SIFTED_FROM", "sift_files"]

# Of all files together, as they lie on the disk; of one, which is in memory as a whole, as it is unpacked.
MOST_BYTES = 1 << 30
LARGEST_FILE = 128 << 20
THREADS = 4
# An update or a merge writes what it changes apart, and leaves files of two kinds: worth it from so many rows for one.
SIFTED_FROM = 4

# The name of a new file in the staging folder, and its statistics.
Made: TypeAlias = "tuple[str, statistics.FileStatistics]"

_CODECS = {"snappy", "gzip", "zstd"}
_ROW_METADATA = b"org.apache.spark.sql.parquet.row.metadata"
_LEGACY = b"org.apache.spark.legacy"


def sift_files(
    spark: SparkSession, snapshot: Snapshot, adds: Sequence[Add], gone: Sequence[BitMap64]
) -> list[Add] | None:
    """Write each file anew without the rows of these indexes, and give the actions that would add the new ones.

    As with `write_files`, they are in their places and known to nobody. None, and nothing written, where it can't be.
    """
    sieve = _Sieve.of(spark, snapshot)
    if sieve is None or sum(add.size for add in adds) > MOST_BYTES:
        return None
    root = snapshot.path
    storage = storage_of(root)
    staging = f"{root}/{STAGING_PREFIX}{uuid.uuid4().hex}"
    placed: list[Add] = []
    try:
        with refusals_named(f"data could not be written below {root}"):
            written = _all(lambda add, rows: sieve.sift(add, rows, staging), adds, gone)
            if written is None:
                return None
            for add, made in zip(adds, written, strict=True):
                placed.append(sieve.place(add, made, staging))
    except BaseException:
        discard(root, placed)
        raise
    finally:
        storage.remove_tree(staging)
    return placed


def _all(
    work: Callable[[Add, BitMap64], Made | None], adds: Sequence[Add], gone: Sequence[BitMap64]
) -> list[Made] | None:
    """What the work makes of each file; None, and no more of it is begun, once it makes nothing of one."""
    with ThreadPoolExecutor(max_workers=min(THREADS, os.cpu_count() or 1)) as pool:
        results = [pool.submit(work, add, rows) for add, rows in zip(adds, gone, strict=True)]
        try:
            found = list(itertools.takewhile(lambda made: made is not None, (r.result() for r in results)))
        finally:
            pool.shutdown(cancel_futures=True)
    whole = [made for made in found if made is not None]
    return whole if len(whole) == len(adds) else None


@dataclass(frozen=True, slots=True)
class _Sieve:
    """What of the table decides whether its files can be sifted, and how."""

    root: str
    types: Mapping[str, str]
    partition: tuple[str, ...]
    columns: tuple[statistics.Column, ...]
    codec: str

    @classmethod
    def of(cls, spark: SparkSession, snapshot: Snapshot) -> _Sieve | None:
        schema, properties = snapshot.schema, snapshot.metadata.configuration
        codec = properties.get(CODEC_PROPERTY) or spark.conf.get("spark.sql.parquet.compression.codec")
        if codec is None or codec.lower() not in _CODECS:
            return None
        partition = snapshot.metadata.partition_columns
        data = [f for f in schema.fields if f.name not in partition and not isinstance(f.dataType, NullType)]
        columns = statistics.indexed_columns(schema, partition, properties)
        keys = tuple(physical_name(schema[name]) for name in partition)
        types = {field.name: field.dataType.simpleString() for field in data}
        return cls(snapshot.path, types, keys, tuple(columns), codec.lower())

    def sift(self, add: Add, gone: BitMap64, staging: str) -> Made | None:
        """A file with the other rows, in the staging folder: its name and its statistics; None if it can't be."""
        found = self._read(absolute_path(add.path, self.root))
        if found is None:
            return None
        footer, rows = found
        kept = rows.filter(_stays(gone, len(rows)))
        name = f"part-{0:05d}-{uuid.uuid4()}.c000.{self.codec}.parquet"
        target = f"{staging}/{name}"
        with (
            storage_of(target).create(target) as file,
            pq.ParquetWriter(
                file,
                kept.schema,
                compression=self.codec,
                use_dictionary=_dictionaries(footer),
                store_decimal_as_integer=_has_integer_decimals(footer),
                store_schema=False,
                write_page_index=True,
            ) as writer,
        ):
            writer.write_table(kept, row_group_size=max(1, len(kept)))
            writer.add_key_value_metadata(footer.metadata)
        with storage_of(target).open(target) as opened:
            new = pq.read_metadata(opened)
        if _shape(new) != _shape(footer):
            return None
        return name, statistics.of_footer(new, self.columns, _without_nan(kept))

    def place(self, old: Add, made: Made, staging: str) -> Add:
        """Move a file to where it stays: beside the files with the same partition values."""
        name, facts = made
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
        """The footer and the rows of a file; None where they are for Spark to read, or to say why they can't be."""
        try:
            with storage_of(place).open(place) as opened:
                source = pq.ParquetFile(pa.BufferReader(opened.read()))
            if not self._is_known(source.metadata):
                return None
            return source.metadata, source.read(use_threads=False)
        except (OSError, ValueError, KeyError, pa.ArrowException):
            return None

    def _is_known(self, footer: Any) -> bool:
        """Whether Spark's writer made the file, of the table's columns, with nothing that only Spark understands."""
        told = footer.metadata or {}
        if _ROW_METADATA not in told or any(key.startswith(_LEGACY) for key in told):
            return False
        groups = (footer.row_group(number) for number in range(footer.num_row_groups))
        if sum(group.total_byte_size for group in groups) > LARGEST_FILE:
            return False
        if any(footer.schema.column(index).physical_type == "INT96" for index in range(footer.num_columns)):
            return False
        fields = StructType.fromJson(orjson.loads(told[_ROW_METADATA])).fields
        return self.types == {field.name: field.dataType.simpleString() for field in fields}


def _stays(gone: BitMap64, count: int) -> pa.Array:
    """Which of so many rows stay."""
    stays = np.ones(count, dtype=bool)
    stays[np.array(gone.to_array(), dtype=np.int64)] = False
    return pa.array(stays)


def _dictionaries(footer: Any) -> list[str]:
    """The columns that were worth a dictionary to the end: the others are spared the attempt."""
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


def _without_nan(rows: pa.Table) -> set[tuple[str, ...]]:
    """The columns of floating point numbers whose bounds are those of all values: Arrow leaves NaN out of account."""
    found: set[tuple[str, ...]] = set()
    columns: list[tuple[tuple[str, ...], Any]] = [((name,), rows.column(name)) for name in rows.column_names]
    while columns:
        path, values = columns.pop()
        if pa.types.is_struct(values.type):
            parts = zip(values.type, values.flatten(), strict=True)
            columns += [((*path, field.name), part) for field, part in parts]
        elif pa.types.is_floating(values.type) and not pc.any(pc.is_nan(values)).as_py():
            found.add(path)
    return found


def _shape(footer: Any) -> list[str]:
    """The Parquet schema as text, less the names of the object and of the root."""
    return str(footer.schema).splitlines()[2:]
