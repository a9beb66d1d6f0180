"""Operations as one copy's engine must be asked them: states become versions of this copy, times moments of its log."""

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
    """The operation for this copy's engine; None if it names a state that this copy never had, or a moment that says
    nothing."""
    if isinstance(operation, ReadChanges):
        return _changes(operation, versions)
    at = getattr(operation, "at", None)
    if not isinstance(at, AtState | AtTime):
        return operation
    found = _when(at, versions, reader)
    return None if found is None else replace(operation, at=found)  # type: ignore[arg-type]  # what has an `at` takes one


def version_of(at: When, versions: Mapping[int, int]) -> int | None:
    """The version of this copy that a state stands for; None for the newest, and for what it never had."""
    return versions.get(at.step) if isinstance(at, AtState | AtTime) else None


def _when(at: AtState | AtTime, versions: Mapping[int, int], reader: LogReader) -> When | None:
    version = versions.get(at.step)
    if version is None:
        return None
    if isinstance(at, AtState):
        return AtVersion(version)
    try:
        times = commit_times(reader)
    except LogError:
        return None
    moment, following = times.get(version), times.get(version + 1)
    if moment is None or (following is not None and following <= moment + 1):
        return None  # two versions of one moment: which is meant depends on how an engine counts
    return AtTimestamp(moment * 1000)


def _changes(read: ReadChanges, versions: Mapping[int, int]) -> Operation | None:
    """The versions that the steps added, from the first one's first to the last one's last."""
    if not isinstance(read.first, AtState) or not isinstance(read.last, AtState | Latest | None):
        return None
    first = versions.get(read.first.step - 1, -1) + 1
    until = read.last
    last = versions.get(until.step) if isinstance(until, AtState) else max(versions.values(), default=None)
    if last is None or first > last:
        return None
    return ReadChanges(AtVersion(first), AtVersion(last) if isinstance(read.last, AtState) else None)
