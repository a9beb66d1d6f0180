"""Read the rows that a table's files contribute to a state, cached by file, deletion vector and schema."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import tzinfo
from itertools import compress
from pathlib import Path

from delta_models.log import deletion_vectors, paths
from delta_models.log.actions import Add
from delta_models.log.column_mapping import log_name, mapping_mode, partition_constants
from delta_models.log.errors import VectorOutsideFile
from delta_models.log.file_cache import StoredColumns
from delta_models.log.parquet import FileColumns, read_data_file
from delta_models.log.state import Snapshot
from delta_models.values import Row, same_key

_KEPT_ROWS = 3_000_000
_NONE = object()


@dataclass(frozen=True, slots=True)
class FileRows:
    """The rows that one file contributes, and the number of all its rows.

    `disagreements` are partition columns in the file whose values differ from those in the log, with a description.
    """

    rows: tuple[Row, ...]
    length: int
    disagreements: tuple[tuple[str, str], ...] = ()


class TableFiles:
    """Reads the data files of one table.

    Timestamps in partition values without an offset are local time of `zone`. `stored` is a cache of file contents that
    other readers share.
    """

    def __init__(self, folder: Path, zone: tzinfo, stored: StoredColumns | None = None) -> None:
        self.folder = folder
        self.zone = zone
        self._stored = stored
        self._kept: dict[object, FileRows] = {}
        self._count = 0

    def contribution(self, snapshot: Snapshot, add: Add) -> FileRows:
        """Return the rows that a live file contributes to a state. Raises LogError."""
        where = (
            add.key,
            snapshot.metadata.schema_string,
            tuple(add.partition_values.items()),
            mapping_mode(snapshot),
        )
        kept = self._kept.get(where)
        if kept is None:
            kept = self._kept[where] = self._read(snapshot, add)
            self._count += len(kept.rows)
            while self._count > _KEPT_ROWS and len(self._kept) > 1:
                self._count -= len(self._kept.pop(next(iter(self._kept))).rows)
        return kept

    def deleted(self, add: Add) -> frozenset[int]:
        """Return the positions of the rows that the deletion vector of a file deletes."""
        if add.deletion_vector is None:
            return frozenset()
        return deletion_vectors.read(add.deletion_vector, self.folder)

    def columns(self, snapshot: Snapshot, add: Add) -> FileColumns:
        """Return the columns as stored in a data file, including deleted rows and partition columns."""
        if self._stored is not None:
            return self._stored.read(self.folder, snapshot, add)
        return read_data_file(paths.resolve(self.folder, add.path), snapshot.schema, mapping_mode(snapshot))

    def _read(self, snapshot: Snapshot, add: Add) -> FileRows:
        schema = snapshot.schema
        inside = self.columns(snapshot, add)
        columns = list(inside.columns)
        disagreements: list[tuple[str, str]] = []
        for position, value in partition_constants(snapshot, add, self.zone).items():
            field = schema.fields[position]
            if log_name(snapshot, field.name) in inside.names:
                expected = same_key(field.type, value)
                other = next(
                    (column for column in columns[position] if same_key(field.type, column) != expected),
                    _NONE,
                )
                if other is not _NONE:
                    disagreements.append((field.name, f"the log says {value!r}, the file {other!r}"))
            columns[position] = [value] * inside.length
        rows: Iterable[Row] = zip(*columns, strict=True) if len(schema) else [()] * inside.length
        deleted = self.deleted(add)
        if not deleted:
            return FileRows(tuple(rows), inside.length, tuple(disagreements))
        if max(deleted) >= inside.length:
            detail = f"its deletion vector names row {max(deleted)} of {inside.length}"
            raise VectorOutsideFile(f"{add.path}: {detail}")
        kept = bytearray(b"\1") * inside.length
        for row in deleted:
            kept[row] = 0
        return FileRows(tuple(compress(rows, kept)), inside.length, tuple(disagreements))
