"""Tables that were played, made good as they were and moved to where the next is wanted: a rename in place of a copy.

What is made good is checked: a file that is not the very one that was laid there, and as it was laid, spoils the table,
and another is copied. The kernel's time of a file's last change, which nobody can set, says whether it is as it was.
"""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

from conformance.engine_pool import clear
from conformance.execution.table_copies import copy_folder

_Mark = tuple[int, int]  # of a file its inode and the time of its last change, of a folder its times


class TablePool:
    """Copies of folders that stay as they are, each laid by `acquire` and handed back by `release`."""

    def __init__(self) -> None:
        self._laid: dict[Path, dict[str, _Mark]] = {}
        self._used: defaultdict[Path, list[Path]] = defaultdict(list)

    def acquire(self, source: Path, to: Path) -> None:
        """Have a copy of a folder, one that was used before if there is one."""
        while self._used[source]:
            used = self._used[source].pop()
            marks = self._laid.pop(used)
            if _make_good(used, marks):
                to.parent.mkdir(parents=True, exist_ok=True)
                used.rename(to)
                self._laid[to] = marks
                return
            clear(used)
        copy_folder(source, to)
        self._laid[to] = dict(_marks(to))

    def release(self, source: Path, folder: Path) -> None:
        """It is not needed any more."""
        if folder in self._laid:
            self._used[source].append(folder)


def _marks(folder: Path) -> list[tuple[str, _Mark]]:
    found = [("", _mark_of_folder(str(folder)))]
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(folder / below) as entries:
            for entry in entries:
                place = f"{below}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{place}/")
                    found.append((f"{place}/", _mark_of_folder(entry.path)))
                else:
                    found.append((place, _mark_of_file(entry)))
    return found


def _mark_of_file(file: os.DirEntry[str]) -> _Mark:
    status = os.lstat(file.path)
    return status.st_ino, status.st_ctime_ns


def _mark_of_folder(path: str) -> _Mark:
    status = os.stat(path)  # noqa: PTH116 - as all here: thousands of these
    return status.st_atime_ns, status.st_mtime_ns


def _make_good(folder: Path, marks: dict[str, _Mark]) -> bool:
    """Take away what has come, and say whether all else is as it was."""
    left = len(marks) - 1
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(folder / below) as entries:
                found = list(entries)
        except FileNotFoundError:
            return False
        changed = False
        for each in found:
            place = f"{below}{each.name}"
            if each.is_dir(follow_symlinks=False):
                if f"{place}/" in marks:
                    waiting.append(f"{place}/")
                    left -= 1
                else:
                    clear(Path(each.path))
                    changed = True
            elif place not in marks:
                os.unlink(each.path)  # noqa: PTH108
                changed = True
            elif marks[place] == _mark_of_file(each):
                left -= 1
            else:
                return False
        if changed:
            os.utime(folder / below, ns=marks[below])
    return left == 0
