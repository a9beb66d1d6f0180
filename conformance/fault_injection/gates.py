"""The gates of a writer: which storage calls they are, and who decides at which of them a process pauses.

A writer has four gates, and passes each at most once an operation: *snapshot* (it looks at the log), *data* (its first
data, vector or change file), *staging* (the temporary file of its commit), *publish* (the commit gets its name).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from conformance.fault_injection import file_roles
from conformance.fault_injection.storage_events import StorageEvent

SNAPSHOT, DATA, STAGING, PUBLISH = GATES = ("snapshot", "data", "staging", "publish")
SNAPSHOT_CALLS, DATA_CALLS, LOG_CALLS = 1, 2, 4  # the classes of calls in `shim.c`

_GATE_OF_ROLE = {
    file_roles.LIST: SNAPSHOT,
    **{
        f"{role}{suffix}": DATA
        for role in (file_roles.DATA, file_roles.VECTOR, file_roles.CHANGE)
        for suffix in ("", "-staging")
    },
    file_roles.STAGING: STAGING,
    file_roles.COMMIT: PUBLISH,
}  # fmt: skip

_CLASS_OF_GATE = {SNAPSHOT: SNAPSHOT_CALLS, DATA: DATA_CALLS, STAGING: LOG_CALLS, PUBLISH: LOG_CALLS}


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What a gatekeeper decides on a call: `pauses`, and how many further gates the process passes without asking.

    If `grants` is None, the number of gates that were granted before does not change.
    """

    pauses: bool = False
    grants: int | None = None


PASS_ON = GateDecision()
PAUSE_HERE = GateDecision(pauses=True)


class Gatekeeper(Protocol):
    """Decides at which gates a process pauses.

    An instrumented process asks its gatekeeper while it holds the turnstile's lock, and carries the decision out. The
    gatekeeper calls nothing back.
    """

    @property
    def open_gates(self) -> int:
        """The gates that the operation has not passed, as bits. The first gate is the lowest bit."""

    @property
    def doubtful_classes(self) -> int:
        """The classes of calls that may be at an open gate, as bits.

        A shim asks about a call of these classes if the name of the file does not tell the gate.
        """

    def decide(self, event: StorageEvent, /) -> GateDecision:
        """Decide on a call that a shim asked about."""

    def note_granted(self, event: StorageEvent, /) -> None:
        """Take note that the process passed a granted gate without asking."""


@dataclass(slots=True)
class GateTracker:
    """The gates that one operation has passed. Call it with each event of the operation.

    A gate in `closed` counts as no gate. An operation does not come back to a gate that it has left out.
    """

    passed: list[str] = field(default_factory=list)
    closed: frozenset[str] = frozenset()

    @property
    def open_gates(self) -> int:
        """The gates that the operation may still come to, as bits."""
        return sum(1 << GATES.index(gate) for gate in self._open)

    @property
    def doubtful_classes(self) -> int:
        """The classes of calls that may be at an open gate, as bits."""
        return sum({_CLASS_OF_GATE[gate] for gate in self._open})

    @property
    def _open(self) -> list[str]:
        last_passed = GATES.index(self.passed[-1]) if self.passed else -1
        return [gate for gate in GATES[last_passed + 1 :] if gate not in self.closed]

    def __call__(self, event: StorageEvent) -> bool:
        """Whether the event is the operation's first at a gate, which is then passed."""
        gate = _GATE_OF_ROLE.get(event.role)
        if gate is None or gate in self.closed:
            return False
        if any(GATES.index(passed) >= GATES.index(gate) for passed in self.passed):
            return False
        self.passed.append(gate)
        return True
