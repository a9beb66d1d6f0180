"""Where files lie that are no part of the log: the one module that knows how to reach them.

A *place* is an absolute path, or the URI of another storage, as `partition_values.absolute_path` gives it. What Spark
reads and writes itself it gets as `for_spark` says. A storage for another scheme is registered here, as its store for
the log is in `log.store`; it travels to workers with the work, so it can be pickled.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Protocol, TypeAlias
from urllib.parse import urlsplit

from pyspark_delta.exceptions import InvalidArgument, StorageFailure
from pyspark_delta.log.store import LogStore, is_out_of_space, register_store

__all__ = [
    "Entry",
    "LocalStorage",
    "Registered",
    "Storage",
    "copy",
    "exists",
    "register_again",
    "register_storage",
    "registered",
    "storage_failures",
    "storage_of",
]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a listing shows: a file, or a folder, whose size is 0."""

    name: str
    is_folder: bool
    size: int
    mtime_ms: int
    is_link: bool = False


class Storage(Protocol):
    """What is asked of a storage for data files. A file that is not there is a FileNotFoundError."""

    asks_cheaply: bool
    """Whether to ask for a file costs next to nothing, so that reads look first whether all of theirs are there."""

    def for_spark(self, place: str) -> str:
        """The path or URI for Spark's readers and writers."""

    def real(self, place: str) -> str:
        """The one spelling of a place that has several."""

    def entries(self, folder: str) -> list[Entry]:
        """What is in a folder, by name; nothing if there is no folder. Links are told as what they are themselves."""

    def entry(self, place: str) -> Entry:
        """A file, or a folder."""

    def exists(self, place: str) -> bool:
        """Whether there is something."""

    def open(self, place: str) -> IO[bytes]:
        """A file to be read, anywhere in it."""

    def create(self, place: str) -> IO[bytes]:
        """A new file to be written, and the folders on the way."""

    def move(self, place: str, goal: str) -> None:
        """Give a file another name, where nothing is; makes the folders on the way."""

    def copy(self, place: str, goal: str) -> None:
        """The same bytes again; makes the folders on the way."""

    def remove(self, place: str) -> None:
        """Remove a file, and what is kept beside it about it."""

    def remove_folder(self, folder: str) -> bool:
        """Remove a folder; False if something is in it, or it is not there."""

    def remove_tree(self, folder: str) -> None:
        """Remove a folder of one's own and all in it, as far as that goes."""


Registered: TypeAlias = "dict[str, tuple[Storage, Callable[[str], LogStore]]]"


class LocalStorage:
    """Folders on disks."""

    asks_cheaply = True

    def for_spark(self, place: str) -> str:  # noqa: D102 - as Storage says
        return f"file:{place}"

    def real(self, place: str) -> str:  # noqa: D102 - as Storage says
        return os.path.realpath(place)

    def entries(self, folder: str) -> list[Entry]:  # noqa: D102 - as Storage says
        return sorted(_entries(folder), key=lambda entry: entry.name)

    def entry(self, place: str) -> Entry:  # noqa: D102 - as Storage says
        stat = os.stat(place)
        return Entry(os.path.basename(place), os.path.isdir(place), stat.st_size, _ms(stat))

    def exists(self, place: str) -> bool:  # noqa: D102 - as Storage says
        return os.path.exists(place)

    def open(self, place: str) -> IO[bytes]:  # noqa: D102 - as Storage says
        return open(place, "rb")  # measured: a third of the time of pathlib's or of Arrow's own opening

    def create(self, place: str) -> IO[bytes]:  # noqa: D102 - as Storage says
        os.makedirs(os.path.dirname(place), exist_ok=True)
        return open(place, "xb")

    def move(self, place: str, goal: str) -> None:  # noqa: D102 - as Storage says
        try:
            os.rename(place, goal)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(goal), exist_ok=True)
            os.rename(place, goal)

    def copy(self, place: str, goal: str) -> None:  # noqa: D102 - as Storage says
        os.makedirs(os.path.dirname(goal), exist_ok=True)
        shutil.copyfile(place, goal)

    def remove(self, place: str) -> None:  # noqa: D102 - as Storage says
        os.unlink(place)
        folder, name = os.path.split(place)
        with suppress(OSError):  # Hadoop's checksum of it, if there is one
            os.unlink(f"{folder}/.{name}.crc")

    def remove_folder(self, folder: str) -> bool:  # noqa: D102 - as Storage says
        try:
            os.rmdir(folder)
        except OSError:
            return False
        return True

    def remove_tree(self, folder: str) -> None:  # noqa: D102 - as Storage says
        shutil.rmtree(folder, ignore_errors=True)


def exists(place: str) -> bool:
    """Whether there is something at a place."""
    return storage_of(place).exists(place)


def copy(place: str, goal: str) -> None:
    """The same bytes again, on another storage too."""
    source, target = storage_of(place), storage_of(goal)
    if source is target:
        source.copy(place, goal)
    else:
        with source.open(place) as reading, target.create(goal) as writing:
            shutil.copyfileobj(reading, writing, _CHUNK)


def storage_of(place: str) -> Storage:
    """The storage of a place."""
    scheme = "" if place.startswith("/") else urlsplit(place).scheme
    try:
        return _STORAGES[scheme]
    except KeyError:
        raise InvalidArgument(
            f"no storage for `{scheme}:` ({place})", "Register one with register_storage()."
        ) from None


def register_storage(scheme: str, storage: Storage, log_store: Callable[[str], LogStore]) -> None:
    """Let tables under this URI scheme be reached through a storage of one's own, and their logs through its store.

    `log_store` makes the store of the table whose place it is given.
    """
    register_again({scheme: (storage, log_store)})


@contextmanager
def storage_failures(failure: str) -> Iterator[None]:
    """Let what the system says of the storage be a StorageFailure, which tells what could not be done."""
    try:
        yield
    except ConnectionError:  # no word of the storage: a JVM that has died
        raise
    except OSError as problem:
        cause = "the disk is full" if is_out_of_space(problem) else f"the storage refuses it ({problem})"
        raise StorageFailure(f"{failure}: {cause}") from problem


def registered() -> Registered:
    """What was registered, for a worker that is to reach the same places."""
    return dict(_REGISTERED)


def register_again(storages: Registered) -> None:
    """Register what another process had registered."""
    for scheme, (storage, log_store) in storages.items():
        _REGISTERED[scheme] = storage, log_store
        _STORAGES[scheme] = storage
        register_store(scheme, log_store)


_CHUNK = 1 << 20
_STORAGES: dict[str, Storage] = {"": LocalStorage()}
_REGISTERED: Registered = {}


def _entries(folder: str) -> Iterator[Entry]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for item in entries:
            with suppress(FileNotFoundError):  # gone since
                stat = item.stat(follow_symlinks=False)
                is_folder = item.is_dir(follow_symlinks=False)
                yield Entry(
                    item.name, is_folder, 0 if is_folder else stat.st_size, _ms(stat), item.is_symlink()
                )


def _ms(stat: os.stat_result) -> int:
    return stat.st_mtime_ns // 1_000_000
