"""The folder of a run: a new one for each run, and the link `latest` to the newest."""

from __future__ import annotations

import itertools
import os
from datetime import UTC, datetime
from pathlib import Path

from conformance.reporting.atomic_write import CannotWrite

LATEST = "latest"


def new_run_folder(out: Path, now: datetime | None = None) -> Path:
    """Make a new folder inside `out`, named after the time. Raises CannotWrite.

    Two runs that begin in the same second get different folders. `out` is made if it does not exist.
    """
    name = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H-%M-%SZ")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):
            folder = out / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        why = "it is a file" if isinstance(error, FileExistsError | NotADirectoryError) else error.strerror
        message = f"can't make a folder for the run in {out}: {why}. Give another one with --out."
        raise CannotWrite(message) from error
    raise AssertionError  # the count never ends


def point_latest(folder: Path) -> None:
    """Point the link `latest`, beside the folder, at it. A file or folder of that name stays. Raises CannotWrite."""
    link = folder.parent / LATEST
    if link.exists() and not link.is_symlink():
        return
    beside = folder.parent / f".{LATEST}.{os.getpid()}"
    try:
        beside.unlink(missing_ok=True)
        beside.symlink_to(folder.name)
        beside.replace(link)
    except OSError as error:
        message = f"can't point {link} at the run: {error.strerror}. The run is in {folder}."
        raise CannotWrite(message) from error
