"""Reads: the files of a snapshot as a data frame, through Spark's own Parquet reader.

Partition values come from the log, a missing column is null, rows of deletion vectors are taken out by an anti-join on
one packed number, column mapping is undone by a projection. `with_position` adds which file a row is from and which of
its rows it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    FloatType,
    LongType,
    MapType,
    NullType,
    StructField,
    StructType,
)

from pyspark_delta import deletion_vectors, file_index, sql_text
from pyspark_delta.enforcement import as_nullable, restructured
from pyspark_delta.exceptions import MissingDataFile
from pyspark_delta.log.actions import load
from pyspark_delta.log.files import Files
from pyspark_delta.log.names import LOG, commit_name
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import absolute_path, internal
from pyspark_delta.planned_filters import predicate_of_filters
from pyspark_delta.predicates import TRUE
from pyspark_delta.schema import MAPPING_ID, column_mapping_mode, physical_name, physical_schema
from pyspark_delta.skipping import Pruner

__all__ = ["FILE", "ROW", "ROW_BITS", "require_files", "scan"]

FILE = "__file"
ROW = "__row"
ROW_BITS = 40

OPTIONS = {
    "mergeSchema": "false",
    # What a file says of its calendar counts; files that say nothing are not from old Spark versions.
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
    # A session may be told to overlook files; a table without some of its rows is another table.
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
}

_CHECKED_FILES = 10_000
_DELETED = "__deleted"


def scan(
    spark: SparkSession,
    snapshot: Snapshot,
    files: Files | None = None,
    columns: Sequence[str] | None = None,
    with_position: bool = False,
) -> DataFrame:
    """The rows of these files (all of the snapshot unless said) in the schema of the snapshot.

    With positions, `__file` is the ordinal of a row's file among `files` and `__row` the index of the row in it.
    """
    files = snapshot.files() if files is None else files
    require_files(snapshot, files)
    layout = _Layout.of(snapshot)
    wanted = [sql_text.name(name) for name in (columns if columns is not None else snapshot.schema.names)]
    if not files.has_deletion_vectors():
        frame = layout.frame(spark, files, range(len(files)), with_position=with_position)
        if columns is None:
            return frame
        return frame.select(*wanted, FILE, ROW) if with_position else frame.select(*wanted)
    return _without_deleted(spark, snapshot, files, layout, wanted, with_position=with_position)


def require_files(snapshot: Snapshot, files: Files) -> None:
    """Tell of a file that is gone by its name and by the version that brought it, before a job fails half way.

    Only where that is cheap: on a local disk, and not for tables of very many files, where Spark tells of it.
    """
    if len(files) > _CHECKED_FILES:
        return
    for path in files.paths():
        if path.startswith("/") and not os.path.exists(path):  # noqa: PTH110 - of thousands of files
            raise missing(snapshot, path)


def missing(snapshot: Snapshot, path: str) -> MissingDataFile:
    """The error for a file that is not there."""
    version = _added_by(snapshot, path)
    since = f"by version {version}" if version is not None else "by a version whose commit is no longer there"
    return MissingDataFile(f"the data file {path}, added {since} of the table {snapshot.path}, is not there")


def _added_by(snapshot: Snapshot, path: str) -> int | None:
    """The newest version up to the snapshot's whose commit adds this file."""
    for version in range(snapshot.version, -1, -1):
        try:
            commit = snapshot.store.read(f"{LOG}/{commit_name(version)}")
        except FileNotFoundError:
            return None
        for line in commit.splitlines():
            add = (load(line) or {}).get("add") if b'"add"' in line else None
            if add and absolute_path(add["path"], snapshot.path) == path:
                return version
    return None


