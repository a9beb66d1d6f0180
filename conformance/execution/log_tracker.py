"""What the log of one table says, followed from step to step by our own reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from delta_models.log import Commit, LogError, LogReader, NoTable, Snapshot
from delta_models.log.file_cache import StoredColumns


class LogTracker:
    """The log of one table: its newest snapshot, and the version that each step of the history led to.

    `before_reading` is called with the table's folder before the log is read.
    """

    def __init__(
        self,
        folder: Path,
        *,
        stored: StoredColumns | None = None,
        before_reading: Callable[[Path], None] | None = None,
    ) -> None:
        self.folder = folder
        self.reader = LogReader(folder, stored=stored)
        self.snapshot: Snapshot | None = None
        self.versions: dict[int, int] = {}
        self._before_reading = before_reading

    def advance(self, step: int) -> tuple[tuple[Commit, ...], Exception | None]:
        """Read what a step added to the log, and remember the version that it led to.

        Returns the new commits, and the error if the log can't be read.
        """
        if self._before_reading is not None:
            self._before_reading(self.folder)
        before = self.snapshot
        try:
            latest = self.reader.latest_version()
            if latest is None:
                self._forget()
                return (), None
            if before is not None and latest < before.version:
                self._forget()
                before = None
            commits = self.reader.commits(before.version + 1 if before else 0, latest)
            self.snapshot = self.reader.snapshot(latest) if commits or before is None else before
        except NoTable:
            self._forget()
            return (), None
        except LogError as error:
            self.snapshot = None
            return (), error
        self.remember(step)
        return commits, None

    def remember(self, step: int) -> None:
        """Remember that a step led to the newest version."""
        if self.snapshot is not None:
            self.versions = {**self.versions, step: self.snapshot.version}

    def move(self, folder: Path) -> None:
        """Follow the same log at another path."""
        self.folder = folder
        self.reader = LogReader(folder, stored=self.reader.stored)

    def continue_from(self, other: LogTracker) -> None:
        """Follow a copy of another table's log from where the other one stands."""
        self.reader = LogReader(self.folder, stored=other.reader.stored)
        self.versions, self.snapshot = other.versions, other.snapshot

    def _forget(self) -> None:
        """The table is gone: a new one may use the same names for other files."""
        self.snapshot = None
        self.versions = {}
        self.reader = LogReader(self.folder)
