"""A catalogue for as long as a session lasts: which table has a name, and whose files are the catalogue's own."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from delta_adapters.reference.table_reader import TableReader
from delta_models import operations as ops
from delta_models.log import Snapshot
from delta_models.outcomes import Committed, Outcome, Rejected
from delta_models.table import Table


class TableCatalog(TableReader):
    """A table that may have a name, and be dropped by it."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[Path, ops.Create] = {}

    @property
    def home(self) -> Path:
        """The table's folder, by whatever path it is addressed."""
        return self.folder.resolve()

    def table(self, snapshot: Snapshot | None) -> Table:
        """A state as the model has it, with its name."""
        table = super().table(snapshot)
        entry = self._entries.get(self.home)
        return replace(table, name=entry.name, managed=entry.managed) if entry and table.exists else table

    def register(self, create: ops.Create) -> None:
        """A table that has been created gets its name, if it was given one."""
        if create.name is not None:
            self._entries[self.home] = create

    def drop(self) -> Outcome:
        """Forget the table; a managed one's files go as well, and its folder unless that is known by another path."""
        entry = self._entries.pop(self.home, None)
        if entry is None:
            return Rejected("missing-table", "no table of this name")
        if entry.managed:
            self.delete_files()
        return Committed()

    def delete_files(self) -> None:
        """Empty the table's folder."""
        for path in self.home.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        if not self.folder.is_symlink():
            self.folder.rmdir()
