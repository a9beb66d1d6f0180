"""The journal of an instrumented process: calls that its shims wrote down without asking, in their order."""

from __future__ import annotations

import os
import struct
from collections import Counter

from conformance.fault_injection.fault_actions import PASS
from conformance.fault_injection.shared_page import JOURNAL, ROOM, SharedPage
from conformance.fault_injection.storage_events import KINDS, RecordedEvent, StorageCall, StorageEvent

_ENTRY = struct.Struct("=6i")
_COMING, _UNDER_WAY, _OVER = range(3)
_GRANTED = 256  # added to its kind: the call passed a gate by a grant


class StorageJournal:
    """Reads what one operation wrote into the shared page, behind its fields."""

    def __init__(self, page: SharedPage, instrumented_process: str) -> None:
        self._page = page
        self._process = instrumented_process
        self._offset = 0
        self._entries: list[tuple[int, StorageEvent]] = []

    def begin(self) -> None:
        """Wipe the journal for another operation."""
        self._page.wipe(JOURNAL, JOURNAL + min(self._page["written"], ROOM))
        self._page["written"] = self._page["asking"] = 0
        self._offset = 0
        self._entries = []

    def read(self, counts: Counter[str]) -> list[StorageEvent]:
        """Read the entries that are new, and return the granted gates among them.

        `counts` holds how many events of each role there were, and goes on counting.
        """
        granted: list[StorageEvent] = []
        end = min(self._page["written"], ROOM)
        while self._offset < end:
            start = JOURNAL + self._offset
            length, state, _, kind, pid, _ = _ENTRY.unpack(self._page.part(start, start + _ENTRY.size))
            if state == _COMING:
                break
            text = self._page.part(start + _ENTRY.size, start + length)
            path, source, thread = (part.decode("utf-8", "surrogateescape") for part in text.split(b"\0")[:3])
            call = StorageCall(self._process, KINDS[kind & ~_GRANTED], path, source, pid, thread)
            role = call.role
            event = StorageEvent(call, role, counts[role])
            self._entries.append((start, event))
            if kind & _GRANTED:
                granted.append(event)
            counts[role] += 1
            self._offset += length
        return granted

    def is_open(self) -> bool:
        """Whether a call that has been read is still under way, in a process that lives."""
        return any(
            self._state(start)[0] != _OVER and os.path.exists(f"/proc/{event.call.pid}")  # noqa: PTH110
            for start, event in self._entries
        )

    def events(self) -> list[RecordedEvent]:
        """Return the calls that have been read, with what came of each."""
        events = []
        for start, event in self._entries:
            state, errno = self._state(start)
            events.append(RecordedEvent(event, PASS, errno if state == _OVER else None))
        return events

    def _state(self, start: int) -> tuple[int, int]:
        _, state, errno, *_ = _ENTRY.unpack(self._page.part(start, start + _ENTRY.size))
        return state, errno
