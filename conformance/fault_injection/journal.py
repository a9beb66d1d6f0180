"""What an actor's shims have written down by themselves: calls that nobody had to be asked about, in their order."""

from __future__ import annotations

import os
import struct
from collections import Counter

from conformance.fault_injection.fault_actions import PASS
from conformance.fault_injection.shared_page import JOURNAL, ROOM, SharedPage
from conformance.fault_injection.storage_events import KINDS, RecordedEvent, StorageCall, StorageEvent

_ENTRY = struct.Struct("=6i")
_COMING, _UNDER_WAY, _OVER = range(3)
_GRANTED = 256  # with its kind: a gate that the shim let it through by a grant


class StorageJournal:
    """The part of a page behind its fields. Asked of what one operation did; it is wiped when the next one begins."""

    def __init__(self, page: SharedPage, instrumented_process: str) -> None:
        self._page = page
        self._actor = instrumented_process
        self._at = 0
        self._found: list[tuple[int, StorageEvent]] = []

    def begin(self) -> None:
        """Another operation."""
        self._page.wipe(JOURNAL, JOURNAL + min(self._page["written"], ROOM))
        self._page["written"] = self._page["asking"] = 0
        self._at = 0
        self._found = []

    def read(self, counts: Counter[str]) -> list[StorageEvent]:
        """Take in what has come since. `counts` says how many there were of each role, and goes on counting.

        Returns what of it was a gate that had been granted.
        """
        granted: list[StorageEvent] = []
        end = min(self._page["written"], ROOM)
        while self._at < end:
            start = JOURNAL + self._at
            length, state, _, kind, pid, _ = _ENTRY.unpack(self._page.part(start, start + _ENTRY.size))
            if state == _COMING:
                break
            text = self._page.part(start + _ENTRY.size, start + length)
            path, source, thread = (part.decode("utf-8", "surrogateescape") for part in text.split(b"\0")[:3])
            call = StorageCall(self._actor, KINDS[kind & ~_GRANTED], path, source, pid, thread)
            role = call.role
            event = StorageEvent(call, role, counts[role])
            self._found.append((start, event))
            if kind & _GRANTED:
                granted.append(event)
            counts[role] += 1
            self._at += length
        return granted

    def moves(self) -> bool:
        """Whether a call that has been read is still under way, in a process that lives."""
        return any(
            self._state(start)[0] != _OVER and os.path.exists(f"/proc/{event.call.pid}")  # noqa: PTH110
            for start, event in self._found
        )

    def happened(self) -> list[RecordedEvent]:
        """What has been read, and what came of it."""
        found = []
        for start, event in self._found:
            state, errno = self._state(start)
            found.append(RecordedEvent(event, PASS, errno if state == _OVER else None))
        return found

    def _state(self, start: int) -> tuple[int, int]:
        _, state, errno, *_ = _ENTRY.unpack(self._page.part(start, start + _ENTRY.size))
        return state, errno
