"""Folders for temporary tables, from which other tables are created."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_source(location: str) -> Iterator[Path]:
    """Yield a folder beside a table, for the source that the table is created from. It is removed at the end."""
    table = Path(location).resolve()
    folder = table.parent / f"{table.name}-source-{uuid.uuid4()}"
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
