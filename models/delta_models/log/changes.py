"""Compute the change feed between two versions from the log.

See the protocol's section "Reader Requirements for AddCDCFile". If a version has cdc files, they alone hold its
changes. Otherwise the rows of added files are inserted and the rows of removed files deleted. If a file is removed and
added with another deletion vector, only the rows in which the two vectors differ have changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from delta_models.log import commit_timestamps
from delta_models.log.actions import Add, Cdc, Remove
from delta_models.log.column_mapping import mapping_mode, partition_constants
from delta_models.log.errors import LogError
from delta_models.log.parquet import read_data_file
from delta_models.log.paths import resolve
from delta_models.schema import LONG, STRING, TIMESTAMP, Field, Struct
from delta_models.values import Row, Rows

if TYPE_CHECKING:
    from delta_models.log.commits import Commit
    from delta_models.log.reader import LogReader
    from delta_models.log.state import Snapshot

CHANGE_TYPE = Field("_change_type", STRING)
COMMIT_VERSION = Field("_commit_version", LONG)
COMMIT_TIMESTAMP = Field("_commit_timestamp", TIMESTAMP)
ENABLED = "delta.enableChangeDataFeed"


class NoChangeData(LogError):
    """The table did not record changes in some version of the range."""


def changes(reader: LogReader, first: int, last: int | None = None, *, from_info: bool = False) -> Rows:
    """Return the changes of the versions `first` to `last`, both included, in the schema of the last one.

    Raises NoChangeData if the change feed was off in some version. `from_info` is that of
    `commit_timestamps.commit_times`.
    """
    end = reader.snapshot(last)
    schema = Struct((*end.schema.fields, CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP))
    times = commit_timestamps.commit_times(reader, from_info=from_info)
    rows: list[Row] = []
    for commit in reader.commits(first, end.version):
        after = reader.snapshot(commit.version)
        if after.properties.get(ENABLED, "false").lower() != "true":
            raise NoChangeData(f"the change feed is off in version {commit.version}")
        stamp = (commit.version, times[commit.version] * 1000)
        rows.extend((*row, kind, *stamp) for row, kind in commit_changes(reader, end, commit))
    return Rows(schema, tuple(rows))


def commit_changes(reader: LogReader, end: Snapshot, commit: Commit) -> Iterator[tuple[Row, str]]:
    """Yield the changed rows of one commit, each with its kind, in the schema of the state `end`."""
    if commit.cdcs:
        for cdc in commit.cdcs:
            yield from _read_recorded(reader, end, cdc)
        return
    adds = {file.path: file for file in commit.adds if file.data_change}
    for remove in commit.removes:
        if not remove.data_change:
            continue
        old = _as_add(reader, remove, commit.version)
        new = adds.pop(remove.path, None)
        if new is None:
            for row in reader.file_rows(end, old):
                yield row, "delete"
        else:
            yield from _compare_vectors(reader, end, old, new)
    for add in adds.values():
        for row in reader.file_rows(end, add):
            yield row, "insert"


def _read_recorded(reader: LogReader, end: Snapshot, cdc: Cdc) -> Iterator[tuple[Row, str]]:
    wanted = Struct((*end.schema.fields, CHANGE_TYPE))
    inside = read_data_file(resolve(reader.folder, cdc.path), wanted, mapping_mode(end))
    columns = list(inside.columns)
    as_add = Add(cdc.path, cdc.partition_values, cdc.size, 0, data_change=False)
    for position, value in partition_constants(end, as_add, reader.zone).items():
        columns[position] = [value] * inside.length
    for *row, kind in zip(*columns, strict=True):
        yield tuple(row), kind


def _compare_vectors(reader: LogReader, end: Snapshot, old: Add, new: Add) -> Iterator[tuple[Row, str]]:
    whole = Add(new.path, new.partition_values, new.size, new.modification_time, data_change=True)
    rows = reader.file_rows(end, whole)
    before, after = reader.deleted(old), reader.deleted(new)
    for position in sorted(after - before):
        yield rows[position], "delete"
    for position in sorted(before - after):
        yield rows[position], "insert"


def _as_add(reader: LogReader, remove: Remove, version: int) -> Add:
    """The removed file as it was while it was live; a remove may leave out its partition values."""
    if version > 0:
        live = reader.snapshot(version - 1).live.get(remove.key)
        if live is not None:
            return live
    values = remove.partition_values or {}
    return Add(
        remove.path, values, remove.size or 0, 0, data_change=True, deletion_vector=remove.deletion_vector
    )
