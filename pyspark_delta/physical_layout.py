"""Present a table's files as a frame in the table's schema.

Partition values come from the log, a missing column is null, and a projection undoes column mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    FloatType,
    LongType,
    MapType,
    StructField,
    StructType,
)

from pyspark_delta import file_index, sql_text
from pyspark_delta.fallback_scan import scan_by_path
from pyspark_delta.filter_pushdown import predicate_of_filters
from pyspark_delta.log.file_set import Files
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import internal, zone_for
from pyspark_delta.predicates import TRUE
from pyspark_delta.schema import MAPPING_ID, column_mapping_mode, physical_name, physical_schema
from pyspark_delta.schema_enforcement import as_nullable, restructured
from pyspark_delta.skipping.exact import Pruner
from pyspark_delta.storage import storage_of
from pyspark_delta.void_types import is_in_files

__all__ = ["FILE", "ROW", "Layout", "without_internals"]

FILE = "__pyspark_delta_file"
ROW = "__pyspark_delta_row"

OPTIONS = {
    "mergeSchema": "false",
    # The calendar recorded in a file counts; files without a record are not from old Spark versions.
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
    # The session may be set to ignore bad files, but a table must never silently lose rows.
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
}

_ROW_INDEX = "_tmp_metadata_row_index"


@dataclass(frozen=True, slots=True)
class Layout:
    """How the table's columns are stored in its files."""

    schema: StructType
    stored: StructType
    partition: StructType
    partition_names: tuple[str, ...]
    by_id: bool
    root: str

    @classmethod
    def of(cls, snapshot: Snapshot) -> Layout:
        """The layout of a table at a version."""
        mode = column_mapping_mode(snapshot.metadata.configuration)
        schema = as_nullable(without_internals(snapshot.schema))
        physical = snapshot.schema if mode == "none" else physical_schema(snapshot.schema)
        stored = _stored_type(physical, by_id=mode == "id")
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
        constants: Mapping[str, Sequence[int] | np.ndarray[Any, Any]] | None = None,
        *,
        with_row: bool = False,
        deleted_rows: file_index.DeletedRows | None = None,
    ) -> DataFrame:
        """These files in the table's schema, then one column for each of the constants, with a number for each file.

        With `with_row` also `__row`, the index of a row in its file. `deleted_rows` are left out; that needs a session
        with a JVM.
        """
        constants = constants or {}
        options = {**OPTIONS, "spark.sql.parquet.fieldId.read.enabled": "true"} if self.by_id else OPTIONS
        numbers = {name: np.asarray(values).tolist() for name, values in constants.items()}
        zone = zone_for(spark, (field.dataType for field in self.partition.fields))
        if not file_index.is_available(spark):
            frame = scan_by_path(
                spark,
                files,
                stored=self.stored,
                partition=self.partition,
                constants=numbers,
                row=ROW if with_row else None,
                options=options,
                zone=zone,
            )
            columns = self._projection() if self._renamed() else self._plain()
            return frame.selectExpr(*columns, *constants, *([ROW] if with_row else []))
        if deleted_rows is not None:
            numbers |= deleted_rows.constants()
        extra = [StructField(name, LongType()) for name in numbers]
        # Spark's reader numbers the rows in a column of this name. `_metadata` would give the same numbers, but make an
        # object of every one.
        rows = [StructField(_ROW_INDEX, LongType())] if with_row or deleted_rows is not None else []
        frame = file_index.frame(
            spark,
            self._list(files, list(numbers.values()), zone),
            root=storage_of(self.root).for_spark(self.root),
            partition_schema=StructType([*self.partition.fields, *extra]),
            schema=StructType([*self.stored.fields, *extra, *rows]),
            options=options,
            choose=self._chooser(files, zone),
        )
        if deleted_rows is not None:
            frame = frame.where(deleted_rows.kept(spark, _ROW_INDEX))
        columns = self._projection() if self._renamed() else self._plain() if rows else []
        if not columns:
            return frame
        return frame.selectExpr(*columns, *constants, *([f"{_ROW_INDEX} as {ROW}"] if with_row else []))

    def _plain(self) -> list[str]:
        return [sql_text.name(field.name) for field in self.schema.fields]

    def _list(self, files: Files, constants: Sequence[Sequence[int]], zone: str) -> file_index.FileList:
        table = files.arrow()
        texts = [files.partition_values(name).to_pylist() for name in self.partition_names]
        keys = list(zip(*texts, strict=True)) if texts else [()] * len(files)
        numbers = list(zip(*constants, strict=True)) if constants else [()] * len(files)
        values: list[tuple[str | None, ...]] = []
        groups: list[int] = []
        known: dict[tuple[str | None, ...], int] = {}
        parsed: dict[tuple[str | None, ...], tuple[str | None, ...]] = {}
        for key, file_number in zip(keys, numbers, strict=True):
            if key not in parsed:
                parsed[key] = tuple(
                    _internal_text(text, field.dataType, zone)
                    for text, field in zip(key, self.partition.fields, strict=True)
                )
            row = (*parsed[key], *map(str, file_number))
            group = known.get(row)
            if group is None:
                group = known[row] = len(values)
                values.append(row)
            groups.append(group)
        return file_index.FileList(
            [storage_of(path).for_spark(path) for path in files.paths()],
            table["size"].combine_chunks(),
            table["modificationTime"].combine_chunks(),
            groups,
            values,
        )

    def _chooser(self, files: Files, zone: str) -> Callable[[str], bytes | None] | None:
        """The function with which Spark's planner skips files by a query's filters; None if skipping can't help."""
        if len(files) < 2 or files.arrow()["stats"].null_count == len(files):
            return None

        def choose(filters: str) -> bytes:
            pruner = Pruner(self.stored, self.partition_names, zone)
            outcomes = pruner.classify(files, predicate_of_filters(filters, self.stored))
            return bytes(((outcomes & TRUE) != 0).astype(np.uint8).tobytes())

        return choose

    def _renamed(self) -> bool:
        return self.stored.names != self.schema.names or any(
            stored_field.dataType != table_field.dataType
            for stored_field, table_field in zip(self.stored.fields, self.schema.fields, strict=True)
        )

    def _projection(self) -> list[str]:
        columns = []
        known = iter(self.stored.fields)
        for field in self.schema.fields:
            if not is_in_files(field.dataType):
                null = f"cast(null as {sql_text.type_text(field.dataType)})"
                columns.append(f"{null} as {sql_text.name(field.name)}")
                continue
            source = next(known)
            value = restructured(sql_text.name(source.name), source.dataType, field.dataType)
            columns.append(f"{value} as {sql_text.name(field.name)}")
        return columns


