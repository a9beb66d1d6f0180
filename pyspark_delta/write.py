"""Write a data frame as data files, by one Spark job with Spark's own Parquet writer.

The job writes into a hidden folder of the table, which readers ignore. Then statistics are read from the footers, and
the files are renamed to their final places. No commit names them yet. A failed write deletes its files.
"""

from __future__ import annotations

import contextlib
import re
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pyspark_delta import schema as schemas
from pyspark_delta import spark_jobs, sql_text, statistics
from pyspark_delta.char_varchar import with_fitted_lengths
from pyspark_delta.constraints import Check, checks_of, null_if_empty, violation_in, with_checks
from pyspark_delta.exceptions import DeltaError, InvalidArgument, StorageFailure
from pyspark_delta.log.actions import Add, Metadata
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import HIVE_NULL, absolute_path, encode_path, hive_path, internal
from pyspark_delta.storage import Storage, storage_of
from pyspark_delta.void_types import is_in_files, refuse_void, without_void

__all__ = ["CODEC_PROPERTY", "STAGING_PREFIX", "WriteOptions", "discard", "write_files"]

STAGING_PREFIX = "_temporary_"

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEY = "__partition_{}"
_ODD = "\u0001hex:"
CODEC_PROPERTY = "delta.parquet.compression.codec"

# Options of Spark's Parquet writer that only the session's configuration can set.
_SESSION = {
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
}
_session_lock = threading.RLock()


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How to write; `checks` apply in addition to the table's own."""

    files: int | None = None
    max_records_per_file: int | None = None
    data_change: bool = True
    checks: tuple[Check, ...] = ()
    tags: dict[str, str] | None = None
    enforce: bool = True


def write_files(
    spark: SparkSession,
    df: DataFrame,
    snapshot_or_metadata: Snapshot | Metadata,
    *,
    options: WriteOptions | Mapping[str, Any] | None = None,
    path: str | None = None,
) -> list[Add]:
    """Write the frame, which has the table's columns in order, and return the actions that would add its files.

    `path` is needed only for bare metadata. When this returns, the files are in their final places, but no commit names
    them. A caller that does not commit them must `discard` them.
    """
    options = options if isinstance(options, WriteOptions) else WriteOptions(**(options or {}))
    if isinstance(snapshot_or_metadata, Metadata):
        metadata, root = snapshot_or_metadata, path
    else:
        metadata, root = snapshot_or_metadata.metadata, snapshot_or_metadata.path
    if root is None:
        raise InvalidArgument("where to write is not said", "Give `path` beside the metadata.")
    plan = _WritePlan.of(metadata, root)
    refuse_void(plan.schema, metadata.partition_columns)
    staging = f"{root}/{STAGING_PREFIX}{uuid.uuid4().hex}"
    placed: list[Add] = []
    try:
        _run_job(spark, plan, df, staging, options)
        plan.place(spark, staging, options, placed)
    except BaseException as error:
        discard(root, placed)
        storage_of(root).remove_tree(staging)
        _raise_specific(error, root)
        raise
    storage_of(root).remove_tree(staging)
    return placed


def discard(root: str, adds: Iterable[Add]) -> None:
    """Delete files that no commit names, and partition folders that are empty now."""
    storage = storage_of(root)
    folders = set()
    for add in adds:
        place = absolute_path(add.path, root)
        with contextlib.suppress(FileNotFoundError):
            storage.remove(place)
        folders.add(place.rpartition("/")[0])
    for folder in folders:
        while folder.startswith(f"{root}/") and storage.remove_folder(folder):
            folder = folder.rpartition("/")[0]  # noqa: PLW2901 - upwards


