"""The store of a table's log: listing, reading, and the put-if-absent on which every commit depends.

Names are relative to the table's folder and use `/`. Stores for other storages are registered by URI scheme.
"""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote, urlsplit

from pyspark_delta.exceptions import InvalidArgument

__all__ = ["FileExists", "FileStat", "LocalStore", "LogStore", "open_store", "register_store", "table_path"]


class FileExists(Exception):
    """Another writer already took the name."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """A file in a listing; the name is relative to the listed folder."""

    name: str
    size: int
    mtime_ms: int


class LogStore(Protocol):
    """What the log needs of a storage."""

    root: str

    def names_from(self, folder: str, first_name: str = "") -> list[str]:
        """The sorted names of a folder's files from the given name on; none if there is no folder."""

    def list_from(self, folder: str, first_name: str = "") -> list[FileStat]:
        """As `names_from`, with sizes and times."""

    def stat(self, name: str) -> FileStat:
        """Size and time of a file; FileNotFoundError if it does not exist."""

    def identity(self, name: str) -> tuple[int, ...] | None:
        """A value that changes when the file is replaced; None if it does not exist."""

    def read(self, name: str) -> bytes:
        """The whole file; FileNotFoundError if it does not exist."""

    def read_many(self, names: Sequence[str]) -> list[bytes]:
        """Several whole files, in order."""

    def put_if_absent(self, name: str, data: bytes) -> None:
        """Create the file with these bytes atomically, also between processes, or raise FileExists."""

    def put(self, name: str, data: bytes) -> None:
        """Create or replace the file atomically."""

    def put_with(self, name: str, write: Callable[[str], None]) -> int:
        """As `put`, for large files: `write` fills the local file at the path it receives; return the size."""

    def delete(self, names: Iterable[str]) -> None:
        """Delete files; missing ones are ignored."""

    def exists(self, name: str) -> bool:
        """Whether the file exists."""

    def local_path(self, name: str) -> str | None:
        """The path by which this process can open the file directly; None if there is none."""


