"""Read the id and the commit version of each row of a table with row tracking.

See the protocol's section "Row Tracking". A file may hold both values for its rows, in columns that the table's
properties name. Otherwise a row's id is the file's first id plus the row's place, and its version is the file's.
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
    """A row with its place in its file, its id, and the version that wrote it last; None if unknown.

    `fresh` is the id by its place in the file, even if the file holds another id for it.
    """

    row: Row
    place: int
    id: Value
    version: Value
    fresh: Value = None


def is_tracked(state: Snapshot) -> bool:
    """Whether the rows of a state have ids."""
    return state.properties.get(ENABLED, "false").lower() == "true"


def materialized_names(state: Snapshot) -> tuple[str, str]:
    """Return the names of the columns that hold row ids and commit versions; unused names if there are none."""
    return state.properties.get(ROW_ID_COLUMN) or "", state.properties.get(ROW_VERSION_COLUMN) or " "


def tracked_rows(reader: LogReader, state: Snapshot, add: Add) -> Iterator[Tracked]:
    """Yield the rows of one live file."""
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
    """The ids and versions that a file holds for its rows; nulls if it holds none."""
    names = materialized_names(state)
    wanted = Struct(tuple(Field(name, LONG) for name in names))
    ids, versions = read_data_file(resolve(reader.folder, add.path), wanted).columns
    return ids, versions
