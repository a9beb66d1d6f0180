"""Rules of the features icebergCompatV1 and icebergCompatV2, as far as the log shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from delta_models.log.actions import Metadata, Protocol
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.state import Snapshot
from delta_models.log.validity.protocol import fields_of, is_on, supports
from delta_models.log.validity.row_tracking import records
from delta_models.requirements.base import Verdict, as_one
from delta_models.schema import (
    Array,
    DataType,
    DecimalType,
    Field,
    Map,
    Primitive,
    SchemaError,
    Struct,
    parse,
)

_COLUMN_ID = "delta.columnMapping.id"
NESTED_IDS = "delta.columnMapping.nested.ids"
_TYPES_OF_V2 = frozenset({
    "byte", "short", "integer", "long", "float", "double", "string", "binary", "boolean", "timestamp",
    "timestamp_ntz", "date",
})  # fmt: skip
_WHOLE = {"byte", "short", "integer", "long"}


def active(protocol: Protocol, metadata: Metadata) -> Iterator[str]:
    """The versions of the compatibility that a table keeps: V1, V2."""
    for version in ("V1", "V2"):
        if supports(protocol, f"icebergCompat{version}") and is_on(
            metadata, f"delta.enableIcebergCompat{version}"
        ):
            yield version


def judge(
    before: Snapshot | None, commit: Commit, protocol: Protocol, metadata: Metadata
) -> Iterator[Verdict]:
    """The rules of the compatibility, of a commit."""
    versions = list(active(protocol, metadata))
    if not versions:
        return
    for add in commit.adds:
        wrong = None if add.deletion_vector is None else f"{add.path} has a deletion vector"
        yield "iceberg.no-deletion-vectors", wrong
        counted = records(add, -1) >= 0
        yield "iceberg.num-records", None if counted else f"{add.path} has no numRecords"
    if not (commit.metadatas or commit.protocols):
        return
    wrong = "icebergCompatV1 and icebergCompatV2 are both active" if len(versions) > 1 else None
    yield "iceberg.one-version", wrong
    mapped = metadata.configuration.get("delta.columnMapping.mode", "none") in {"name", "id"}
    wrong = None if mapped else f"icebergCompat{versions[0]} without column mapping"
    yield "iceberg.column-mapping", wrong
    vectors = supports(protocol, "deletionVectors")
    vectors = vectors and ("V1" in versions or is_on(metadata, "delta.enableDeletionVectors"))
    wrong = f"deletionVectors beside icebergCompat{versions[0]}" if vectors else None
    yield "iceberg.no-deletion-vectors", wrong
    try:
        fields = list(fields_of(metadata.schema))
    except CorruptLog:
        return  # reported as a schema that cannot be read
    for _, field in fields:
        yield from as_one("iceberg.types", _types(field, versions))
        yield from _changes(field)
    if "V2" in versions:
        yield from as_one("iceberg.nested-ids", _nested_ids([field for _, field in fields]))
    yield from _partitions(before, metadata)


def _types(field: Field, versions: list[str]) -> Iterator[str]:
    kinds = list(_leaves(field.type))
    if "V1" in versions and any(isinstance(kind, Array | Map) or str(kind) == "void" for kind in kinds):
        yield f"column {field.name!r} is of type {field.type}"
    if "V2" in versions:
        odd = [kind for kind in kinds if isinstance(kind, Primitive) and kind.name not in _TYPES_OF_V2]
        if odd:
            yield f"column {field.name!r} is of type {odd[0]}"


def _leaves(data_type: DataType) -> Iterator[DataType]:
    """A type and what arrays and maps in it hold; the fields of structs are asked on their own."""
    yield data_type
    match data_type:
        case Array(element=element):
            yield from _leaves(element)
        case Map(key=key, value=value):
            yield from _leaves(key)
            yield from _leaves(value)


def _changes(field: Field) -> Iterator[Verdict]:
    changes = field.metadata.get("delta.typeChanges")
    for change in changes if isinstance(changes, list) else ():
        wrong = None if _iceberg_widens(change) else f"column {field.name!r} went through {change}"
        yield "iceberg.type-changes", wrong


def _iceberg_widens(change: Any) -> bool:
    try:
        narrow, wide = (parse(change[key]) for key in ("fromType", "toType"))
    except (KeyError, TypeError, SchemaError):
        return True  # reported as a change that is not recorded
    match narrow, wide:
        case DecimalType(), DecimalType():
            return narrow.scale == wide.scale
        case Primitive(name=first), Primitive(name=second):
            return (first in _WHOLE and second in _WHOLE) or (first, second) == ("float", "double")
    return False


def _nested_ids(fields: list[Field]) -> Iterator[str]:
    """Elements, keys and values have ids of their own, kept with the nearest field."""
    taken = [field.metadata.get(_COLUMN_ID) for field in fields]
    for field in fields:
        wanted = set(_inside(field.type, physical_name(field)))
        said = field.metadata.get(NESTED_IDS)
        ids = said if isinstance(said, dict) else {}
        if wanted - ids.keys():
            yield f"column {field.name!r} has no ids for {sorted(wanted - ids.keys())}"
        taken += ids.values()
    if len(taken) != len(set(taken)):
        yield "an id is given twice"


def _inside(data_type: DataType, name: str) -> Iterator[str]:
    match data_type:
        case Array(element=element):
            yield f"{name}.element"
            yield from _inside(element, f"{name}.element")
        case Map(key=key, value=value):
            for part, kind in (("key", key), ("value", value)):
                yield f"{name}.{part}"
                yield from _inside(kind, f"{name}.{part}")


def _partitions(before: Snapshot | None, metadata: Metadata) -> Iterator[Verdict]:
    if before is None or not before.metadata.partition_columns or not metadata.partition_columns:
        return
    old, new = ((set(of.partition_columns), _physical(of)) for of in (before.metadata, metadata))
    wrong = None
    if old[0] != new[0] and old[1] != new[1]:  # a column that is renamed keeps its physical name
        wrong = f"partitioned by {sorted(old[0])}, then by {sorted(new[0])}"
    yield "iceberg.partition-names-stay", wrong


def _physical(metadata: Metadata) -> set[str]:
    schema: Struct = metadata.schema
    return {physical_name(field) for field in schema if field.name in metadata.partition_columns}
