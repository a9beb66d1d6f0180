"""CREATE and REPLACE TABLE: make a table without rows from its definition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from pyspark_delta.catalog import default_place, is_known, path_in, place_of, register
from pyspark_delta.commands.command_context import USER_METADATA, now_ms
from pyspark_delta.commands.conditions import read_conf
from pyspark_delta.dataframe_api import new_metadata
from pyspark_delta.exceptions import InvalidArgument, NotADeltaTable, TableExists
from pyspark_delta.log.actions import Metadata, Remove, dump
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.log.store import table_path
from pyspark_delta.storage import storage_of

__all__ = ["Definition", "How", "define"]

How = Literal["create", "create if not exists", "replace", "create or replace"]
_OPERATIONS = {
    "create": "CREATE TABLE",
    "create if not exists": "CREATE TABLE",
    "replace": "REPLACE TABLE",
    "create or replace": "CREATE OR REPLACE TABLE",
}


@dataclass(frozen=True, slots=True)
class Definition:
    """The properties of a table to be made."""

    schema: StructType
    partitioned_by: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    name: str | None = None
    location: str | None = None


def define(spark: SparkSession, definition: Definition, how: How) -> DeltaLog:
    """Create or replace the table and return its log."""
    place, name = _place(spark, definition)
    log = DeltaLog.for_path(place, spark)
    transaction = log.begin()
    exists = transaction.table_exists
    if how == "create if not exists" and exists:
        _register(spark, name, definition, place)
        return log
    if how == "replace" and not exists:
        raise NotADeltaTable(f"there is no table at {place} to replace", "Use create() or createOrReplace().")
    if how == "create" and exists:
        version = transaction.snapshot.version
        raise TableExists(f"there is a table at {place} already, at version {version}")
    if not exists:
        _refuse_files(place)
    if not definition.schema.fields:
        raise InvalidArgument("the table has no columns", "Call addColumn() or addColumns() first.")
    metadata = new_metadata(
        definition.schema, definition.partitioned_by, definition.properties, description=definition.comment
    )
    removed: list[Remove] = []
    if exists:
        now = now_ms()
        transaction.read_whole_table()
        removed = [add.remove(now) for add in transaction.snapshot.files().adds()]
        metadata = _same_table(metadata, transaction.snapshot)
    transaction.new_table(metadata)
    transaction.commit(
        removed,
        _OPERATIONS[how],
        _parameters(metadata),
        {},
        user_metadata=read_conf(spark, USER_METADATA),
    )
    _register(spark, name, definition, place)
    return log


def _place(spark: SparkSession, definition: Definition) -> tuple[str, str | None]:
    """The folder of the table, and its catalogue name if it has one."""
    name, location = definition.name, definition.location
    path = None if name is None else path_in(name)
    if path is not None:
        if location is not None and location != path:
            raise InvalidArgument(f"the table is to be at {path} and at {location}", "Say one place.")
        return path, None
    if location is not None:
        return location, name
    if name is None:
        raise InvalidArgument(
            "the table has neither a name nor a place", "Call tableName() or location() first."
        )
    return (place_of(spark, name) if is_known(spark, name) else default_place(spark, name)), name


def _refuse_files(place: str) -> None:
    """Raise if the folder of a new table has files: vacuum would delete them, as they belong to no version."""
    folder = table_path(place)
    files = [
        entry.name for entry in storage_of(folder).entries(folder) if not entry.name.startswith(("_", "."))
    ]
    if files:
        raise InvalidArgument(
            f"there is no table at {place} and the folder is not empty: it has {files[0]}",
            "Use another folder, or make a table of Parquet files that are there with convertToDelta().",
        )


def _same_table(metadata: Metadata, snapshot: Snapshot) -> Metadata:
    return replace(metadata, id=snapshot.metadata.id, created_time=snapshot.metadata.created_time)


def _register(spark: SparkSession, name: str | None, definition: Definition, place: str) -> None:
    if name is not None and not is_known(spark, name):
        register(spark, name, place, managed=definition.location is None)


def _parameters(metadata: Metadata) -> dict[str, Any]:
    return {
        "isManaged": "false",
        "description": metadata.description,
        "partitionBy": dump(list(metadata.partition_columns)).decode(),
        "clusterBy": "[]",
        "properties": dump(dict(metadata.configuration)).decode(),
    }
