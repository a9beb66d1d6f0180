"""The page that the controller shares with the shims of one process: a small mapped file, laid out as in `shim.c`."""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

MAGIC = 0x31454C4954535254
JOURNAL = 8192  # the offset of the journal
ROOM = 1 << 20
SIZE = JOURNAL + ROOM
LONGEST_ACTOR = 63
LONGEST_SOCKET = 107
LONGEST_TABLE = 4095

_INT32 = {"armed": 8, "killed": 12, "dead": 16, "root": 20, "limit": 48, "generation": 52,
          "journals": 4336, "asks": 4340, "asking": 4344, "controller": 4348,
          "gates": 4360, "grants": 4364}  # fmt: skip
_INT64 = {"magic": 0, "clock_ns": 24, "attached": 32, "refused": 40, "calls": 4328, "written": 4352}
_TEXT = {"actor": (56, LONGEST_ACTOR), "socket": (120, LONGEST_SOCKET), "table": (228, LONGEST_TABLE)}


class SharedPage:
    """The fields of the page by name.

    Each number is an aligned word, so that a shim never reads half of one. Text changes only while the shims are idle.
    """

    def __init__(self, path: Path, instrumented_process: str, socket: str, limit: int) -> None:
        self.path = path
        with path.open("w+b") as file:
            file.truncate(SIZE)
            self._map = mmap.mmap(file.fileno(), SIZE)
        self._text("actor", instrumented_process)
        self._text("socket", socket)
        self["limit"] = limit
        self["controller"] = os.getpid()
        self["magic"] = MAGIC

    def __getitem__(self, name: str) -> int:
        form, offset = ("=i", _INT32[name]) if name in _INT32 else ("=q", _INT64[name])
        return int(struct.unpack_from(form, self._map, offset)[0])

    def __setitem__(self, name: str, value: int) -> None:
        form, offset = ("=i", _INT32[name]) if name in _INT32 else ("=q", _INT64[name])
        struct.pack_into(form, self._map, offset, value)

    def watch(self, table: str) -> None:
        """Make this folder the table."""
        self._text("table", table)

    def part(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets."""
        return self._map[start:end]

    def wipe(self, start: int, end: int) -> None:
        """Set the bytes between two offsets to zero."""
        self._map[start:end] = bytes(end - start)

    def close(self) -> None:
        """Unmap the page. The file stays for the shims that have mapped it."""
        self._map.close()

    def _text(self, name: str, value: str) -> None:
        offset, longest = _TEXT[name]
        data = value.encode()
        if len(data) > longest:
            raise ValueError(f"{name} {value!r} is longer than {longest} bytes")
        self._map[offset : offset + longest + 1] = data.ljust(longest + 1, b"\0")
