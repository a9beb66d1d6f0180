"""Copies one table many times: each copy is made, and cleared away, while another one is played."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, Self, TypeVar

from conformance.engine_pool import clear


class CopyableTable(Protocol):
    """A table of which a copy can be played elsewhere."""

    @property
    def folder(self) -> Path:
        """Where the table is."""

    def copy(self, folder: Path) -> Self:
        """The same table elsewhere, at the same point of its history."""


Table = TypeVar("Table", bound=CopyableTable)


_AT_ONCE = 1 << 20


def copy_folder(folder: Path, to: Path) -> None:
    """Copy all files of a folder with their times and rights, so that no engine can change both."""
    os.makedirs(to)  # noqa: PTH103 - as all below: thousands of these
    with os.scandir(folder) as entries:
        for entry in entries:
            target = os.path.join(to, entry.name)  # noqa: PTH118
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), target)  # noqa: PTH115, PTH211
            elif entry.is_dir():
                copy_folder(Path(entry.path), Path(target))
            else:
                _copy_file(entry, target)
    status = os.stat(folder)  # noqa: PTH116
    os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))


def _copy_file(file: os.DirEntry[str], to: str) -> None:
    source = os.open(file.path, os.O_RDONLY)
    try:
        status = os.fstat(source)
        target = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, status.st_mode & 0o777)
        try:
            while data := os.read(
                source, _AT_ONCE
            ):  # measured: half of what sendfile costs for files so small
                while data := data[os.write(target, data) :]:
                    pass
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(target)
    finally:
        os.close(source)


def copies(table: Table, folder: Path, many: int, kept: int = 0) -> Iterator[Table]:
    """So many copies of a table that is not played meanwhile, one after the other.

    A copy is cleared away when the next one is taken; if some are `kept`, that many copies later.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="copies") as aside:
        places = [folder / f"{number}" / "table" for number in range(many)]
        coming = aside.submit(table.copy, places[0]) if places else None
        played: deque[Table] = deque()
        for following in (*places[1:], None):
            if coming is None:
                return
            here = coming.result()
            coming = aside.submit(table.copy, following) if following is not None else None
            yield here
            played.append(here)
            if len(played) > kept:
                aside.submit(clear, played.popleft().folder.parent)
