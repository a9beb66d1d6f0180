"""Copies of one table, each made while the one before it is played, and cleared away while the next one is."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, Self, TypeVar

from conformance.hosts import clear


class Copied(Protocol):
    """A table that can be played elsewhere from where it stands."""

    folder: Path

    def copy(self, folder: Path) -> Self:
        """The same table elsewhere, at the same point of its history."""


Table = TypeVar("Table", bound=Copied)


def copies(table: Table, folder: Path, many: int) -> Iterator[Table]:
    """So many copies, one after the other; each is gone once the next one is asked for. `table` stays at rest."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="copies") as aside:
        places = [folder / f"{at}" / "table" for at in range(many)]
        coming = aside.submit(table.copy, places[0]) if places else None
        for following in (*places[1:], None):
            if coming is None:
                return
            here = coming.result()
            coming = aside.submit(table.copy, following) if following is not None else None
            yield here
            aside.submit(clear, here.folder.parent)
