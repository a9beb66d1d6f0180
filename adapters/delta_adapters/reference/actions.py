"""Make the actions of a commit, as JSON objects, and collect them."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from delta_adapters.reference.value_serialization import Number
from delta_models.log import Add, Remove, Snapshot
from delta_models.schema import Struct, schema_string

Form = dict[str, Any]
ENGINE = "delta-conformance reference"


@dataclass(slots=True)
class CommitBuilder:
    """The actions of a commit that is not in the table yet."""

    adds: list[Form] = field(default_factory=list)
    removes: list[Form] = field(default_factory=list)
    others: list[Form] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.adds or self.removes or self.others)

    @property
    def forms(self) -> list[Form]:
        """All actions, in the order in which they are written."""
        return [*self.others, *self.removes, *self.adds]


def now() -> int:
    """Return milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def protocol() -> Form:
    """Return the oldest protocol with append-only tables, which suffices for a table without other features."""
    return {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}


def protocol_of(writer: list[str], reader: list[str]) -> Form:
    """Return a protocol that lists its features."""
    form: Form = {"minReaderVersion": 3 if reader else 1, "minWriterVersion": 7}
    if reader:
        form["readerFeatures"] = reader
    return {"protocol": form | {"writerFeatures": writer}}


def domain(name: str, configuration: str) -> Form:
    """Return the configuration of a metadata domain."""
    return {"domainMetadata": {"domain": name, "configuration": configuration, "removed": False}}


def transaction(application: str, version: int) -> Form:
    """Return the transaction identifier that records the last version of an application."""
    return {"txn": {"appId": application, "version": version, "lastUpdated": now()}}


def cdc(path: str, partition_values: Mapping[str, str | None], size: int) -> Form:
    """Return the action of a file of change data."""
    return {
        "cdc": {"path": path, "partitionValues": dict(partition_values), "size": size, "dataChange": False}
    }


def metadata(
    schema: Struct,
    partition_by: tuple[str, ...],
    properties: Mapping[str, str],
    before: Snapshot | None = None,
) -> Form:
    """Return the table's metadata. An existing table keeps its id, name and description."""
    old = before.metadata if before else None
    form: Form = {
        "id": old.id if old else str(uuid.uuid4()),
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema_string(schema),
        "partitionColumns": list(partition_by),
        "configuration": dict(properties),
        "createdTime": old.created_time if old and old.created_time is not None else now(),
    }
    if old and old.name is not None:
        form["name"] = old.name
    if old and old.description is not None:
        form["description"] = old.description
    return {"metaData": form}


def add(
    path: str, partition_values: Mapping[str, str | None], size: int, stats: Form | None, *, data_change: bool
) -> Form:
    """Return the add of a new file."""
    form: Form = {
        "path": path,
        "partitionValues": dict(partition_values),
        "size": size,
        "modificationTime": now(),
        "dataChange": data_change,
    }
    if stats is not None:
        form["stats"] = stats_text(stats)
    return {"add": form}


def add_again(file: Add, *, data_change: bool) -> Form:
    """Return the add of a file that was in the table before, unchanged."""
    form: Form = {
        "path": file.path,
        "partitionValues": dict(file.partition_values),
        "size": file.size,
        "modificationTime": file.modification_time,
        "dataChange": data_change,
    }
    optional = {
        "stats": file.stats,
        "tags": dict(file.tags) if file.tags is not None else None,
        "deletionVector": file.deletion_vector.to_json() if file.deletion_vector else None,
        "baseRowId": file.base_row_id,
        "defaultRowCommitVersion": file.default_row_commit_version,
        "clusteringProvider": file.clustering_provider,
    }
    return {"add": form | {key: value for key, value in optional.items() if value is not None}}


def remove(file: Add, *, data_change: bool) -> Form:
    """Return the remove of a live file. It names the file's deletion vector, which is removed with it."""
    form: Form = {
        "path": file.path,
        "deletionTimestamp": now(),
        "dataChange": data_change,
        "extendedFileMetadata": True,
        "partitionValues": dict(file.partition_values),
        "size": file.size,
    }
    if file.deletion_vector is not None:
        form["deletionVector"] = file.deletion_vector.to_json()
    if file.base_row_id is not None:
        form |= {"baseRowId": file.base_row_id, "defaultRowCommitVersion": file.default_row_commit_version}
    return {"remove": form}


def tombstone(file: Remove) -> Form:
    """Return a tombstone as a checkpoint keeps it."""
    form: Form = {
        "path": file.path,
        "deletionTimestamp": file.deletion_timestamp,
        "dataChange": False,
        "extendedFileMetadata": file.extended_file_metadata,
        "partitionValues": dict(file.partition_values) if file.partition_values is not None else None,
        "size": file.size,
        "deletionVector": file.deletion_vector.to_json() if file.deletion_vector else None,
        "baseRowId": file.base_row_id,
        "defaultRowCommitVersion": file.default_row_commit_version,
    }
    return {"remove": {key: value for key, value in form.items() if value is not None}}


def commit_info(operation: str, tag: str, version: int, metrics: Mapping[str, int] | None = None) -> Form:
    """Return the provenance of a commit, with its operation metrics."""
    info: Form = {
        "timestamp": now(),
        "operation": operation,
        "operationParameters": {},
        "engineInfo": ENGINE,
        "isBlindAppend": operation == "Append",
        "userMetadata": tag,
    }
    if metrics:
        info["operationMetrics"] = {name: str(count) for name, count in metrics.items()}
    return {"commitInfo": info | ({"readVersion": version - 1} if version else {})}


def stats_text(stats: Form) -> str:
    """Return statistics as JSON text. Decimals keep their digits."""
    decimals: list[str] = []

    def with_placeholders(value: Any) -> Any:
        if isinstance(value, Number):
            decimals.append(str(value))
            return f"\0{len(decimals) - 1}\0"
        if isinstance(value, dict):
            return {key: with_placeholders(part) for key, part in value.items()}
        return value

    text = json.dumps(with_placeholders(stats), ensure_ascii=False, separators=(",", ":"))
    for number, digits in enumerate(decimals):
        text = text.replace(f'"\\u0000{number}\\u0000"', digits)
    return text
