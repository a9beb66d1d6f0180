"""Records what one operation of an instrumented process did at the storage boundary.

Its shims ask the controller about some calls, and write the others into the journal themselves. Both end in one list.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from dataclasses import replace

from conformance.fault_injection.fault_actions import FaultAction, LoseReply, Tear
from conformance.fault_injection.journal import StorageJournal
from conformance.fault_injection.shared_page import SharedPage
from conformance.fault_injection.storage_events import RecordedEvent, StorageCall, StorageEvent


class OperationRecorder:
    """Numbers the calls of one operation, and keeps what became of each. Its methods need the turnstile's lock.

    `problems` say what could not be done as the rules or the schedule want it.
    """

    def __init__(self, page: SharedPage, process: str) -> None:
        self.problems: list[str] = []
        self._page = page
        self._journal = StorageJournal(page, process)
        self._counts: Counter[str] = Counter()
        self._answered: list[RecordedEvent] = []
        self._under_way: dict[socket.socket, int] = {}  # the place of a call in `_answered`
        self._refused_before = 0

    def begin(self, *, journals: bool) -> None:
        """Forget the last operation. With `journals` the shims write down the calls that they do not ask about."""
        self.problems = []
        self._journal.begin()
        self._page["journals"] = int(journals)
        self._counts, self._answered, self._under_way = Counter(), [], {}
        self._refused_before = self._page["refused"]

    @property
    def journals(self) -> bool:
        """Whether the shims write calls into the journal."""
        return bool(self._page["journals"])

    @property
    def awaits_results(self) -> bool:
        """Whether a shim has not said yet what came of a call that it asked about."""
        return bool(self._under_way)

    @property
    def refused(self) -> int:
        """How many changes a dead table did not let through."""
        return self._page["refused"] - self._refused_before

    def number(self, call: StorageCall) -> StorageEvent:
        """Return a call with its number among those of its role."""
        role = call.role
        event = StorageEvent(call, role, self._counts[role])
        self._counts[role] += not call.noted  # a noted call counts when the journal is read
        return event

    def record_answer(self, connection: socket.socket, event: StorageEvent, action: FaultAction) -> None:
        """Record what the controller answers to a call. Its result will come by the same connection."""
        self._under_way[connection] = len(self._answered)
        self._answered.append(RecordedEvent(event, action))

    def record_result(self, connection: socket.socket, errno: int, untearable: bool) -> None:
        """Record what came of a call that the controller let the process make."""
        index = self._under_way.pop(connection, None)
        if index is None:
            return
        self._answered[index] = replace(self._answered[index], errno=errno)
        event, action = self._answered[index].event, self._answered[index].action
        if untearable:
            self.problems.append(f"{event} could not be torn: it writes no file of its own")
        elif errno and isinstance(action, Tear | LoseReply):
            self.problems.append(
                f"{event} failed by itself ({os.strerror(errno)}), so no {action} took place"
            )

    def drop(self, connection: socket.socket) -> None:
        """Expect no result by a connection any more: it has closed."""
        self._under_way.pop(connection, None)

    def read_journal(self) -> list[StorageEvent]:
        """Number what the shims have written down since the last call; return the granted gates among it."""
        return self._journal.read(self._counts)

    def journal_is_open(self) -> bool:
        """Whether a call in the journal is still under way."""
        return self._journal.is_open()

    def events(self) -> list[RecordedEvent]:
        """All that has been recorded, as far as the journal has been read."""
        return [*self._journal.events(), *self._answered] if self.journals else self._answered

    def end(self) -> list[RecordedEvent]:
        """Return all that has been recorded, and take the journal out of use."""
        self._answered = self.events()
        self._page["journals"] = 0
        return self._answered
