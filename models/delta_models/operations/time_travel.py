"""When to look, or what to go back to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Latest:
    """The newest version."""


@dataclass(frozen=True, slots=True)
class AtState:
    """The table as it stood after step `step` (counted from 0) of the history."""

    step: int


@dataclass(frozen=True, slots=True)
class AtVersion:
    """A version of one copy: what `AtState` becomes on its way to that copy's engine."""

    version: int


@dataclass(frozen=True, slots=True)
class AtTime:
    """The table as of the moment at which step `step` had just ended."""

    step: int


@dataclass(frozen=True, slots=True)
class AtTimestamp:
    """Microseconds since the epoch: what `AtTime` becomes on its way to an engine."""

    micros: int


When = Latest | AtState | AtVersion | AtTime | AtTimestamp
LATEST = Latest()
