"""Files that are there whole or not at all, and one readable message where they can't be written."""

from __future__ import annotations

import os
from pathlib import Path


class CannotWrite(Exception):
    """A file can't be written. The message says which, why, and what to do."""


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that whoever opens it sees all of it, or the one before."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        message = f"can't write {path}: {error.strerror}. Free some space, or give another folder."
        raise CannotWrite(message) from error
