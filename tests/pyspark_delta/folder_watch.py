"""Wait for a change in a folder with inotify, or for the end of the process that should make it."""

from __future__ import annotations

import ctypes
import os
import select
from collections.abc import Callable
from pathlib import Path

_CREATED, _MOVED_HERE = 0x100, 0x80


def wait_for(folder: Path, is_done: Callable[[], bool], pid: int) -> bool:
    """Wait until `is_done` is true, checked after every change below the folder; false if the process ends before."""
    libc = ctypes.CDLL(None, use_errno=True)
    events = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    assert events >= 0, os.strerror(ctypes.get_errno())
    process = os.pidfd_open(pid)
    try:
        while True:
            # Watch first and check afterwards, so that no change in between is lost.
            for place, _, _ in os.walk(folder):
                libc.inotify_add_watch(events, os.fsencode(place), _CREATED | _MOVED_HERE)
            if is_done():
                return True
            if process in select.select([events, process], [], [])[0]:
                return False
            os.read(events, 1 << 16)
    finally:
        os.close(events)
        os.close(process)
