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
from delta_models.log.state import Snapshot
from delta_models.log.validity import statistics
from delta_models.log.validity.utf8 import foreign_texts
from delta_models.requirements.base import Violation
from delta_models.schema import Array, DataType, Field, Map, Struct
from delta_models.values import Value


def violations(reader: LogReader, snapshot: Snapshot, commit: Commit) -> Iterator[Violation]:
    """Breaches of the rules on added files."""
    for add in commit.adds:
        for requirement, detail, columns in _file(reader, snapshot, add):
            yield Violation(requirement, f"{add.path}: {detail}", commit.name, columns)
    if any(not field.nullable or is_filled(field.type) for field in _fields(snapshot)):
        for add in snapshot.live.values() if commit.metadatas else commit.adds:
            yield from _nulls(reader, snapshot, add, commit)


def _fields(snapshot: Snapshot) -> tuple[Field, ...]:
    try:
        return snapshot.schema.fields
    except CorruptLog:
        return ()  # reported with the commit that set it


def _nulls(reader: LogReader, snapshot: Snapshot, add: Add, commit: Commit) -> Iterator[Violation]:
    try:
        rows = reader.file_rows(snapshot, add)
    except LogError:
        return  # reported as a file that is not there or cannot be read
    for position, field in enumerate(snapshot.schema.fields):
        if not field.nullable and any(row[position] is None for row in rows):
            detail = f"{add.path}: column {field.name!r} is not nullable and holds a null"
            yield Violation("schema.not-null-holds", detail, commit.name, (field.name,))
        if is_filled(field.type) and any(_has_hole(field.type, row[position]) for row in rows):
            detail = f"{add.path}: in column {field.name!r} there is a null where none may be"
            yield Violation("schema.nested-not-null-holds", detail, commit.name, (field.name,))


def is_filled(data_type: DataType) -> bool:
    """Whether there are elements, values or fields inside a type that may not be null."""
    match data_type:
        case Struct():
            return any(not field.nullable or is_filled(field.type) for field in data_type.fields)
        case Array(element=element):
            return not data_type.contains_null or is_filled(element)
        case Map(key=key, value=value):
            return not data_type.value_contains_null or is_filled(key) or is_filled(value)
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


def state_breaches(reader: LogReader, snapshot: Snapshot) -> Iterator[Violation]:
    """Breaches of the rules on the files of a state, statistics left out."""
    for add in snapshot.live.values():
        for requirement, detail, columns in _file(reader, snapshot, add):
            if not requirement.startswith("stats."):
                yield Violation(requirement, f"{add.path}: {detail}", f"version {snapshot.version}", columns)


def _file(reader: LogReader, snapshot: Snapshot, add: Add) -> Iterator[statistics.Finding]:
    try:
        size = os.stat(paths.resolve(reader.folder, add.path)).st_size  # noqa: PTH116 - resolved to a path already
    except (OSError, ValueError):  # ValueError: no file system takes such a name
        yield "log.added-file-exists", "there is no such file", ()
        return
    if size != add.size:
        yield "log.added-file-size", f"the log says {add.size} bytes, the file has {size}", ()
    deleted: frozenset[int] = frozenset()
    if add.deletion_vector is not None:
        try:
            deleted = deletion_vectors.read(add.deletion_vector, reader.folder)
        except LogError as error:
            yield _broken_vector(error), str(error), ()
            return
    try:
        inside = reader.files.contribution(snapshot, add)
    except BadPartitionValue:
        return  # reported with the commit
    except LogError as error:
        outside = isinstance(error, VectorOutsideFile)
        yield "dv.rows-in-file" if outside else "log.added-file-readable", str(error), ()
        return
    for column, detail in inside.disagreements:
        yield "log.partition-value-agrees-with-file", f"column {column!r}: {detail}", (column,)
    for column, text in foreign_texts(snapshot.schema, inside.rows):
        yield "log.texts-are-utf8", f"column {column!r} holds {text[:40]!r}", (column,)
    yield from statistics.violations(snapshot, add, inside.rows, inside.length, len(deleted))


def _broken_vector(error: LogError) -> str:
    match error:
        case MissingFile():
            return "dv.file-exists"
        case WrongCardinality():
            return "dv.cardinality"
    return "dv.well-formed"
