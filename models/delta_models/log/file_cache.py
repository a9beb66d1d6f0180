"""Cache the columns of data files and the parsed commits as long as the files stay the same.

The cache stays valid if the table's folder moves, or is copied with the times of its files.
"""

from __future__ import annotations

from pathlib import Path

from delta_models.log import paths
from delta_models.log.actions import Add
from delta_models.log.column_mapping import mapping_mode
from delta_models.log.commits import Commit, parse_commit
from delta_models.log.parquet import FileColumns, read_data_file
from delta_models.log.state import Snapshot

_KEPT_FILES = 1000
_Key = tuple[str, int, int, str, str]


class StoredColumns:
    """A cache that the readers of one table and its copies share."""

    def __init__(self) -> None:
        self._kept: dict[_Key, FileColumns] = {}
        self._commits: dict[tuple[int, bytes], Commit] = {}

    def commit(self, version: int, name: str, data: bytes) -> Commit:
        """Return the commit in these bytes, parsed once."""
        kept = self._commits.get((version, data))
        if kept is None:
            kept = self._commits[version, data] = parse_commit(version, name, data)
            while len(self._commits) > _KEPT_FILES:
                del self._commits[next(iter(self._commits))]
        return kept

    def read(self, folder: Path, snapshot: Snapshot, add: Add) -> FileColumns:
        """Return the columns of a data file; it is read again if its size or time has changed."""
        path, mode = paths.resolve(folder, add.path), mapping_mode(snapshot)
        try:
            status = path.stat()
        except OSError:
            return read_data_file(path, snapshot.schema, mode)  # raises the right error
        key = (add.path, status.st_size, status.st_mtime_ns, snapshot.metadata.schema_string, mode)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = read_data_file(path, snapshot.schema, mode)
            while len(self._kept) > _KEPT_FILES:
                del self._kept[next(iter(self._kept))]
        return kept
