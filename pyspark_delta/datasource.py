"""A Spark data source in Python, for code that needs `format(...)`.

    from pyspark_delta.datasource import register

    register(spark)
    spark.read.format("pyspark_delta").load("/data/events")
    frame.write.format("pyspark_delta").mode("append").save("/data/events")

For large tables it is several times slower than `read` and `write`. Rows pass through Arrow in Python workers instead
of Spark's own Parquet reader and writer. Every column is read, and no file is skipped. Options: `versionAsOf`,
`timestampAsOf`. Writes append to or overwrite an existing table, and take columns of the table's own types.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from pyspark_delta import deletion_vectors, statistics
from pyspark_delta import schema as schemas
from pyspark_delta.constraints import checks_of
from pyspark_delta.exceptions import InvalidArgument, SchemaMismatch
from pyspark_delta.log.actions import Action, Add
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.log.store import open_store
from pyspark_delta.partition_values import (
    absolute_path,
    arrow_type,
    encode_path,
    hive_path,
    parse_column,
    serialize,
)
from pyspark_delta.physical_layout import without_internals
from pyspark_delta.schema_enforcement import as_nullable, differences, same_type
from pyspark_delta.storage import Registered, register_again, registered, storage_of
from pyspark_delta.void_types import is_in_files, refuse_void, without_void_fields

__all__ = ["PysparkDeltaSource", "register"]

_ROWS = 64 * 1024


def register(spark: SparkSession) -> None:
    """Register the format with a session, together with the registered storages."""
    # Spark uses the class in other Python processes. They know only what is pickled with it.
    known = type(PysparkDeltaSource.__name__, (PysparkDeltaSource,), {"storages": registered()})
    spark.dataSource.register(known)


class PysparkDeltaSource(DataSource):  # type: ignore[misc]
    """The data source behind `format("pyspark_delta")`."""

    storages: ClassVar[Registered] = {}

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        if "path" not in options:
            raise InvalidArgument("no path is given", "Give it to load() or save().")

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "pyspark_delta"

    def schema(self) -> StructType:
        """The table's columns."""
        return _public_schema(self._snapshot())

    def reader(self, schema: StructType) -> _Reader:  # noqa: ARG002 - it is the table's
        """Return the reader of `spark.read`."""
        snapshot = self._snapshot()
        snapshot.check_readable()
        if snapshot.column_mapping == "id":
            raise InvalidArgument("this source does not read columns by their ids", "Use pyspark_delta.read.")
        files = tuple(snapshot.files().adds())
        return _Reader(snapshot.path, snapshot.schema, snapshot.partition_columns, files, registered())

    def writer(self, schema: StructType, overwrite: bool) -> _Writer:
        """Return the writer of `df.write`; SchemaMismatch if the frame's columns do not have the table's types."""
        snapshot = self._snapshot()
        snapshot.check_writable()
        configuration = dict(snapshot.properties)
        mismatches = differences(snapshot.schema, schema)
        for field in schema.fields:
            known = schemas.find(snapshot.schema, field.name)
            if known is not None and not same_type(known.dataType, field.dataType):
                mismatches.append(
                    f"{field.name} is {field.dataType.simpleString()}, which this source does not cast"
                )
        if mismatches:
            raise SchemaMismatch("the data does not fit the schema of the table:", differences=mismatches)
        refuse_void(snapshot.schema, snapshot.partition_columns)
        if checks_of(snapshot.schema, configuration):
            raise InvalidArgument(
                "the table has constraints, which this source can't check", "Write with pyspark_delta.write."
            )
        return _Writer(
            snapshot.path,
            schema,
            snapshot.schema,
            snapshot.partition_columns,
            configuration,
            overwrite,
            registered(),
        )

    def _snapshot(self) -> Snapshot:
        register_again(self.storages)
        version = self.options.get("versionAsOf")
        log = DeltaLog.for_path(self.options["path"])
        return log.snapshot(None if version is None else int(version), self.options.get("timestampAsOf"))


@dataclass(frozen=True)
class _File(InputPartition):  # type: ignore[misc]
    add: Add


