"""Waiting for a change of a folder: the kernel tells of it (inotify), and of the end of whoever is to make it."""

from __future__ import annotations

import ctypes
import os
import select
from collections.abc import Callable
from pathlib import Path

_CREATED, _MOVED_HERE = 0x100, 0x80


def wait_for(folder: Path, found: Callable[[], bool], pid: int) -> bool:
    """Wait until it is found in the folder or below; False if the process ended before that."""
    libc = ctypes.CDLL(None, use_errno=True)
    events = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    assert events >= 0, os.strerror(ctypes.get_errno())
    process = os.pidfd_open(pid)
    try:
        while True:
            # Watched first and looked at afterwards: what comes in between is told.
            for place, _, _ in os.walk(folder):
                libc.inotify_add_watch(events, os.fsencode(place), _CREATED | _MOVED_HERE)
            if found():
                return True
            if process in select.select([events, process], [], [])[0]:
                return False
            os.read(events, 1 << 16)
    finally:
        os.close(events)
        os.close(process)
