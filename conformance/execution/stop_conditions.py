"""Which violations end a history, and which are reported only once.

A history ends with the first violation after which an engine can't be held to what follows: one of a *must*, or of rows
that are then no longer the model's. The history goes on after any other violation, which is reported once.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from delta_models.requirements import BY_ID, Violation

HARMLESS = frozenset({
    "log.added-file-columns-known",  # readers go by the schema
    "log.path-is-uri",  # what can be decoded names one file, however it is spelt
})  # fmt: skip

FileState = tuple[int, ...]
LOG = "_delta_log"


def violations_that_end_history(violations: Sequence[Violation]) -> list[str]:
    """The requirements whose violation ends a history."""
    return [violation.requirement for violation in violations if _ends_history(violation.requirement)]


@dataclass(slots=True)
class ViolationDeduplicator:
    """The violations that were reported of the table in `folder`.

    A file stays for many steps, and its violation is reported once: on a shared table at the step of the engine that
    wrote the file. If another engine writes the file again, it answers for its own.
    """

    folder: Path
    _reported: set[tuple[str, str, str]] = field(default_factory=set)  # engine, requirement and place
    _files: set[tuple[str, str, FileState]] = field(
        default_factory=set
    )  # requirement, place and what was there

    def select_new(self, engine: str, violations: Sequence[Violation]) -> tuple[Violation, ...]:
        """The violations without those of files that were reported before."""
        new = []
        for violation in violations:
            place = (engine, violation.requirement, violation.where)
            file = (violation.requirement, violation.where, self._state_of(violation.where))
            stays = violation.where and BY_ID[violation.requirement].role == "writer"
            if not (stays and (place in self._reported or (file[2] and file in self._files))):
                new.append(violation)
            self._reported.add(place)
            self._files.add(file)
        return tuple(new)

    def _state_of(self, where: str) -> FileState:
        """What tells a file of the log from one that takes its place; nothing for what is no such file."""
        try:
            found = (self.folder / LOG / where).stat()
        except (OSError, ValueError):
            return ()
        return (found.st_ino, found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else ()


def _ends_history(requirement: str) -> bool:
    must = BY_ID[requirement].strength == "must" and requirement not in HARMLESS
    return must or requirement.startswith(("contents.", "write."))
