"""What may become of a storage event, the rules that choose the event, and the messages that make a shim act."""

from __future__ import annotations

import errno as codes
import struct
from dataclasses import dataclass

from conformance.fault_injection.file_roles import ROLES
from delta_models.operations import DeadTableAt, FailAt, KillAt, LoseReplyAt, Operation, TearAt
from delta_models.wire_names import name_of

ERRNOS = ("EIO", "ENOSPC", "EACCES", "EEXIST")
_PASS, _FAIL, _KILL_BEFORE, _KILL_AFTER, _LOSE_REPLY, _TEAR, _DEAD_BEFORE, _DEAD_AFTER = range(8)
_ANSWER = struct.Struct("=iiq")


@dataclass(frozen=True, slots=True)
class Pass:
    """The call is made."""


@dataclass(frozen=True, slots=True)
class Fail:
    """The call is not made, and fails with this errno."""

    errno: str = "EIO"


@dataclass(frozen=True, slots=True)
class Kill:
    """The process and all its descendants are killed by SIGKILL, `before` or `after` the call."""

    moment: str = "before"


@dataclass(frozen=True, slots=True)
class LoseReply:
    """The call is made, and reported as failed."""

    errno: str = "EIO"


@dataclass(frozen=True, slots=True)
class Tear:
    """The file is opened, and only its first `length` bytes reach it. Then the process is killed, or gets an errno."""

    length: int
    then: str = "kill"


@dataclass(frozen=True, slots=True)
class DeadTable:
    """From now on every change under the table fails, and the process lives. `after`: this call is still made."""

    moment: str = "before"
    errno: str = "EIO"


@dataclass(frozen=True, slots=True)
class Pause:
    """The call waits until it is released."""


FaultAction = Pass | Fail | Kill | LoseReply | Tear | DeadTable | Pause
PASS = Pass()


@dataclass(frozen=True, slots=True)
class FaultRule:
    """Says which action one event of an operation gets: the `ordinal`-th of its role."""

    role: str
    action: FaultAction
    ordinal: int = 0

    def check(self) -> None:
        """Raise ValueError if no shim could do this."""
        if self.role not in ROLES:
            raise ValueError(f"there is no role {self.role!r}, only {', '.join(sorted(ROLES))}")
        if not isinstance(self.action, Pause):
            to_answer(self.action)

    def __str__(self) -> str:
        return f"{self.action} at {self.role}#{self.ordinal}"


def rule_of(fault: Operation) -> FaultRule:
    """Return the rule that a fault operation stands for. Raises ValueError for another operation."""
    match fault:
        case KillAt(role=role, moment=moment, ordinal=ordinal):
            return FaultRule(role, Kill(moment), ordinal)
        case FailAt(role=role, errno=errno, ordinal=ordinal):
            return FaultRule(role, Fail(errno), ordinal)
        case LoseReplyAt(role=role, errno=errno, ordinal=ordinal):
            return FaultRule(role, LoseReply(errno), ordinal)
        case TearAt(role=role, length=length, ordinal=ordinal):
            return FaultRule(role, Tear(length), ordinal)
        case DeadTableAt(role=role, moment=moment, ordinal=ordinal):
            return FaultRule(role, DeadTable(moment), ordinal)
    raise ValueError(f"{name_of(fault)} is no fault of the turnstile")


def to_answer(action: FaultAction) -> bytes:
    """Return an action as the answer that a shim reads. Raises ValueError for a pause, which is no answer."""
    match action:
        case Pass():
            return _ANSWER.pack(_PASS, 0, 0)
        case Fail(errno=errno):
            return _ANSWER.pack(_FAIL, number_of(errno), 0)
        case Kill(moment=moment):
            return _ANSWER.pack(_KILL_AFTER if moment == "after" else _KILL_BEFORE, 0, 0)
        case LoseReply(errno=errno):
            return _ANSWER.pack(_LOSE_REPLY, number_of(errno), 0)
        case Tear(length=length, then=then):
            return _ANSWER.pack(_TEAR, 0 if then == "kill" else number_of(then), length)
        case DeadTable(moment=moment, errno=errno):
            return _ANSWER.pack(_DEAD_AFTER if moment == "after" else _DEAD_BEFORE, number_of(errno), 0)
    raise ValueError("a hold is not answered")


def number_of(errno: str) -> int:
    """Return the number of an errno. Raises ValueError if no fault may have it."""
    if errno not in ERRNOS:
        raise ValueError(f"a fault can't be {errno}: there are {', '.join(ERRNOS)}")
    return int(getattr(codes, errno))
