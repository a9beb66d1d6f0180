"""Tables that others are made from, and that are gone afterwards."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_source(location: str) -> Iterator[Path]:
    """A folder beside a table, for the one that it is created from; gone at the end, with whatever became of both."""
    table = Path(location).resolve()
    folder = table.parent / f"{table.name}-source-{uuid.uuid4()}"
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