def _without_deleted(
    spark: SparkSession,
    snapshot: Snapshot,
    files: Files,
    layout: _Layout,
    wanted: Sequence[str],
    *,
    with_position: bool,
) -> DataFrame:
    marked = np.asarray(files.arrow()["deletionVector"].is_valid())
    positions = (FILE, ROW) if with_position else ()
    ordinals = np.flatnonzero(marked)
    vectors = files.take(ordinals)
    deleted = spark.createDataFrame(_deleted_rows(snapshot, vectors, ordinals))
    rows = layout.frame(spark, vectors, ordinals, with_position=True)
    key = F.expr(f"shiftleft({FILE}, {ROW_BITS}) | {ROW}")
    kept = rows.join(F.broadcast(deleted), key == deleted[_DELETED], "left_anti").select(*wanted, *positions)
    if marked.all():
        return kept
    others = np.flatnonzero(~marked)
    untouched = layout.frame(spark, files.take(others), others, with_position=with_position)
    return untouched.select(*wanted, *positions).unionAll(kept)


def _deleted_rows(
    snapshot: Snapshot, files: Files, ordinals: Sequence[int] | np.ndarray[Any, Any]
) -> pa.Table:
    """All deleted rows as packed numbers: the file's ordinal above the row's index."""

    def packed(pair: tuple[int, Any]) -> np.ndarray[Any, Any]:
        ordinal, add = pair
        bitmap = deletion_vectors.read(add.deletion_vector, snapshot.path, snapshot.store)
        rows = np.array(bitmap.to_array(), dtype=np.int64)
        return rows | (int(ordinal) << ROW_BITS)

    pairs = list(zip(ordinals, files.adds(), strict=True))
    if len(pairs) < 8:
        parts = [packed(pair) for pair in pairs]
    else:
        with ThreadPoolExecutor(max_workers=8) as pool:
            parts = list(pool.map(packed, pairs))
    return pa.table({_DELETED: pa.array(np.concatenate(parts))})


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the table's columns lie in its files."""

    schema: StructType
    stored: StructType
    partition: StructType
    partition_names: tuple[str, ...]
    by_id: bool
    root: str

    @classmethod
    def of(cls, snapshot: Snapshot) -> _Layout:
        mode = column_mapping_mode(snapshot.metadata.configuration)
        schema = as_nullable(_without_internals(snapshot.schema))
        physical = snapshot.schema if mode == "none" else physical_schema(snapshot.schema)
        stored = _stored(physical, by_id=mode == "id")
        assert isinstance(schema, StructType)  # noqa: S101 - a struct stays one
        assert isinstance(stored, StructType)  # noqa: S101
        keys = [
            next(f for f in snapshot.schema.fields if f.name == name)
            for name in snapshot.metadata.partition_columns
        ]
        names = tuple(field.name if mode == "none" else physical_name(field) for field in keys)
        partition = StructType([stored[name] for name in names])
        return cls(schema, stored, partition, names, mode == "id", snapshot.path)

    def frame(
        self,
        spark: SparkSession,
        files: Files,
        ordinals: Sequence[int] | np.ndarray[Any, Any],
        *,
        with_position: bool,
    ) -> DataFrame:
        """These files in the table's schema; `ordinals` are what `__file` calls them."""
        options = {**OPTIONS, "spark.sql.parquet.fieldId.read.enabled": "true"} if self.by_id else OPTIONS
        partition = self.partition
        if with_position:
            partition = StructType([*partition.fields, StructField(FILE, LongType())])
        frame = file_index.frame(
            spark,
            self._list(files, ordinals, with_position=with_position),
            root=self.root,
            partition_schema=partition,
            schema=self.stored,
            options=options,
            choose=self._chooser(files),
        )
        if self._renamed():
            columns = self._projection()
            if with_position:
                row = frame.metadataColumn("_metadata").getField("row_index").alias(ROW)
                return frame.select(*[F.expr(column) for column in columns], FILE, row)
            return frame.selectExpr(*columns)
        if with_position:
            return frame.select("*", frame.metadataColumn("_metadata").getField("row_index").alias(ROW))
        return frame

    def _list(
        self, files: Files, ordinals: Sequence[int] | np.ndarray[Any, Any], *, with_position: bool
    ) -> file_index.FileList:
        table = files.arrow()
        texts = [files.partition_values(name).to_pylist() for name in self.partition_names]
        keys = list(zip(*texts, strict=True)) if texts else [()] * len(files)
        values: list[tuple[str | None, ...]] = []
        groups: list[int] = []
        known: dict[tuple[str | None, ...], int] = {}
        parsed: dict[tuple[str | None, ...], tuple[str | None, ...]] = {}
        for ordinal, key in zip(ordinals, keys, strict=True):
            if key not in parsed:
                parsed[key] = tuple(
                    _internal_text(text, field.dataType)
                    for text, field in zip(key, self.partition.fields, strict=True)
                )
            row = (*parsed[key], str(ordinal)) if with_position else parsed[key]
            group = known.get(row)
            if group is None:
                group = known[row] = len(values)
                values.append(row)
            groups.append(group)
        return file_index.FileList(
            [path if not path.startswith("/") else f"file:{path}" for path in files.paths()],
            table["size"].combine_chunks(),
            table["modificationTime"].combine_chunks(),
            groups,
            values,
        )

    def _chooser(self, files: Files) -> Callable[[str], bytes | None] | None:
        """What tells Spark's planner which files can have rows for a query's filters; nothing where that can't help."""
        if len(files) < 2 or files.arrow()["stats"].null_count == len(files):
            return None

        def choose(filters: str) -> bytes:
            pruner = Pruner(self.stored, self.partition_names)
            outcomes = pruner.classify(files, predicate_of_filters(filters, self.stored))
            return ((outcomes & TRUE) != 0).astype(np.uint8).tobytes()

        return choose

    def _renamed(self) -> bool:
        return self.stored.names != self.schema.names or any(
            mine.dataType != theirs.dataType
            for mine, theirs in zip(self.stored.fields, self.schema.fields, strict=True)
        )

    def _projection(self) -> list[str]:
        columns = []
        known = iter(self.stored.fields)
        for field in self.schema.fields:
            if isinstance(field.dataType, NullType):
                columns.append(f"null as {sql_text.name(field.name)}")
                continue
            source = next(known)
            value = restructured(sql_text.name(source.name), source.dataType, field.dataType)
            columns.append(f"{value} as {sql_text.name(field.name)}")
        return columns


