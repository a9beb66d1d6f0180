"""Rules for the files that a commit adds: there, of the size said, agreeing with their statistics and vectors."""

from __future__ import annotations

import os
from collections.abc import Iterator

from delta_models.log import deletion_vectors, paths
from delta_models.log.actions import Add
from delta_models.log.commits import Commit
from delta_models.log.errors import (
    BadPartitionValue,
    CorruptLog,
    LogError,
    MissingFile,
    VectorOutsideFile,
    WrongCardinality,
)
from delta_models.log.reader import LogReader
from delta_models.log.row_reader import FileRows
from delta_models.log.state import Snapshot
from delta_models.log.validity import statistics
from delta_models.log.validity.utf8 import foreign_texts, holds_texts
from delta_models.requirements.base import Checked, checked, once_each
from delta_models.schema import Array, DataType, Field, Map, Struct
from delta_models.values import Value


def judge(reader: LogReader, snapshot: Snapshot, commit: Commit) -> Iterator[Checked]:
    """The rules on added files."""
    for add in commit.adds:
        for requirement, wrong, columns in _file(reader, snapshot, add):
            yield checked(requirement, wrong and f"{add.path}: {wrong}", commit.name, columns)
    if any(not field.nullable or _is_filled(field.type) for field in _fields(snapshot)):
        for add in snapshot.live.values() if commit.metadatas else commit.adds:
            for requirement, wrong, columns in once_each(_nulls(reader, snapshot, add)):
                yield checked(requirement, wrong and f"{add.path}: {wrong}", commit.name, columns)


def _fields(snapshot: Snapshot) -> tuple[Field, ...]:
    try:
        return snapshot.schema.fields
    except CorruptLog:
        return ()  # reported with the commit that set it


def _nulls(reader: LogReader, snapshot: Snapshot, add: Add) -> Iterator[statistics.Finding]:
    try:
        rows = reader.file_rows(snapshot, add)
    except LogError:
        return  # reported as a file that is not there or cannot be read
    for position, field in enumerate(snapshot.schema.fields):
        if not field.nullable:
            broken = any(row[position] is None for row in rows)
            wrong = f"column {field.name!r} is not nullable and holds a null" if broken else None
            yield "schema.not-null-holds", wrong, (field.name,)
        if _is_filled(field.type):
            broken = any(_has_hole(field.type, row[position]) for row in rows)
            wrong = f"in column {field.name!r} there is a null where none may be" if broken else None
            yield "schema.nested-not-null-holds", wrong, (field.name,)


def _is_filled(data_type: DataType) -> bool:
    """Whether there are elements, values or fields inside a type that may not be null."""
    match data_type:
        case Struct():
            return any(not field.nullable or _is_filled(field.type) for field in data_type.fields)
        case Array(element=element):
            return not data_type.contains_null or _is_filled(element)
        case Map(key=key, value=value):
            return not data_type.value_contains_null or _is_filled(key) or _is_filled(value)
    return False


def _has_hole(data_type: DataType, value: Value) -> bool:
    """Whether a null is inside a value where its type lets none be; a struct that is null has no fields."""
    if value is None:
        return False
    match data_type:
        case Struct():
            return any(
                (inside is None and not field.nullable) or _has_hole(field.type, inside)
                for field, inside in zip(data_type.fields, value, strict=True)
            )
        case Array(element=element):
            holes = not data_type.contains_null
            return any((inside is None and holes) or _has_hole(element, inside) for inside in value)
        case Map(key=key, value=held):
            holes = not data_type.value_contains_null
            return any(
                _has_hole(key, name) or (inside is None and holes) or _has_hole(held, inside)
                for name, inside in value
            )
    return False


def judge_state(reader: LogReader, snapshot: Snapshot) -> Iterator[Checked]:
    """The rules on the files of a state, statistics left out."""
    for add in snapshot.live.values():
        for requirement, wrong, columns in _file(reader, snapshot, add):
            if not requirement.startswith("stats."):
                where = f"version {snapshot.version}"
                yield checked(requirement, wrong and f"{add.path}: {wrong}", where, columns)


def _file(reader: LogReader, snapshot: Snapshot, add: Add) -> Iterator[statistics.Finding]:
    try:
        size = os.stat(paths.resolve(reader.folder, add.path)).st_size  # noqa: PTH116 - resolved to a path already
    except (OSError, ValueError):  # ValueError: no file system takes such a name
        yield "log.added-file-exists", "there is no such file", ()
        return
    yield "log.added-file-exists", None, ()
    wrong = None if size == add.size else f"the log says {add.size} bytes, the file has {size}"
    yield "log.added-file-size", wrong, ()
    deleted: frozenset[int] = frozenset()
    vector = add.deletion_vector
    if vector is not None:
        try:
            deleted = deletion_vectors.read(vector, reader.folder)
        except LogError as error:
            yield _broken_vector(error), str(error), ()
            return
        if vector.storage_type != "i":
            yield "dv.file-exists", None, ()
        yield "dv.well-formed", None, ()
        yield "dv.cardinality", None, ()
    try:
        inside = reader.files.contribution(snapshot, add)
    except BadPartitionValue:
        return  # reported with the commit
    except LogError as error:
        outside = isinstance(error, VectorOutsideFile)
        yield "dv.rows-in-file" if outside else "log.added-file-readable", str(error), ()
        return
    yield "log.added-file-readable", None, ()
    if vector is not None:
        yield "dv.rows-in-file", None, ()
    yield from once_each(_values(snapshot, inside))
    yield from statistics.judge(snapshot, add, inside.rows, inside.length, len(deleted))


def _values(snapshot: Snapshot, inside: FileRows) -> Iterator[statistics.Finding]:
    if snapshot.partition_by:
        yield "log.partition-value-agrees-with-file", None, ()
    for column, detail in inside.disagreements:
        yield "log.partition-value-agrees-with-file", f"column {column!r}: {detail}", (column,)
    if any(holds_texts(field.type) for field in snapshot.schema):
        yield "log.texts-are-utf8", None, ()
    for column, text in foreign_texts(snapshot.schema, inside.rows):
        yield "log.texts-are-utf8", f"column {column!r} holds {text[:40]!r}", (column,)


def _broken_vector(error: LogError) -> str:
    match error:
        case MissingFile():
            return "dv.file-exists"
        case WrongCardinality():
            return "dv.cardinality"
    return "dv.well-formed"
