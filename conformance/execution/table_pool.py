"""A pool of used table copies: each is restored and moved to where the next one is needed, a rename instead of a copy.

The pool checks what it restores. A file that is not the very one that was copied, unchanged, spoils the table, and the
pool makes another copy. The kernel's time of a file's last change, which no program can set, says whether it changed.
"""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

from conformance.engine_pool import clear
from conformance.execution.table_copies import copy_folder

_Mark = tuple[int, int]  # of a file its inode and the time of its last change, of a folder its times


class TablePool:
    """Copies of folders that stay as they are. `acquire` makes a copy, `release` hands it back."""

    def __init__(self) -> None:
        self._marks_of: dict[Path, dict[str, _Mark]] = {}
        self._used: defaultdict[Path, list[Path]] = defaultdict(list)

    def acquire(self, source: Path, to: Path) -> None:
        """Make a copy of a folder, from a used one if there is one that can be restored."""
        while self._used[source]:
            used = self._used[source].pop()
            marks = self._marks_of.pop(used)
            if _restore(used, marks):
                to.parent.mkdir(parents=True, exist_ok=True)
                used.rename(to)
                self._marks_of[to] = marks
                return
            clear(used)
        copy_folder(source, to)
        self._marks_of[to] = dict(_marks(to))

    def release(self, source: Path, folder: Path) -> None:
        """Hand back a copy that is not needed any more."""
        if folder in self._marks_of:
            self._used[source].append(folder)


def _marks(folder: Path) -> list[tuple[str, _Mark]]:
    marks = [("", _mark_of_folder(str(folder)))]
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(folder / below) as entries:
            for entry in entries:
                place = f"{below}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{place}/")
                    marks.append((f"{place}/", _mark_of_folder(entry.path)))
                else:
                    marks.append((place, _mark_of_file(entry)))
    return marks


def _mark_of_file(file: os.DirEntry[str]) -> _Mark:
    status = os.lstat(file.path)
    return status.st_ino, status.st_ctime_ns


def _mark_of_folder(path: str) -> _Mark:
    status = os.stat(path)  # noqa: PTH116 - as all here: thousands of these
    return status.st_atime_ns, status.st_mtime_ns


def _restore(folder: Path, marks: dict[str, _Mark]) -> bool:
    """Remove what has been added; returns whether all else is as it was."""
    left = len(marks) - 1
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(folder / below) as entries:
                children = list(entries)
        except FileNotFoundError:
            return False
        changed = False
        for child in children:
            place = f"{below}{child.name}"
            if child.is_dir(follow_symlinks=False):
                if f"{place}/" in marks:
                    waiting.append(f"{place}/")
                    left -= 1
                else:
                    clear(Path(child.path))
                    changed = True
            elif place not in marks:
                os.unlink(child.path)  # noqa: PTH108
                changed = True
            elif marks[place] == _mark_of_file(child):
                left -= 1
            else:
                return False
        if changed:
            os.utime(folder / below, ns=marks[below])
    return left == 0
