"""A storage for tests: `test://NAME/...` is a local folder that code can reach through `storage` and `log.store` only.

Like an object store, it has no local paths for log files and no folders to query.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pyspark import cloudpickle

from pyspark_delta.log.store import LocalStore, LogStore
from pyspark_delta.storage import Entry, LocalStorage, register_storage

SCHEME = "test"
BUCKET = f"{SCHEME}://bucket/"


def mount(folder: Path) -> str:
    """Register the folder as a storage and return its URI."""
    # Spark's workers can't import the tests, so the classes are pickled with the work.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    register_storage(SCHEME, OtherStorage(str(folder)), LogStoreOfFolder(str(folder)))
    return BUCKET.rstrip("/")


@dataclass(frozen=True)
class OtherStorage(LocalStorage):
    """The storage for data files."""

    folder: str
    asks_cheaply = False

    def _local_path(self, place: str) -> str:
        assert place.startswith(BUCKET), place
        return f"{self.folder}/{place.removeprefix(BUCKET)}"

    def for_spark(self, place: str) -> str:
        return super().for_spark(self._local_path(place))

    def real(self, place: str) -> str:
        return place

    def entries(self, folder: str) -> list[Entry]:
        return super().entries(self._local_path(folder))

    def entry(self, place: str) -> Entry:
        return super().entry(self._local_path(place))

    def exists(self, place: str) -> bool:
        return super().exists(self._local_path(place))

    def open(self, place: str) -> IO[bytes]:
        return super().open(self._local_path(place))

    def create(self, place: str) -> IO[bytes]:
        return super().create(self._local_path(place))

    def move(self, place: str, goal: str) -> None:
        super().move(self._local_path(place), self._local_path(goal))

    def copy(self, place: str, goal: str) -> None:
        super().copy(self._local_path(place), self._local_path(goal))

    def remove(self, place: str) -> None:
        super().remove(self._local_path(place))

    def remove_folder(self, folder: str) -> bool:
        return super().remove_folder(self._local_path(folder))

    def remove_tree(self, folder: str) -> None:
        super().remove_tree(self._local_path(folder))


@dataclass(frozen=True)
class LogStoreOfFolder:
    """Makes the store of a table's log."""

    folder: str

    def __call__(self, root: str) -> LogStore:
        return LogFiles(self.folder, root)


class LogFiles(LocalStore):
    """The files of a log; they appear whole or not at all, as in an object store."""

    def __init__(self, folder: str, root: str) -> None:
        super().__init__(root)
        self._folder = folder

    def _path(self, name: str) -> str:
        return f"{self._folder}/{self.root.removeprefix(BUCKET)}/{name}"

    def read_many(self, names: Sequence[str]) -> list[bytes]:
        return [self.read(name) for name in names]

    def local_path(self, name: str) -> str | None:
        return None

    def put_with(self, name: str, write: Callable[[str], None]) -> int:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "file")
            write(str(file))
            data = file.read_bytes()
        self.put(name, data)
        return len(data)
