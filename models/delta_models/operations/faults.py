"""What a storage does to the next operation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KillAt:
    """The next operation's process is killed before or after its event in a storage role."""

    role: str
    moment: str = "before"
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class FailAt:
    """The next operation's event in a storage role fails with an errno."""

    role: str
    errno: str = "EIO"
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class LoseReplyAt:
    """The next operation's event in a storage role is done, and reported as failed with an errno."""

    role: str
    ordinal: int = 0
    errno: str = "EIO"


@dataclass(frozen=True, slots=True)
class TearAt:
    """Only the first bytes of the next operation's write in a storage role reach the disk."""

    role: str
    length: int
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class DeadTableAt:
    """From the next operation's event in a storage role on every change under the table fails."""

    role: str
    moment: str = "before"
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class DamageFile:
    """A file in a storage role is removed or cut short behind the engine's back."""

    role: str
    how: str
