"""Which state of a table a query reads, or a restore goes back to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Latest:
    """The newest version."""


@dataclass(frozen=True, slots=True)
class AtState:
    """The table after step `step` of the history, counted from 0."""

    step: int


@dataclass(frozen=True, slots=True)
class AtVersion:
    """A version of one copy. The harness sends it to that copy's engine in place of `AtState`."""

    version: int


@dataclass(frozen=True, slots=True)
class AtTime:
    """The table at the time when step `step` had just ended."""

    step: int


@dataclass(frozen=True, slots=True)
class AtTimestamp:
    """Microseconds since the epoch. The harness sends it to an engine in place of `AtTime`."""

    micros: int


When = Latest | AtState | AtVersion | AtTime | AtTimestamp
LATEST = Latest()
