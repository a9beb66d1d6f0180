"""What faults leave behind at one table: orphaned files, a writer that has yet to go on, and files with wrong dates."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from conformance.checks.checkpoints import left_by_a_cut_clean_up
from conformance.fault_injection.instrumented_process import InstrumentedProcess
from conformance.observations.observation import FaultContext, Observation, OrphanedFile
from conformance.suites.crashes.orphaned_files import (
    CommitTexts,
    by_role,
    files_of,
    find_orphans,
    vacuumable,
)
from delta_models.log import LogReader
from delta_models.operations import ConvertFromParquet, Create, CreateAs, Operation

CREATES = (Create, CreateAs, ConvertFromParquet)  # an append is still to show that others can go on


class FaultAftermath:
    """The traces of faults at one table, as later steps find them."""

    def __init__(self) -> None:
        self._awaits_write = False
        self._is_next_write = False
        self._left_in_log: frozenset[tuple[str, str]] = frozenset()
        self._orphans: dict[str, str] = {}  # their roles
        self._vacuumable: dict[str, int] = {}  # since which hour of the history
        self._commits = CommitTexts()

    def copy(self) -> FaultAftermath:
        """The same traces, for a copy of the table."""
        other = FaultAftermath()
        other._awaits_write = self._awaits_write
        other._left_in_log = self._left_in_log
        other._orphans = self._orphans
        other._vacuumable = self._vacuumable
        other._commits = self._commits.copy()
        return other

    @property
    def left_in_log(self) -> frozenset[tuple[str, str]]:
        """What clean-ups of the log have left that were cut: violations by requirement and place."""
        return self._left_in_log

    def begin_step(self) -> None:
        """Note that a step is executed; it is the next write after a fault, if that has not come yet."""
        self._is_next_write = self._awaits_write

    def begin_write(self, operation: Operation) -> None:
        """Note that an operation is executed without a fault of its own, so that later ones are no next write."""
        self._is_next_write = self._awaits_write
        self._awaits_write = self._awaits_write and isinstance(operation, CREATES)

    def note_cut_clean_up(self, reader: LogReader) -> None:
        """Note what a clean-up of the log has left that a fault may have cut short."""
        self._left_in_log |= left_by_a_cut_clean_up(reader)

    def take_orphans(self, table: Path, hours: int, *, log_is_readable: bool) -> dict[str, int]:
        """Find the files that a fault has orphaned; returns how many new ones there are of each role."""
        self._awaits_write = True
        if not log_is_readable:
            return {}
        orphans = find_orphans(table, self._commits)
        new = {path: role for path, role in orphans.items() if path not in self._orphans}
        self._orphans = orphans
        for path in vacuumable(orphans):
            self._vacuumable.setdefault(path, hours)
        return by_role(new)

    def annotate(self, observation: Observation, hours: int) -> Observation:
        """The observation with what earlier faults have left to its step, which may have met a fault itself."""
        self._commits.remember(observation.folder)
        met = observation.fault_context
        if met is None and not (self._is_next_write or self._vacuumable or self._left_in_log):
            return observation
        left_over = tuple(
            OrphanedFile(path, hours - since, (observation.folder / path).exists())
            for path, since in sorted(self._vacuumable.items())
        )
        self._vacuumable = {file.path: self._vacuumable[file.path] for file in left_over if file.there}
        fault_context = met or FaultContext(next_write=self._is_next_write, left_in_log=self._left_in_log)
        return replace(observation, fault_context=replace(fault_context, left_over=left_over))


class FileDates:
    """Dates the files of a table by the engine's clock, for the kernel's clock does not move with it."""

    def __init__(
        self, instrumented_process: InstrumentedProcess, dated: Mapping[str, int] | None = None
    ) -> None:
        self._instrumented_process = instrumented_process
        self._dated = dict(dated or {})

    def copy(self) -> FileDates:
        """The same dates, for a copy of the table."""
        return FileDates(self._instrumented_process, self._dated)

    def set_clock(self, hours: int) -> None:
        """Set the engine's clock ahead by so many hours."""
        self._instrumented_process.advance(timedelta(hours=hours) - self._instrumented_process.ahead)

    def date_new_files(self, table: Path) -> None:
        """Give the files that are new the engine's time, where its clock is ahead."""
        if self._instrumented_process.ahead:
            self.date_files(table)

    def date_files(self, table: Path) -> None:
        """Give the files that are new the engine's time, and remember all of them.

        Those that it has renamed or linked have that time already: they are ahead of the true one.
        """
        ahead = self._instrumented_process.ahead // timedelta(microseconds=1) * 1000
        for path in files_of(table):
            file = table / path
            with contextlib.suppress(FileNotFoundError):  # gone again
                status = file.stat()
                is_dated = self._dated.get(path) == status.st_mtime_ns or status.st_mtime_ns > time.time_ns()
                if ahead and not is_dated:
                    os.utime(file, ns=(status.st_atime_ns + ahead, status.st_mtime_ns + ahead))
                self._dated[path] = file.stat().st_mtime_ns


def digests_of_commits(table: Path) -> dict[str, str]:
    """The names of a log's commits, each with a digest of its bytes."""
    return {
        path.name: hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
        for path in sorted((table / "_delta_log").glob("*.json"))
    }
