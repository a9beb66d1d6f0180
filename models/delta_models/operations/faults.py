"""Storage faults that hit the next operation of the history."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KillAt:
    """Kill the next operation's process before or after its event in a storage role."""

    role: str
    moment: str = "before"
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class FailAt:
    """Let the next operation's event in a storage role fail with an errno."""

    role: str
    errno: str = "EIO"
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class LoseReplyAt:
    """Perform the next operation's event in a storage role, but report that it failed with an errno."""

    role: str
    ordinal: int = 0
    errno: str = "EIO"


@dataclass(frozen=True, slots=True)
class TearAt:
    """Write only the first bytes of the next operation's write in a storage role."""

    role: str
    length: int
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class DeadTableAt:
    """Let every change under the table fail, from the next operation's event in a storage role on."""

    role: str
    moment: str = "before"
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class DamageFile:
    """Remove or truncate a file in a storage role, without the engine's knowledge."""

    role: str
    how: str