def _internal_text(text: str | None, data_type: DataType, zone: str) -> str | None:
    value = internal(text, data_type, zone)
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(data_type, FloatType | DoubleType):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), repr(value))
    return value.decode() if isinstance(value, bytes) else str(value)


def _stored_type(data_type: DataType, *, by_id: bool) -> DataType:
    """The type to request from Parquet's reader: nothing void, field ids if columns go by id, everything nullable."""
    if isinstance(data_type, StructType):
        fields = []
        for field in data_type.fields:
            if not is_in_files(field.dataType):
                continue
            metadata = _public_metadata(field)
            number = (field.metadata or {}).get(MAPPING_ID)
            if by_id and number is not None:
                metadata["parquet.field.id"] = int(number)
            fields.append(StructField(field.name, _stored_type(field.dataType, by_id=by_id), True, metadata))
        return StructType(fields)
    if isinstance(data_type, ArrayType):
        return ArrayType(_stored_type(data_type.elementType, by_id=by_id), True)
    if isinstance(data_type, MapType):
        return MapType(
            _stored_type(data_type.keyType, by_id=by_id), _stored_type(data_type.valueType, by_id=by_id), True
        )
    return data_type


def without_internals(data_type: DataType) -> DataType:
    """The type without field metadata that only engines should see."""
    if isinstance(data_type, StructType):
        return StructType(
            [
                StructField(f.name, without_internals(f.dataType), f.nullable, _public_metadata(f))
                for f in data_type.fields
            ]
        )
    if isinstance(data_type, ArrayType):
        return ArrayType(without_internals(data_type.elementType), data_type.containsNull)
    if isinstance(data_type, MapType):
        return MapType(
            without_internals(data_type.keyType),
            without_internals(data_type.valueType),
            data_type.valueContainsNull,
        )
    return data_type


def _public_metadata(field: StructField) -> dict[str, Any]:
    """The metadata of a field that readers of the table should see. Spark itself would act on a default."""
    return {
        key: value
        for key, value in (field.metadata or {}).items()
        if not key.startswith("delta.") and key not in {"EXISTS_DEFAULT", "CURRENT_DEFAULT"}
    }
