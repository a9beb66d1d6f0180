"""The hidden column `_metadata`: where a row comes from, and with row tracking its id and the version that wrote it."""

from __future__ import annotations

from pathlib import Path

from delta_models.log import Add, LogReader, Snapshot
from delta_models.log.parquet import read_data_file
from delta_models.log.paths import decode, resolve
from delta_models.schema import LONG, STRING, TIMESTAMP, Field, Struct, struct
from delta_models.values import Row, Rows, Value

NAME = "_metadata"
_OF_FILES = (
    ("file_path", STRING), ("file_name", STRING), ("file_size", LONG), ("file_block_start", LONG),
    ("file_block_length", LONG), ("file_modification_time", TIMESTAMP), ("row_index", LONG),
)  # fmt: skip
_OF_ROWS = (
    ("base_row_id", LONG), ("default_row_commit_version", LONG), ("row_id", LONG), ("row_commit_version", LONG),
)  # fmt: skip
_ROW_ID = "delta.rowTracking.materializedRowIdColumnName"
_ROW_VERSION = "delta.rowTracking.materializedRowCommitVersionColumnName"


def schema_with(state: Snapshot) -> Struct:
    """The schema of a state with the hidden column at its end."""
    fields = (*_OF_FILES, *_OF_ROWS) if _tracked(state) else _OF_FILES
    return Struct((*state.schema.fields, Field(NAME, struct(*fields))))


def rows_with(reader: LogReader, state: Snapshot) -> Rows:
    """The rows of a state with the hidden column at their end."""
    rows: list[Row] = []
    for add in state.live.values():
        rows += _file(reader, state, add)
    return Rows(schema_with(state), tuple(rows))


def _tracked(state: Snapshot) -> bool:
    return state.properties.get("delta.enableRowTracking", "false").lower() == "true"


def _file(reader: LogReader, state: Snapshot, add: Add) -> list[Row]:
    inside = reader.files.contribution(state, add)
    deleted = reader.deleted(add)
    positions = [each for each in range(inside.length) if each not in deleted]
    name = decode(add.path)
    of_file = (f"file:{name}" if name.startswith("/") else name, Path(name).name, add.size, 0, add.size)
    when = add.modification_time * 1000
    if not _tracked(state):
        return [(*row, (*of_file, when, at)) for row, at in zip(inside.rows, positions, strict=True)]
    ids = _materialized(reader, state, add, _ROW_ID)
    versions = _materialized(reader, state, add, _ROW_VERSION)
    base, default = add.base_row_id, add.default_row_commit_version
    rows: list[Row] = []
    for row, at in zip(inside.rows, positions, strict=True):
        own_id = ids[at] if ids[at] is not None else None if base is None else base + at
        own_version = versions[at] if versions[at] is not None else default
        rows.append((*row, (*of_file, when, at, base, default, own_id, own_version)))
    return rows


def _materialized(reader: LogReader, state: Snapshot, add: Add, key: str) -> list[Value]:
    """What a file itself holds for its rows; nulls where it holds nothing."""
    column = state.properties.get(key)
    wanted = Struct((Field(column or "", LONG),))
    return read_data_file(resolve(reader.folder, add.path), wanted).columns[0]
