"""The catalogue of the reference engine, in memory: the names of tables, and which of them are managed."""

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
    """The layer that gives a table a name, and drops it."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[Path, ops.Create] = {}

    @property
    def home(self) -> Path:
        """The table's real folder, whatever path addresses it."""
        return self.folder.resolve()

    def table(self, snapshot: Snapshot | None) -> Table:
        """Return a state as the model's table, with its name."""
        table = super().table(snapshot)
        entry = self._entries.get(self.home)
        return replace(table, name=entry.name, managed=entry.managed) if entry and table.exists else table

    def register(self, create: ops.Create) -> None:
        """Remember the name of a created table, if `create` gives it one."""
        if create.name is not None:
            self._entries[self.home] = create

    def drop(self) -> Outcome:
        """Forget the table's name. Delete the files of a managed table too."""
        entry = self._entries.pop(self.home, None)
        if entry is None:
            return Rejected("missing-table", "no table of this name")
        if entry.managed:
            self.delete_files()
        return Committed()

    def delete_files(self) -> None:
        """Empty the table's folder, and delete it unless a link addresses it."""
        for path in self.home.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        if not self.folder.is_symlink():
            self.folder.rmdir()
