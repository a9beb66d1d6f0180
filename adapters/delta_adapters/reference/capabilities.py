"""The capability document of the reference engine."""

from __future__ import annotations

from typing import Any

_TYPES = [
    "byte", "short", "integer", "long", "float", "double", "decimal", "string", "binary", "boolean", "date",
    "timestamp", "timestamp_ntz", "variant", "void",
]  # fmt: skip
_WRITE = ["files", "schema-merge", "by-position", "transaction"]
_FEATURES = [
    "allowColumnDefaults", "appendOnly", "changeDataFeed", "checkConstraints", "clustering", "columnMapping",
    "deletionVectors", "domainMetadata", "generatedColumns", "identityColumns", "inCommitTimestamp", "invariants",
    "rowTracking", "timestampNtz", "typeWidening", "v2Checkpoint", "vacuumProtocolCheck", "variantType",
]  # fmt: skip
_PROPERTIES = [
    "delta.appendOnly", "delta.checkpointInterval", "delta.checkpointPolicy", "delta.columnMapping.mode",
    "delta.deletedFileRetentionDuration",
    "delta.enableChangeDataFeed", "delta.enableDeletionVectors", "delta.enableInCommitTimestamps",
    "delta.enableRowTracking", "delta.enableTypeWidening", "delta.feature.allowColumnDefaults",
    "delta.logRetentionDuration",
]  # fmt: skip

CAPABILITIES: dict[str, Any] = {
    "format": 1,
    "operations": {
        "Create": {"options": ["if-not-exists", "cluster-by", "name", "managed"]},
        "Replace": {"options": ["cluster-by"]},
        "CreateAs": {"options": ["*"]},
        "ConvertFromParquet": {},
        "CloneTo": {"options": ["*"]},
        "Drop": {},
        "Append": {"options": _WRITE},
        "Overwrite": {"options": [*_WRITE, "schema-overwrite", "where", "dynamic"]},
        "Delete": {},
        "Update": {},
        "Merge": {"options": ["*"]},
        "Restore": {"options": ["version", "time"]},
        "AddColumn": {"options": ["*"]},
        "DropColumn": {},
        "RenameColumn": {},
        "ReorderColumn": {},
        "WidenColumn": {},
        "SetNullable": {"options": ["*"]},
        "SetDefault": {},
        "SetProperties": {},
        "UnsetProperties": {},
        "AddConstraint": {},
        "DropConstraint": {},
        "EnableFeature": {},
        "DropFeature": {"options": ["*"]},
        "Optimize": {"options": ["where"]},
        "ZOrder": {"options": ["where"], "note": "small data is compacted, in whatever order"},
        "Cluster": {},
        "Purge": {},
        "Vacuum": {"options": ["retention", "dry-run", "lite"]},
        "Checkpoint": {},
        "CompactLog": {},
        "Reopen": {"note": "nothing is remembered of a table under another path"},
        "SetZone": {"note": "its answers say every moment in UTC; expressions depend on the zone"},
        "Read": {"options": ["version", "time", "where", "columns"]},
        "ReadChanges": {"options": ["version"]},
        "Pour": {},
        "Tail": {"options": ["rows", "inserts", "changes"]},
        "History": {},
        "Detail": {"options": ["version", "time"]},
    },
    "types": {
        "data": [*_TYPES, "char", "struct", "array", "map"],
        "partition": [data_type for data_type in _TYPES if data_type not in {"binary", "variant", "void"}],
        "nested": True,
    },
    "features": {
        "read": [
            "columnMapping",
            "deletionVectors",
            "timestampNtz",
            "typeWidening",
            "v2Checkpoint",
            "vacuumProtocolCheck",
            "variantType",
        ],
        "write": _FEATURES,
    },
    "properties": _PROPERTIES,
    "functions": [],
    "storages": ["local"],
    "guarantees": {
        "commits-of-several-processes-on-local-files": True,
        "serializable": True,
        "statistics": True,
        "deletion-vectors": True,
        "reads-tell-their-version": True,
    },
    "notes": [
        "pure Python over the model, for small tables; its agreement with the model counts as no evidence"
    ],
}