@dataclass(frozen=True, slots=True)
class _WritePlan:
    """The facts about the table that the writer needs."""

    root: str
    schema: StructType
    partition: tuple[StructField, ...]
    metadata: Metadata
    columns: tuple[statistics.Column, ...]

    @classmethod
    def of(cls, metadata: Metadata, root: str) -> _WritePlan:
        schema = schemas.from_json(metadata.schema_string)
        partition = tuple(schema[name] for name in metadata.partition_columns)
        columns = statistics.indexed_columns(schema, metadata.partition_columns, metadata.configuration)
        return cls(root, schema, partition, metadata, tuple(columns))

    def place(self, spark: SparkSession, staging: str, options: WriteOptions, placed: list[Add]) -> None:
        """Move the files that have rows from the staging folder to their final places."""
        storage = storage_of(self.root)
        files = list(_data_files(storage, staging, ""))
        all_statistics = statistics.of_files([f"{staging}/{file}" for file in files], self.columns, spark)
        for file, facts in zip(files, all_statistics, strict=True):
            if facts.rows == 0:
                continue
            values = self._values(file)
            folder = hive_path(values)
            name = file.rsplit("/", 1)[-1]
            # Spark uses a file name once for each partition. Two values can share a folder: null and a text like its
            # folder's name, or upper and lower case on some disks. The second file would replace the first.
            relative = f"{folder}/{_UUID.sub(str(uuid.uuid4()), name)}" if folder else name
            target = f"{self.root}/{relative}"
            storage.move(f"{staging}/{file}", target)
            state = storage.entry(target)
            placed.append(
                Add(
                    path=encode_path(relative),
                    partition_values=values,
                    size=state.size,
                    modification_time=state.mtime_ms,
                    data_change=options.data_change,
                    stats=facts.text,
                    tags=options.tags,
                )
            )

    def _values(self, file: str) -> dict[str, str | None]:
        """The partition values of a file, from the names of the folders into which Spark put it."""
        folders = file.split("/")[:-1]
        return {
            field.name: _log_text(unquote(folder.split("=", 1)[1]), field.dataType)
            for field, folder in zip(self.partition, folders, strict=True)
        }


def _run_job(
    spark: SparkSession, plan: _WritePlan, df: DataFrame, staging: str, options: WriteOptions
) -> None:
    checks = list(options.checks)
    empty = null_if_empty(plan.schema, plan.metadata.partition_columns)
    if options.enforce:
        have = df.schema if _has_not_null(plan.schema) else None
        checks = [*checks_of(plan.schema, plan.metadata.configuration, have, empty), *checks]
    frame = with_fitted_lengths(with_checks(df, checks, empty), plan.schema)
    keys = {field.name: _KEY.format(number) for number, field in enumerate(plan.partition)}
    data = [field for field in plan.schema.fields if field.name not in keys and is_in_files(field.dataType)]
    values = [without_void(sql_text.name(field.name), field.dataType) for field in data]
    columns = [sql_text.name(field.name) for field in data]
    if values != columns or len(columns) < len(plan.schema.fields):
        frame = frame.selectExpr(
            *(f"{value} as {column}" for value, column in zip(values, columns, strict=True)),
            *(_folder_key(field, keys[field.name]) for field in plan.partition),
        )
    if options.files is not None:
        frame = frame.repartition(options.files)
    settings: dict[str, Any] = {
        "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
        # Parquet drops the bounds of long texts unless it may truncate them; it truncates correctly.
        "parquet.statistics.truncate.length": "256",
        "parquet.summary.metadata.level": "NONE",
    }
    if codec := plan.metadata.configuration.get(CODEC_PROPERTY):
        settings["compression"] = codec.lower()
    if options.max_records_per_file:
        settings["maxRecordsPerFile"] = options.max_records_per_file
    writer = frame.write.format("parquet").options(**settings)
    if plan.partition:
        writer = writer.partitionBy(*keys.values())
    target = storage_of(staging).for_spark(staging)
    with parquet_configured(spark, plan.schema):
        spark_jobs.run(spark, lambda: writer.save(target))


def _folder_key(field: StructField, called: str) -> str:
    """The SQL expression that names a partition folder, such that the value can be recovered in any session."""
    reference = sql_text.name(field.name)
    if isinstance(field.dataType, TimestampType):
        reference = f"unix_micros({reference})"
    elif isinstance(field.dataType, BinaryType):
        reference = f"hex({reference})"
    elif isinstance(field.dataType, StringType):
        odd = (
            f"octet_length({reference}) != char_length({reference}) or {reference} = {sql_text.literal(HIVE_NULL)} "
            f"or contains({reference}, decode(X'00', 'UTF-8')) or startswith({reference}, '\\u0001')"
        )
        reference = f"if({odd}, concat('\\u0001hex:', hex(encode({reference}, 'UTF-8'))), {reference})"
    return f"{reference} as {called}"


