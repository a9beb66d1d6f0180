"""The committed small histories by the names that a profile's plan has for groups of them."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.suites.crashes.more_scenarios import AGAIN, BEGINNINGS, DEFINITION, LAYOUT, WRITES
from conformance.suites.crashes.scenarios import CHANGES, MARKED, STREAMS, UPKEEP, CrashScenario

STORIES: Mapping[str, tuple[CrashScenario, ...]] = {
    "changes": CHANGES,
    "upkeep": UPKEEP,
    "marked": MARKED,
    "other-writes": WRITES,
    "definition": DEFINITION,
    "beginnings": BEGINNINGS,
    "layout": LAYOUT,
    "again": AGAIN,
    "streams": STREAMS,
}
KILLED = "killed-"  # before the name of a group: its engines die, rather than their tables


def stories(name: str) -> tuple[CrashScenario, ...]:
    """A group by the name that a profile's plan has for it; none if it is none."""
    return STORIES.get(name.removeprefix(KILLED), ())