class LocalStore:
    """A folder on a disk. A commit is a hard link, which fails if the name is taken, also between hosts."""

    def __init__(self, root: str) -> None:
        self.root = root

    def names_from(self, folder: str, first_name: str = "") -> list[str]:  # noqa: D102 - as LogStore says
        try:
            names = os.listdir(self._path(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        if first_name:
            names = [name for name in names if name >= first_name]
        names.sort()
        return names

    def list_from(self, folder: str, first_name: str = "") -> list[FileStat]:  # noqa: D102 - as LogStore says
        stats = []
        try:
            with os.scandir(self._path(folder)) as entries:
                for entry in entries:
                    if entry.name < first_name:
                        continue
                    with contextlib.suppress(
                        FileNotFoundError
                    ):  # removed by another process since the listing
                        stat = entry.stat()
                        stats.append(FileStat(entry.name, stat.st_size, stat.st_mtime_ns // 1_000_000))
        except (FileNotFoundError, NotADirectoryError):
            return []
        stats.sort(key=lambda file: file.name)
        return stats

    def stat(self, name: str) -> FileStat:  # noqa: D102 - as LogStore says
        stat = os.stat(self._path(name))
        return FileStat(name, stat.st_size, stat.st_mtime_ns // 1_000_000)

    def identity(self, name: str) -> tuple[int, ...] | None:  # noqa: D102 - as LogStore says
        try:
            stat = os.stat(self._path(name))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns

    def read(self, name: str) -> bytes:  # noqa: D102 - as LogStore says
        return _read(self._path(name))

    def read_many(self, names: Sequence[str]) -> list[bytes]:  # noqa: D102 - as LogStore says
        root = self.root
        return [_read(f"{root}/{name}") for name in names]

    def put_if_absent(self, name: str, data: bytes) -> None:  # noqa: D102 - as LogStore says
        path = self._path(name)
        staged = self._stage(path, data)
        try:
            os.link(staged, path)
        except FileExistsError as taken:
            raise FileExists(name) from taken
        finally:
            _forget(staged)

    def put(self, name: str, data: bytes) -> None:  # noqa: D102 - as LogStore says
        path = self._path(name)
        staged = self._stage(path, data)
        try:
            _forget(_side_checksum(path))
            os.replace(staged, path)
        except OSError:
            _forget(staged)
            raise

    def put_with(self, name: str, write: Callable[[str], None]) -> int:  # noqa: D102 - as LogStore says
        path = self._path(name)
        staged = _staging_name(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            write(staged)
            size = os.stat(staged).st_size
            _forget(_side_checksum(path))
            os.replace(staged, path)
        except BaseException:
            _forget(staged)
            raise
        return size

    def delete(self, names: Iterable[str]) -> None:  # noqa: D102 - as LogStore says
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path(name))

    def exists(self, name: str) -> bool:  # noqa: D102 - as LogStore says
        return os.path.exists(self._path(name))

    def local_path(self, name: str) -> str | None:  # noqa: D102 - as LogStore says
        return self._path(name)

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}"

    @staticmethod
    def _stage(path: str, data: bytes) -> str:
        staged = _staging_name(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            descriptor = os.open(staged, flags, 0o666)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            descriptor = os.open(staged, flags, 0o666)
        try:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(descriptor, view) :]
            finally:
                os.close(descriptor)  # a failed write may be reported only here
        except BaseException:
            _forget(staged)
            raise
        return staged


def table_path(path: str | os.PathLike[str]) -> str:
    """The canonical spelling of a table's place: an absolute path, or the URI of another storage."""
    text = os.fspath(path)
    if not text:
        raise InvalidArgument("the path of a table is empty", "Give a folder, or a file: URI.")
    scheme = urlsplit(text).scheme if ":" in text else ""
    if scheme == "file":
        text = unquote(urlsplit(text).path)
    elif len(scheme) > 1 and ("://" in text or scheme in _STORES):
        return text.rstrip("/")
    return os.path.abspath(text)


def open_store(path: str | os.PathLike[str]) -> LogStore:
    """The store of the table at this path."""
    place = table_path(path)
    scheme = "" if place.startswith("/") else urlsplit(place).scheme
    try:
        return _STORES[scheme](place)
    except KeyError:
        known = ", ".join(sorted(name or "local paths" for name in _STORES))
        raise InvalidArgument(
            f"no store for `{scheme}:` ({place})",
            f"Use one of {known}, or register one with register_store().",
        ) from None


def register_store(scheme: str, make: Callable[[str], LogStore]) -> None:
    """Register a store for tables under a URI scheme."""
    _STORES[scheme] = make


_STORES: dict[str, Callable[[str], LogStore]] = {"": LocalStore}


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except NotADirectoryError as nothing:  # a parent of the path is a file, so the path does not exist
        raise FileNotFoundError(*nothing.args, path) from nothing
    try:
        # One read call is enough for nearly every commit, so the size is not looked up.
        data = os.read(descriptor, _CHUNK)
        if len(data) < _CHUNK:
            return data
        parts = [data]
        while data := os.read(descriptor, 1 << 24):
            parts.append(data)
        return b"".join(parts)
    finally:
        os.close(descriptor)


_CHUNK = 1 << 16


def _staging_name(path: str) -> str:
    """A hidden name, which no engine takes for data or a commit."""
    folder, name = os.path.split(path)
    return f"{folder}/.{name}.{uuid.uuid4().hex}.tmp"


def _side_checksum(path: str) -> str:
    """The name of Hadoop's checksum of a file. If it stays, Hadoop refuses the next file of the same name."""
    folder, name = os.path.split(path)
    return f"{folder}/.{name}.crc"


def _forget(staged: str) -> None:
    # A staging file that stays does no harm, and this error must not hide the one before it.
    with contextlib.suppress(OSError):
        os.unlink(staged)


def is_out_of_space(error: OSError) -> bool:
    """Whether the error says that the disk or the user's quota is full."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT}
