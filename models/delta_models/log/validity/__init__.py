"""Is what a writer left in the log valid? What is wrong is a `Violation` of a named requirement.

`breaches(before, commit)` judges a commit against the state that it continues: actions, reconciliation, protocol.
`data_breaches(reader, snapshot, commit)` judges the files that the commit adds: there, of the size said, their
statistics, partition values and deletion vectors in agreement with their rows. `folder_breaches(reader)` judges the
log's folder: contiguous versions, checkpoints equal replay, hints, checksums. `chain_breaches(reader, first, last)` is
`violations` for a range of versions, each against the state before it.

`strictness` is "protocol", or "reference" to hear also what delta-spark would refuse where the protocol is silent.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Literal

from delta_models.log.commits import Commit
from delta_models.log.errors import LogError
from delta_models.log.reader import LogReader
from delta_models.log.state import Snapshot, apply, start
from delta_models.log.validity import (
    actions,
    changes,
    column_history,
    constraints,
    data_files,
    features,
    layout,
    log_directory,
    metadata,
    protocol,
    row_ids,
    schema_evolution,
)
from delta_models.requirements import BY_ID, Violation

Strictness = Literal["protocol", "reference"]

__all__ = [
    "Strictness",
    "breaches",
    "chain_breaches",
    "change_breaches",
    "data_breaches",
    "folder_breaches",
    "version_breaches",
]


def violations(
    before: Snapshot | None, commit: Commit, strictness: Strictness = "protocol"
) -> list[Violation]:
    """What is wrong with a commit on top of the state before it; None: it begins the table."""
    found = chain(
        (problem.violation for problem in commit.problems),
        actions.violations(before, commit),
        protocol.violations(before, commit),
        metadata.violations(before, commit),
        schema_evolution.violations(before, commit),
        features.violations(before, commit),
        constraints.violations(before, commit),
    )
    return _strict(found, strictness)


def data_breaches(
    reader: LogReader, snapshot: Snapshot, commit: Commit, strictness: Strictness = "protocol"
) -> list[Violation]:
    """What is wrong with the files that a commit adds; `snapshot` is the state after it."""
    return _strict(data_files.violations(reader, snapshot, commit), strictness)


def change_breaches(
    reader: LogReader,
    before: Snapshot | None,
    after: Snapshot,
    commit: Commit,
    strictness: Strictness = "protocol",
) -> list[Violation]:
    """What is wrong with the change data files, the row ids, the columns of new files and the fate of old columns of a
    commit, between the states before and after it."""
    found = chain(
        changes.violations(reader, before, after, commit),
        row_ids.violations(reader, before, after, commit),
        layout.violations(reader, before, after, commit),
        column_history.violations(reader, before, after, commit),
    )
    return _strict(found, strictness)


def state_breaches(
    reader: LogReader, snapshot: Snapshot, strictness: Strictness = "protocol"
) -> list[Violation]:
    """What is wrong with the files that a state is made of: missing, unreadable, with broken vectors."""
    return _strict(data_files.state_breaches(reader, snapshot), strictness)


def folder_breaches(
    reader: LogReader, strictness: Strictness = "protocol", since: int = 0
) -> list[Violation]:
    """What is wrong with the log's folder; of checkpoints and checksums only those of version `since` on."""
    return _strict(log_directory.violations(reader, since), strictness)


def chain_breaches(
    reader: LogReader, first: int, last: int, strictness: Strictness = "protocol"
) -> list[Violation]:
    """What is wrong with each commit of a range; ends at the first one that leaves the state unknown."""
    before = reader.snapshot(first - 1) if first else None
    found: list[Violation] = []
    for commit in reader.commits(first, last):
        found += violations(before, commit, strictness)
        try:
            before = start(commit) if before is None else apply(before, commit)
        except LogError:
            break
    return found


def version_breaches(reader: LogReader, version: int, strictness: Strictness = "protocol") -> list[Violation]:
    """What is wrong with all that a reader of one version relies on: its commits and checkpoints, and the files and
    deletion vectors of its live rows (their statistics aside). Raises LogError where the state cannot be told."""
    state = reader.snapshot(version)
    first = min((commit for commit in reader.listing().commits if commit <= version), default=version)
    found = chain_breaches(reader, first, version, "reference") if _is_whole(reader, first) else []
    found += (
        violation
        for violation in log_directory.violations(reader, 0)
        if violation.requirement not in _ABOUT_HINTS
    )
    found += data_files.state_breaches(reader, state)
    return _strict(found, strictness)


_ABOUT_HINTS = {"checkpoint.hint-well-formed", "checkpoint.hint-names-checkpoint", "checkpoint.hint-parts"}


def _is_whole(reader: LogReader, first: int) -> bool:
    """Whether the state before the oldest kept commit can be told."""
    if first == 0:
        return True
    try:
        reader.snapshot(first - 1)
    except LogError:
        return False
    return True


def _strict(found: Iterable[Violation], strictness: Strictness) -> list[Violation]:
    if strictness == "reference":
        return list(found)
    return [each for each in found if BY_ID[each.requirement].strength in {"must", "should"}]
