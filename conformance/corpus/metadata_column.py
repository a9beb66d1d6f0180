"""The hidden column `_metadata`: the file of a row, and with row tracking its id and the version that wrote it."""

from __future__ import annotations

from pathlib import Path

from delta_models.log import Add, LogReader, Snapshot
from delta_models.log.paths import decode
from delta_models.log.row_ids import is_tracked, tracked_rows
from delta_models.schema import LONG, STRING, TIMESTAMP, Field, Struct, struct
from delta_models.values import Row, Rows

NAME = "_metadata"
_OF_FILES = (
    ("file_path", STRING), ("file_name", STRING), ("file_size", LONG), ("file_block_start", LONG),
    ("file_block_length", LONG), ("file_modification_time", TIMESTAMP), ("row_index", LONG),
)  # fmt: skip
_OF_ROWS = (
    ("base_row_id", LONG), ("default_row_commit_version", LONG), ("row_id", LONG), ("row_commit_version", LONG),
)  # fmt: skip


def schema_with(state: Snapshot) -> Struct:
    """The schema of a state with the hidden column at its end."""
    fields = (*_OF_FILES, *_OF_ROWS) if is_tracked(state) else _OF_FILES
    return Struct((*state.schema.fields, Field(NAME, struct(*fields))))


def rows_with(reader: LogReader, state: Snapshot) -> Rows:
    """The rows of a state with the hidden column at their end."""
    rows: list[Row] = []
    for add in state.live.values():
        rows += _file(reader, state, add)
    return Rows(schema_with(state), tuple(rows))


def _file(reader: LogReader, state: Snapshot, add: Add) -> list[Row]:
    inside = reader.files.contribution(state, add)
    name = decode(add.path)
    of_file = (f"file:{name}" if name.startswith("/") else name, Path(name).name, add.size, 0, add.size)
    when = add.modification_time * 1000
    if not is_tracked(state):
        deleted = reader.deleted(add)
        positions = [position for position in range(inside.length) if position not in deleted]
        return [(*row, (*of_file, when, at)) for row, at in zip(inside.rows, positions, strict=True)]
    base, default = add.base_row_id, add.default_row_commit_version
    return [
        (
            *tracked_row.row,
            (*of_file, when, tracked_row.place, base, default, tracked_row.id, tracked_row.version),
        )
        for tracked_row in tracked_rows(reader, state, add)
    ]
