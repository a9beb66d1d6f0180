"""CONVERT TO DELTA: turn a folder of Parquet files into a table by adding a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from pyspark_delta import features, statistics
from pyspark_delta.commands.assignments import parse_name
from pyspark_delta.commands.command_context import USER_METADATA, total
from pyspark_delta.commands.conditions import read_conf
from pyspark_delta.dataframe_api import new_metadata
from pyspark_delta.exceptions import DeltaAnalysisError, InvalidArgument, SchemaMismatch
from pyspark_delta.log.actions import Add, dump
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.partition_values import HIVE_NULL, encode_path, internal
from pyspark_delta.schema import find
from pyspark_delta.schema_enforcement import as_nullable
from pyspark_delta.storage import Storage, storage_of
from pyspark_delta.void_types import void_places

__all__ = ["convert_to_delta"]


@dataclass(frozen=True, slots=True)
class _ParquetFile:
    """A data file: its path relative to the folder, and the partition values in its folders' names."""

    name: str
    size: int
    mtime_ms: int
    partition: tuple[tuple[str, str | None], ...]


def convert_to_delta(
    spark: SparkSession, identifier: str, partition_schema: str | StructType | None = None
) -> DeltaLog:
    """Write version 0 of a log beside the files and return the log; a Delta table stays as it is."""
    path = _path(identifier)
    log = DeltaLog.for_path(path, spark)
    if log.exists():
        return log
    partition = _partition_schema(spark, partition_schema)
    storage = storage_of(log.path)
    files = list(_files(storage, log.path))
    if not files:
        raise DeltaAnalysisError(f"there is no Parquet file below {path}", "Check the path.")
    _refuse_other_partitioning(files, partition, path)
    data = spark.read.option("mergeSchema", "true").parquet(
        *(storage.for_spark(f"{log.path}/{file.name}") for file in files)
    )
    _refuse_void(data.schema, path)
    fields = [field for field in data.schema.fields if find(partition, field.name) is None]
    schema = as_nullable(StructType([*fields, *partition.fields]))
    metadata = new_metadata(schema, partition.names)
    transaction = log.begin()
    transaction.new_table(metadata, features.protocol_for(metadata))
    columns = statistics.indexed_columns(schema, partition.names, metadata.configuration)
    all_statistics = statistics.of_files([f"{log.path}/{file.name}" for file in files], columns, spark)
    adds = [
        Add(
            path=encode_path(file.name),
            partition_values=_values(file, partition),
            size=file.size,
            modification_time=file.mtime_ms,
            data_change=True,
            stats=facts.text,
        )
        for file, facts in zip(files, all_statistics, strict=True)
    ]
    transaction.commit(
        adds,
        "CONVERT",
        {
            "numFiles": str(len(adds)),
            "partitionedBy": dump(partition.names).decode(),
            "collectStats": "true",
            "sourceFormat": "parquet",
        },
        {"numConvertedFiles": len(adds), "sizeOfConvertedFiles": total(adds)},
        user_metadata=read_conf(spark, USER_METADATA),
    )
    return log


def _refuse_void(schema: StructType, path: str) -> None:
    if places := void_places(schema):
        raise DeltaAnalysisError(
            f"the files below {path} have columns of type void, which no file of a table may: {', '.join(places)}",
            "Write the files again without these columns, or with a type for them.",
        )


def _path(identifier: str) -> str:
    parts = parse_name(identifier) if "`" in identifier or not identifier.startswith("/") else (identifier,)
    if len(parts) == 2 and parts[0].lower() == "parquet":
        return parts[1]
    if len(parts) == 2 and parts[0].lower() == "delta":
        return parts[1]
    raise InvalidArgument(f"{identifier} names no folder of Parquet files", "Write it as parquet.`/path`.")


def _partition_schema(spark: SparkSession, declared: str | StructType | None) -> StructType:
    if declared is None:
        return StructType([])
    if isinstance(declared, StructType):
        return declared
    parsed = spark._jvm.org.apache.spark.sql.types.StructType.fromDDL(declared).json()
    schema = StructType.fromJson(_loaded(parsed))
    return StructType([StructField(field.name, field.dataType, True) for field in schema.fields])


def _loaded(text: str) -> dict[str, object]:
    from pyspark_delta.log.actions import load  # noqa: PLC0415

    parsed: dict[str, object] = load(text)
    return parsed


def _files(
    storage: Storage, root: str, folder: str = "", partition: tuple[tuple[str, str | None], ...] = ()
) -> Iterator[_ParquetFile]:
    for listed in storage.entries(f"{root}/{folder}" if folder else root):
        name = f"{folder}/{listed.name}" if folder else listed.name
        entry = storage.entry(f"{root}/{name}") if listed.is_link else listed
        if entry.is_folder:
            if "=" in entry.name:
                key, _, value = entry.name.partition("=")
                text = None if value == HIVE_NULL else unquote(value)
                yield from _files(storage, root, name, (*partition, (unquote(key), text)))
            elif not entry.name.startswith(("_", ".")):
                yield from _files(storage, root, name, partition)
        elif entry.name.endswith(".parquet") and not entry.name.startswith(("_", ".")):
            yield _ParquetFile(name, entry.size, entry.mtime_ms, partition)


def _refuse_other_partitioning(files: list[_ParquetFile], partition: StructType, path: str) -> None:
    wanted = [name.lower() for name in partition.names]
    for file in files:
        have = [name.lower() for name, _ in file.partition]
        if sorted(have) != sorted(wanted):
            raise SchemaMismatch(
                f"the files below {path} are partitioned otherwise than was said",
                "Give partitionSchema with the columns of the folders and their types.",
                differences=[
                    f"{file.name}: its folders name {have or 'no columns'}, and {wanted or 'none'} were given"
                ],
            )


def _values(file: _ParquetFile, partition: StructType) -> dict[str, str | None]:
    texts = {name.lower(): text for name, text in file.partition}
    values: dict[str, str | None] = {}
    for field in partition.fields:
        text = texts[field.name.lower()]
        _refuse_unreadable(text, field.dataType, file.name)
        values[field.name] = text
    return values


def _refuse_unreadable(text: str | None, data_type: DataType, name: str) -> None:
    try:
        internal(text, data_type)
    except Exception as problem:
        raise SchemaMismatch(
            f"the folder of {name} has the value {text!r}, which is no {data_type.simpleString()}"
        ) from problem
