"""The state's columns: adds and removes as Arrow tables of one fixed schema, made from JSON or checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyspark_delta.log.actions import canonical

__all__ = ["ADD", "REMOVE", "bodies", "conform", "empty", "from_bodies", "keys", "vector_ids"]

_TEXTS = pa.map_(pa.string(), pa.string())
_VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
_SHARED = [
    ("stats", pa.string()),
    ("tags", _TEXTS),
    ("deletionVector", _VECTOR),
    ("baseRowId", pa.int64()),
    ("defaultRowCommitVersion", pa.int64()),
]

ADD = pa.schema(
    [
        ("path", pa.string()),
        ("partitionValues", _TEXTS),
        ("size", pa.int64()),
        ("modificationTime", pa.int64()),
        ("dataChange", pa.bool_()),
        *_SHARED,
        ("clusteringProvider", pa.string()),
    ]
)
REMOVE = pa.schema(
    [
        ("path", pa.string()),
        ("deletionTimestamp", pa.int64()),
        ("dataChange", pa.bool_()),
        ("extendedFileMetadata", pa.bool_()),
        ("partitionValues", _TEXTS),
        ("size", pa.int64()),
        *_SHARED,
    ]
)


def empty(schema: pa.Schema) -> pa.Table:
    """A table without rows."""
    return schema.empty_table()


def from_bodies(actions: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """A table of adds or removes that are still JSON."""
    columns = [_column(actions, field) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table from another writer's checkpoint in our schema; missing columns are null, others are dropped."""
    columns = []
    for field in schema:
        index = table.schema.get_field_index(field.name)
        if index < 0:
            columns.append(pa.nulls(len(table), field.type))
        else:
            column = table.column(index)
            columns.append(column if column.type.equals(field.type) else cast(column, field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def cast(column: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    """Arrow's cast, also between structs with different fields."""
    return pa.chunked_array([_cast(chunk, target) for chunk in column.chunks], target)


def bodies(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows as JSON bodies: nulls are left out, maps are dictionaries."""
    for row in table.to_pylist(maps_as_pydicts="strict"):
        body = {name: value for name, value in row.items() if value is not None}
        vector = body.get("deletionVector")
        if vector is not None and vector["offset"] is None:
            del vector["offset"]
        yield body


def vector_ids(column: pa.ChunkedArray) -> list[str | None]:
    """The unique ids of the files' deletion vectors; None for files without one."""
    if column.null_count == len(column):
        return [None] * len(column)
    return [_vector_id(vector) for vector in column.to_pylist()]


def keys(table: pa.Table) -> list[tuple[str, str | None]]:
    """The keys of adds or removes, in order."""
    paths = map(canonical, table["path"].to_pylist())
    return list(zip(paths, vector_ids(table["deletionVector"]), strict=True))


def positions(table: pa.Table, wanted: Iterable[tuple[str, str | None]]) -> list[int]:
    """The row numbers of these keys; Arrow reads the table's paths once."""
    wanted_keys = set(wanted)
    if not wanted_keys or len(table) == 0:
        return []
    paths = {path for path, _ in wanted_keys}
    paths.update(
        f"file:{slashes}{path}" for path in [*paths] if path.startswith("/") for slashes in ("", "//")
    )
    mask = pc.is_in(table["path"], value_set=pa.array(paths, pa.string()))
    candidates = pc.indices_nonzero(mask)
    if len(candidates) == 0:
        return []
    near = table.select(["path", "deletionVector"]).take(candidates)
    return [row for row, key in zip(candidates.to_pylist(), keys(near), strict=True) if key in wanted_keys]


def without(table: pa.Table, rows: Sequence[int]) -> pa.Table:
    """The table without these rows."""
    if not rows:
        return table
    stays = np.ones(len(table), dtype=bool)
    stays[rows] = False
    return table.filter(pa.array(stays))


def _vector_id(vector: Mapping[str, Any] | None) -> str | None:
    if vector is None:
        return None
    offset = vector["offset"]
    text = f"{vector['storageType']}{vector['pathOrInlineDv']}"
    return text if offset is None else f"{text}@{offset}"


def _column(actions: Sequence[Mapping[str, Any]], field: pa.Field) -> pa.Array:
    name, target = field.name, field.type
    values = [body.get(name) for body in actions]
    if not any(value is not None for value in values):
        return pa.nulls(len(values), target)
    if pa.types.is_map(target):
        return _map_column(values)
    return pa.array(values, target)


def _map_column(values: Sequence[Mapping[str, str | None] | None]) -> pa.Array:
    offsets: list[int | None] = []
    names: list[str] = []
    texts: list[str | None] = []
    for value in values:
        offsets.append(None if value is None else len(names))
        if value:
            names.extend(value.keys())
            texts.extend(value.values())
    offsets.append(len(names))
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array(names, pa.string()), pa.array(texts, pa.string())
    )


def _cast(array: pa.Array, target: pa.DataType) -> pa.Array:
    if array.type.equals(target):
        return array
    if pa.types.is_struct(target) and pa.types.is_struct(array.type):
        parts = dict(zip([field.name for field in array.type], array.flatten(), strict=True))
        fields = list(target)
        children = [
            _cast(parts[field.name], field.type) if field.name in parts else pa.nulls(len(array), field.type)
            for field in fields
        ]
        return pa.StructArray.from_arrays(children, fields=fields, mask=pc.is_null(array))
    return array.cast(target)