def _log_text(text: str, data_type: DataType) -> str | None:
    """The log's text of a partition value, from a folder's name."""
    if text == HIVE_NULL:
        return None
    if isinstance(data_type, TimestampType):
        return _iso_time(int(text))
    if isinstance(data_type, BinaryType):
        try:
            return bytes.fromhex(text).decode() or None
        except UnicodeDecodeError:
            raise InvalidArgument(
                f"the partition value X'{text}' is no UTF-8 text, which the log could not give back",
                "Partition by another column, or by a text of this one (hex, base64).",
            ) from None
    if isinstance(data_type, StringType):
        return bytes.fromhex(text[len(_ODD) :]).decode() if text.startswith(_ODD) else text
    if isinstance(data_type, DecimalType):
        return format(internal(text, data_type), "f")
    return text


def _iso_time(micros: int) -> str:
    """A UTC time in ISO 8601, also outside of Python's years."""
    days, rest = divmod(micros, 86_400_000_000)
    seconds, fraction = divmod(rest, 1_000_000)
    cycles, day = divmod(days + 719_468, 146_097)  # days since 0000-03-01, in cycles of 400 years
    year_of_cycle = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day_of_year = day - (365 * year_of_cycle + year_of_cycle // 4 - year_of_cycle // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = cycles * 400 + year_of_cycle + (month <= 2)
    day_of_month = day_of_year - (153 * shifted + 2) // 5 + 1
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:06d}"
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day_of_month:02d}T{clock}Z"


@contextlib.contextmanager
def parquet_configured(spark: SparkSession, schema: StructType) -> Iterator[None]:
    """A context in which the session has the settings that writing this schema needs; unchanged if they already fit."""
    wanted = _SESSION if _needs_settings(schema) else {}
    with _session_lock if wanted else contextlib.nullcontext():
        before = {key: spark.conf.get(key) for key in wanted}
        changed = [key for key in wanted if before[key] != wanted[key]]
        for key in changed:
            spark.conf.set(key, wanted[key])
        try:
            yield
        finally:
            for key in changed:
                spark.conf.set(key, before[key])


def _needs_settings(schema: StructType) -> bool:
    """Whether Spark could write one of the types in a legacy format."""
    text = schema.simpleString()
    return any(name in text for name in ("timestamp", "date", "decimal", "array", "map"))


def _has_not_null(data_type: DataType) -> bool:
    if isinstance(data_type, StructType):
        return any(not field.nullable or _has_not_null(field.dataType) for field in data_type.fields)
    if isinstance(data_type, ArrayType):
        return not data_type.containsNull or _has_not_null(data_type.elementType)
    if isinstance(data_type, MapType):
        inside = (data_type.keyType, data_type.valueType)
        return not data_type.valueContainsNull or any(_has_not_null(part) for part in inside)
    return False


def _data_files(storage: Storage, folder: str, prefix: str) -> Iterator[str]:
    for entry in storage.entries(folder):
        if entry.is_folder:
            if not entry.name.startswith(("_temporary", ".")):
                yield from _data_files(storage, f"{folder}/{entry.name}", f"{prefix}{entry.name}/")
        elif not entry.name.startswith(("_", ".")):
            yield f"{prefix}{entry.name}"


def _raise_specific(error: BaseException, root: str) -> None:
    """Raise the specific error behind a failed job, if it is known."""
    if isinstance(error, DeltaError) or not isinstance(error, Exception):
        return
    broken = violation_in(error)
    if broken is not None:
        raise broken from error
    text = str(error)
    for sign, cause in _STORAGE_SIGNS:
        if sign in text:
            raise StorageFailure(f"data could not be written below {root}: {cause}") from error


_STORAGE_SIGNS: Sequence[tuple[str, str]] = (
    ("No space left on device", "no space is left on the device"),
    ("Disk quota exceeded", "the quota of the disk is used up"),
    ("Permission denied", "permission was denied"),
    ("Read-only file system", "the file system is read-only"),
    ("Mkdirs failed to create", "a folder could not be made (permissions?)"),
    ("is not a directory", "a folder on the way is a file"),
    ("Not a directory", "a folder on the way is a file"),
    ("Input/output error", "the device reported an input or output error"),
    ("File too large", "a file grew beyond what the system allows"),
)
