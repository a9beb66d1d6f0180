"""What the honest engine claims."""

from __future__ import annotations

from typing import Any

_TYPES = [
    "byte", "short", "integer", "long", "float", "double", "decimal", "string", "binary", "boolean", "date",
    "timestamp",
]  # fmt: skip
_WRITE = ["files", "schema-merge", "by-position"]

CAPABILITIES: dict[str, Any] = {
    "format": 1,
    "operations": {
        "Create": {"options": ["if-not-exists"]},
        "Append": {"options": _WRITE},
        "Overwrite": {"options": [*_WRITE, "schema-overwrite", "where", "dynamic"]},
        "Delete": {},
        "Update": {},
        "Merge": {"options": ["*"], "note": "without schema evolution"},
        "Restore": {"options": ["version"]},
        "SetProperties": {},
        "UnsetProperties": {},
        "Optimize": {"options": ["where"]},
        "Vacuum": {"options": ["retention", "dry-run"]},
        "Checkpoint": {},
        "Read": {"options": ["version", "where", "columns"]},
    },
    "types": {"data": _TYPES, "partition": [each for each in _TYPES if each != "binary"], "nested": False},
    "features": {
        "read": ["deletionVectors", "vacuumProtocolCheck"],
        "write": ["appendOnly", "deletionVectors", "domainMetadata", "invariants", "vacuumProtocolCheck"],
    },
    "properties": ["delta.appendOnly", "delta.checkpointInterval"],
    "functions": [],
    "storages": ["local"],
    "guarantees": {"commits-of-several-processes-on-local-files": True},
    "notes": [
        "pure Python over the model, for small tables; its agreement with the model counts as no evidence"
    ],
}
