"""Row tracking: the id and the commit version of each row. Section "Row Tracking".

A file may hold both for its own rows, in columns that the table's properties name; where it holds none, the id is the
file's first id and the row's place in it, and the version is the file's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from delta_models.log.actions import Add
from delta_models.log.parquet import read_data_file
from delta_models.log.paths import resolve
from delta_models.schema import LONG, Field, Struct
from delta_models.values import Row, Value

if TYPE_CHECKING:
    from delta_models.log.reader import LogReader
    from delta_models.log.state import Snapshot

ENABLED = "delta.enableRowTracking"
ROW_ID_COLUMN = "delta.rowTracking.materializedRowIdColumnName"
ROW_VERSION_COLUMN = "delta.rowTracking.materializedRowCommitVersionColumnName"


@dataclass(frozen=True, slots=True)
class Tracked:
    """A row with its place in its file, its id, and the version that wrote it last; None where none is known.

    `fresh` is the id that its place in the file gives it, whatever the file holds for it."""

    row: Row
    place: int
    id: Value
    version: Value
    fresh: Value = None


def is_tracked(state: Snapshot) -> bool:
    """Whether the rows of a state have ids."""
    return state.properties.get(ENABLED, "false").lower() == "true"


def materialized_names(state: Snapshot) -> tuple[str, str]:
    """The names under which files hold ids and commit versions of their rows; no column's, where there are none."""
    return state.properties.get(ROW_ID_COLUMN) or "", state.properties.get(ROW_VERSION_COLUMN) or " "


def tracked_rows(reader: LogReader, state: Snapshot, add: Add) -> Iterator[Tracked]:
    """The rows of one live file."""
    inside = reader.files.contribution(state, add)
    deleted = reader.deleted(add)
    places = [index for index in range(inside.length) if index not in deleted]
    ids, versions = _materialized(reader, state, add)
    base, default = add.base_row_id, add.default_row_commit_version
    for row, place in zip(inside.rows, places, strict=True):
        fresh = None if base is None else base + place
        own = ids[place] if ids[place] is not None else fresh
        yield Tracked(row, place, own, versions[place] if versions[place] is not None else default, fresh)


def _materialized(reader: LogReader, state: Snapshot, add: Add) -> tuple[list[Value], list[Value]]:
    """What a file itself holds for its rows; nulls where it holds nothing."""
    names = materialized_names(state)
    wanted = Struct(tuple(Field(name, LONG) for name in names))
    ids, versions = read_data_file(resolve(reader.folder, add.path), wanted).columns
    return ids, versions
