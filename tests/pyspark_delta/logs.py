"""Write logs by hand, action by action, for cases that no engine writes on request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pyspark_delta.log.delta_log import DeltaLog

SCHEMA = (
    '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}},'
    '{"name":"p","type":"string","nullable":true,"metadata":{}}]}'
)

PROTOCOL: dict[str, Any] = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}


def metadata(schema: str = SCHEMA, partitions: Sequence[str] = (), **properties: str) -> dict[str, Any]:
    return {
        "metaData": {
            "id": "00000000-0000-0000-0000-000000000001",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema,
            "partitionColumns": list(partitions),
            "configuration": {name.replace("__", "."): value for name, value in properties.items()},
            "createdTime": 1,
        }
    }


def add(path: str, **more: Any) -> dict[str, Any]:
    body = {"path": path, "partitionValues": {}, "size": 10, "modificationTime": 1, "dataChange": True}
    return {"add": {**body, **more}}


def remove(path: str, **more: Any) -> dict[str, Any]:
    return {"remove": {"path": path, "deletionTimestamp": 5, "dataChange": True, **more}}


def vector(name: str, offset: int = 1) -> dict[str, Any]:
    return {"storageType": "u", "pathOrInlineDv": name, "offset": offset, "sizeInBytes": 40, "cardinality": 2}


STATE = [PROTOCOL, metadata(), add("f1"), add("f2"), {"txn": {"appId": "a", "version": 7}}]


def paths(table: Path, version: int | None = None) -> list[str]:
    """The live files of a version, as the log names them."""
    return sorted(DeltaLog.for_path(table).snapshot(version).files().raw_paths())


def name(version: int) -> str:
    """The prefix of a version's files."""
    return f"{version:020d}"


def log_folder(table: Path) -> Path:
    folder = table / "_delta_log"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def commit(table: Path, version: int, *actions: dict[str, Any]) -> Path:
    file = log_folder(table) / f"{name(version)}.json"
    file.write_text("".join(json.dumps(action) + "\n" for action in actions))
    return file


def plain_table(table: Path, files: int = 3) -> None:
    """Write a table: version 0 defines it, every later version adds one file."""
    commit(table, 0, PROTOCOL, metadata())
    for version in range(1, files + 1):
        commit(table, version, {"commitInfo": {"operation": "WRITE"}}, add(f"f{version}"))


_STRINGS = pa.map_(pa.string(), pa.string())
_TYPES: dict[str, pa.DataType] = {
    "protocol": pa.struct(
        [
            ("minReaderVersion", pa.int32()),
            ("minWriterVersion", pa.int32()),
            ("readerFeatures", pa.list_(pa.string())),
            ("writerFeatures", pa.list_(pa.string())),
        ]
    ),
    "metaData": pa.struct(
        [
            ("id", pa.string()),
            ("format", pa.struct([("provider", pa.string()), ("options", _STRINGS)])),
            ("schemaString", pa.string()),
            ("partitionColumns", pa.list_(pa.string())),
            ("configuration", _STRINGS),
            ("createdTime", pa.int64()),
        ]
    ),
    "add": pa.struct(
        [
            ("path", pa.string()),
            ("partitionValues", _STRINGS),
            ("size", pa.int64()),
            ("modificationTime", pa.int64()),
            ("dataChange", pa.bool_()),
            ("stats", pa.string()),
            (
                "deletionVector",
                pa.struct(
                    [
                        ("storageType", pa.string()),
                        ("pathOrInlineDv", pa.string()),
                        ("offset", pa.int32()),
                        ("sizeInBytes", pa.int32()),
                        ("cardinality", pa.int64()),
                    ]
                ),
            ),
        ]
    ),
    "remove": pa.struct(
        [("path", pa.string()), ("deletionTimestamp", pa.int64()), ("dataChange", pa.bool_())]
    ),
    "txn": pa.struct([("appId", pa.string()), ("version", pa.int64())]),
    "sidecar": pa.struct(
        [("path", pa.string()), ("sizeInBytes", pa.int64()), ("modificationTime", pa.int64())]
    ),
    "checkpointMetadata": pa.struct([("version", pa.int64())]),
    "domainMetadata": pa.struct(
        [("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_())]
    ),
}


def checkpoint(file: Path, actions: Iterable[dict[str, Any]]) -> None:
    """Write a Parquet file of these actions, one in each row, without columns for kinds that do not occur."""
    rows = list(actions)
    kinds = [kind for kind in _TYPES if any(kind in row for row in rows)]
    arrays = [pa.array([_pairs(row.get(kind)) for row in rows], _TYPES[kind]) for kind in kinds]
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_arrays(arrays, names=kinds), file)


def _pairs(value: Any) -> Any:
    """Maps in the form that Arrow needs."""
    if not isinstance(value, dict):
        return value
    maps = {"partitionValues", "configuration", "options"}
    return {
        name: list(part.items()) if name in maps and isinstance(part, dict) else _pairs(part)
        for name, part in value.items()
    }
