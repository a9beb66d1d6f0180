"""Resolve the states and times that an operation names to versions and commit times of one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from delta_models.log import LogError, LogReader
from delta_models.log.commit_timestamps import commit_times
from delta_models.operations import (
    AtState,
    AtTime,
    AtTimestamp,
    AtVersion,
    Latest,
    Operation,
    ReadChanges,
    When,
)


def resolve_states(operation: Operation, versions: Mapping[int, int], reader: LogReader) -> Operation | None:
    """Return the operation with versions and timestamps of this table.

    None if the table never had the state, or if a commit time stands for more than one version.
    """
    if isinstance(operation, ReadChanges):
        return _resolve_changes(operation, versions)
    named = getattr(operation, "at", None)
    if not isinstance(named, AtState | AtTime):
        return operation
    resolved = _resolve_when(named, versions, reader)
    return None if resolved is None else replace(operation, at=resolved)  # type: ignore[arg-type]  # what has an `at` takes one


def version_of(when: When, versions: Mapping[int, int]) -> int | None:
    """Return the version that a state has in this table; None for the newest, and for a state it never had."""
    return versions.get(when.step) if isinstance(when, AtState | AtTime) else None


def _resolve_when(when: AtState | AtTime, versions: Mapping[int, int], reader: LogReader) -> When | None:
    version = versions.get(when.step)
    if version is None:
        return None
    if isinstance(when, AtState):
        return AtVersion(version)
    try:
        times = commit_times(reader)
    except LogError:
        return None
    time, next_time = times.get(version), times.get(version + 1)
    if time is None or (next_time is not None and next_time <= time + 1):
        return None  # engines round times differently, so they may take one version or the next
    return AtTimestamp(time * 1000)


def _resolve_changes(read: ReadChanges, versions: Mapping[int, int]) -> Operation | None:
    """Return the versions that the named steps added, from the first to the last; None if they added none."""
    if not isinstance(read.first, AtState) or not isinstance(read.last, AtState | Latest | None):
        return None
    first = versions.get(read.first.step - 1, -1) + 1
    last_state = read.last
    last = (
        versions.get(last_state.step)
        if isinstance(last_state, AtState)
        else max(versions.values(), default=None)
    )
    if last is None or first > last:
        return None
    return ReadChanges(AtVersion(first), AtVersion(last) if isinstance(read.last, AtState) else None)