def _internal_text(text: str | None, data_type: DataType) -> str | None:
    value = internal(text, data_type)
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(data_type, FloatType | DoubleType):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), repr(value))
    return value.decode() if isinstance(value, bytes) else str(value)


def _stored(data_type: DataType, *, by_id: bool) -> DataType:
    """The type to ask Parquet's reader for: nothing void, ids where columns go by ids, null everywhere."""
    if isinstance(data_type, StructType):
        fields = []
        for field in data_type.fields:
            if isinstance(field.dataType, NullType):
                continue
            metadata = _public(field)
            number = (field.metadata or {}).get(MAPPING_ID)
            if by_id and number is not None:
                metadata["parquet.field.id"] = int(number)
            fields.append(StructField(field.name, _stored(field.dataType, by_id=by_id), True, metadata))
        return StructType(fields)
    if isinstance(data_type, ArrayType):
        return ArrayType(_stored(data_type.elementType, by_id=by_id), True)
    if isinstance(data_type, MapType):
        return MapType(
            _stored(data_type.keyType, by_id=by_id), _stored(data_type.valueType, by_id=by_id), True
        )
    return data_type


def _without_internals(data_type: DataType) -> DataType:
    if isinstance(data_type, StructType):
        return StructType(
            [
                StructField(f.name, _without_internals(f.dataType), f.nullable, _public(f))
                for f in data_type.fields
            ]
        )
    if isinstance(data_type, ArrayType):
        return ArrayType(_without_internals(data_type.elementType), data_type.containsNull)
    if isinstance(data_type, MapType):
        return MapType(
            _without_internals(data_type.keyType),
            _without_internals(data_type.valueType),
            data_type.valueContainsNull,
        )
    return data_type


def _public(field: StructField) -> dict[str, Any]:
    """What of a field's metadata is for those who read the table; Spark itself would act on a default."""
    return {
        key: value
        for key, value in (field.metadata or {}).items()
        if not key.startswith("delta.") and key not in {"EXISTS_DEFAULT", "CURRENT_DEFAULT"}
    }