@dataclass(frozen=True)
class _Reader(DataSourceReader):  # type: ignore[misc]
    path: str
    schema: StructType
    partition_columns: tuple[str, ...]
    files: tuple[Add, ...]
    storages: Registered

    def partitions(self) -> Sequence[InputPartition]:
        """One partition for each file."""
        return [_File(add) for add in self.files]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a file without the deleted ones."""
        assert isinstance(partition, _File)  # noqa: S101 - made above
        register_again(self.storages)
        add = partition.add
        wanted = to_arrow_schema(as_nullable(without_internals(self.schema)))
        stored = {schemas.physical_name(field): field for field in self.schema.fields}
        keys = {name for name, field in stored.items() if field.name in self.partition_columns}
        deleted = np.array([], dtype=np.int64)
        if add.deletion_vector is not None:
            bitmap = deletion_vectors.read(add.deletion_vector, self.path, open_store(self.path))
            deleted = np.array(bitmap.to_array(), dtype=np.int64)
        first = 0
        place = absolute_path(add.path, self.path)
        with storage_of(place).open(place) as opened:
            file = pq.ParquetFile(opened, coerce_int96_timestamp_unit="us")
            names = [name for name in file.schema_arrow.names if name in stored and name not in keys]
            for batch in file.iter_batches(_ROWS, columns=names):
                deleted_here = deleted[(deleted >= first) & (deleted < first + len(batch))] - first
                first += len(batch)
                kept = batch
                if len(deleted_here):
                    mask = np.ones(len(batch), dtype=bool)
                    mask[deleted_here] = False
                    kept = batch.filter(pa.array(mask))
                yield self._complete(kept, add, wanted, keys)

    def _complete(self, batch: pa.RecordBatch, add: Add, wanted: pa.Schema, keys: set[str]) -> pa.RecordBatch:
        columns = []
        for field, target in zip(self.schema.fields, wanted, strict=True):
            physical = schemas.physical_name(field)
            if physical in keys:
                text = pa.array([add.partition_values.get(physical)], pa.string())
                value = parse_column(text, field.dataType)[0]
                column = pa.repeat(value, len(batch)).cast(target.type)
            elif physical in batch.schema.names:
                column = _cast_column(batch.column(physical), field.dataType, target.type)
            else:
                column = pa.nulls(len(batch), target.type)
            columns.append(column)
        return pa.RecordBatch.from_arrays(columns, schema=wanted)


class _NewFile(NamedTuple):
    name: str
    stream: IO[bytes]
    writer: pq.ParquetWriter


@dataclass(frozen=True)
class _TaskFiles(WriterCommitMessage):  # type: ignore[misc]
    adds: tuple[Add, ...]


@dataclass(frozen=True)
class _Writer(DataSourceArrowWriter):  # type: ignore[misc]
    path: str
    data: StructType
    schema: StructType
    partition_columns: tuple[str, ...]
    configuration: dict[str, str]
    overwrite: bool
    storages: Registered

    def write(self, iterator: Iterator[pa.RecordBatch]) -> _TaskFiles:
        """Write the rows of a task, one file for each of their partitions."""
        register_again(self.storages)
        open_files: dict[tuple[str | None, ...], _NewFile] = {}
        keys = [self.schema[name] for name in self.partition_columns]
        stored = (field for field in self.schema.fields if is_in_files(field.dataType))
        kept = [
            StructField(field.name, without_void_fields(field.dataType), True)
            for field in stored
            if field.name not in self.partition_columns
        ]
        target = to_arrow_schema(StructType(kept))
        try:
            for batch in iterator:
                by_name = {name.lower(): index for index, name in enumerate(batch.schema.names)}
                for values, rows in _split_by_partition(
                    pa.table(batch), [(by_name[k.name.lower()], k) for k in keys]
                ):
                    if values not in open_files:
                        open_files[values] = self._new_file(values, target)
                    columns = [
                        _cast_column(
                            rows.column(by_name[f.name.lower()]).combine_chunks(), f.dataType, t.type
                        )
                        if f.name.lower() in by_name
                        else pa.nulls(len(rows), t.type)
                        for f, t in zip(kept, target, strict=True)
                    ]
                    open_files[values].writer.write_table(pa.table(columns, schema=target))
        finally:
            for file in open_files.values():
                file.writer.close()
                file.stream.close()
        indexed = statistics.indexed_columns(self.schema, self.partition_columns, self.configuration)
        return _TaskFiles(tuple(self._add(values, file.name, indexed) for values, file in open_files.items()))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Commit the files of all tasks as one version."""
        register_again(self.storages)
        adds = [add for message in messages if isinstance(message, _TaskFiles) for add in message.adds]
        transaction = DeltaLog.for_path(self.path).begin()
        actions: list[Action] = []
        if self.overwrite:
            transaction.read_whole_table()
            now = time.time_ns() // 1_000_000
            actions += [add.remove(now) for add in transaction.snapshot.files().adds()]
        mode = "Overwrite" if self.overwrite else "Append"
        metrics = {"numFiles": len(adds), "numOutputBytes": sum(add.size for add in adds)}
        transaction.commit(
            [*actions, *adds], "WRITE", {"mode": mode}, metrics, blind_append=not self.overwrite
        )

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Delete the files of the tasks that succeeded."""
        register_again(self.storages)
        for message in messages:
            for add in message.adds if isinstance(message, _TaskFiles) else ():
                with suppress(FileNotFoundError):
                    storage_of(self.path).remove(absolute_path(add.path, self.path))

    def _new_file(self, values: tuple[str | None, ...], target: pa.Schema) -> _NewFile:
        folder = hive_path(dict(zip(self.partition_columns, values, strict=True)))
        name = f"{folder}/part-{uuid.uuid4()}.snappy.parquet".lstrip("/")
        stream = storage_of(self.path).create(f"{self.path}/{name}")
        return _NewFile(
            name, stream, pq.ParquetWriter(stream, target, compression="snappy", coerce_timestamps="us")
        )

    def _add(self, values: tuple[str | None, ...], name: str, indexed: list[statistics.Column]) -> Add:
        place = f"{self.path}/{name}"
        state = storage_of(place).entry(place)
        return Add(
            path=encode_path(name),
            partition_values=dict(zip(self.partition_columns, values, strict=True)),
            size=state.size,
            modification_time=state.mtime_ms,
            stats=statistics.of_file(place, indexed).text,
        )


def _public_schema(snapshot: Snapshot) -> StructType:
    schema = as_nullable(without_internals(snapshot.schema))
    assert isinstance(schema, StructType)  # noqa: S101 - a struct stays one
    return schema


def _split_by_partition(
    table: pa.Table, keys: Sequence[tuple[int, StructField]]
) -> Iterator[tuple[tuple[str | None, ...], pa.Table]]:
    """The rows grouped by the texts of their partition values."""
    if not keys:
        if len(table):
            yield (), table
        return
    texts = []
    for index, field in keys:
        encoded = table.column(index).combine_chunks().cast(arrow_type(field.dataType)).dictionary_encode()
        names = [serialize(value, field.dataType) for value in encoded.dictionary.to_pylist()]
        texts.append(pa.array(names, pa.string()).take(encoded.indices).to_pylist())
    groups: dict[tuple[str | None, ...], list[int]] = {}
    for row, values in enumerate(zip(*texts, strict=True)):
        groups.setdefault(values, []).append(row)
    for values, rows in groups.items():
        yield values, table.take(rows)


def _cast_column(column: pa.Array, data_type: Any, target: pa.DataType) -> pa.Array:
    """A column of a file cast to the table's type; fields go by their names in files, missing ones are null."""
    if isinstance(data_type, StructType):
        parts = dict(zip([field.name for field in column.type], column.flatten(), strict=True))
        children = [
            _cast_column(parts[name], field.dataType, inner.type)
            if (name := schemas.physical_name(field)) in parts
            else pa.nulls(len(column), inner.type)
            for field, inner in zip(data_type.fields, target, strict=True)
        ]
        return pa.StructArray.from_arrays(children, fields=list(target), mask=pc.is_null(column))
    if pa.types.is_list(target) and pa.types.is_list(column.type) and column.offset == 0:
        values = _cast_column(column.values, data_type.elementType, target.value_type)
        return pa.ListArray.from_arrays(column.offsets, values, type=target, mask=pc.is_null(column))
    return column.cast(target)
