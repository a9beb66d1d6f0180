"""Write files whole or not at all, with one readable message if that fails."""

from __future__ import annotations

import os
from pathlib import Path


class CannotWrite(Exception):
    """A file can't be written. The message names the file, the reason and the cure."""


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that a reader sees all of it or the file before. Raises CannotWrite."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        message = f"can't write {path}: {error.strerror}. Free some space, or give another folder."
        raise CannotWrite(message) from error
