"""Is what a writer left in the log valid? Each time a rule is judged is a `Checked`: it held, or there is a breach.

`judge_commit(before, commit)` judges a commit against the state that it continues: actions, reconciliation, protocol.
`judge_files(reader, snapshot, commit)` judges the files that the commit adds: there, of the size said, their
statistics, partition values and deletion vectors in agreement with their rows. `judge_changes` judges what needs the
states before and after a commit. `judge_folder(reader)` judges the log's folder: contiguous versions, checkpoints equal
replay, hints, checksums. When a rule applies is said where the rule stands, and nowhere else.

Who wants only what is wrong calls `violations`, `data_breaches`, `change_breaches` and `folder_breaches`;
`chain_breaches(reader, first, last)` is `violations` for a range of versions, each against the state before it.

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
from delta_models.requirements import BY_ID, Checked, Violation
from delta_models.requirements.base import checked

Strictness = Literal["protocol", "reference"]

__all__ = [
    "Strictness",
    "breaches",
    "chain_breaches",
    "change_breaches",
    "data_breaches",
    "folder_breaches",
    "judge_changes",
    "judge_commit",
    "judge_files",
    "judge_folder",
    "version_breaches",
]


def judge_commit(
    before: Snapshot | None, commit: Commit, strictness: Strictness = "protocol"
) -> list[Checked]:
    """A commit on top of the state before it; None: it begins the table."""
    verdicts = chain(
        protocol.judge(before, commit),
        metadata.judge(before, commit),
        schema_evolution.judge(before, commit),
        features.judge(before, commit),
        constraints.judge(before, commit),
    )
    judged = (checked(requirement, wrong, commit.name) for requirement, wrong in verdicts)
    return _strict(chain(actions.judge(before, commit), judged), strictness)


def judge_files(
    reader: LogReader, snapshot: Snapshot, commit: Commit, strictness: Strictness = "protocol"
) -> list[Checked]:
    """The files that a commit adds; `snapshot` is the state after it."""
    return _strict(data_files.judge(reader, snapshot, commit), strictness)


def judge_changes(
    reader: LogReader,
    before: Snapshot | None,
    after: Snapshot,
    commit: Commit,
    strictness: Strictness = "protocol",
) -> list[Checked]:
    """The change data files, the row ids, the columns of new files and the fate of old columns of a commit, between the
    states before and after it."""
    verdicts = chain(
        changes.judge(reader, before, after, commit),
        row_ids.judge(reader, before, after, commit),
        layout.judge(reader, before, after, commit),
        column_history.judge(reader, before, after, commit),
    )
    judged = (checked(requirement, wrong, commit.name) for requirement, wrong in verdicts)
    return _strict(judged, strictness)


def judge_folder(reader: LogReader, strictness: Strictness = "protocol", since: int = 0) -> list[Checked]:
    """The log's folder; of checkpoints, compactions and checksums of versions before `since` only what is wrong."""
    return _strict(log_directory.judge(reader, since), strictness)


def violations(
    before: Snapshot | None, commit: Commit, strictness: Strictness = "protocol"
) -> list[Violation]:
    """What is wrong with a commit on top of the state before it; None: it begins the table."""
    return _broken(judge_commit(before, commit, strictness))


def data_breaches(
    reader: LogReader, snapshot: Snapshot, commit: Commit, strictness: Strictness = "protocol"
) -> list[Violation]:
    """What is wrong with the files that a commit adds; `snapshot` is the state after it."""
    return _broken(judge_files(reader, snapshot, commit, strictness))


def change_breaches(
    reader: LogReader,
    before: Snapshot | None,
    after: Snapshot,
    commit: Commit,
    strictness: Strictness = "protocol",
) -> list[Violation]:
    """What is wrong with a commit between the states before and after it."""
    return _broken(judge_changes(reader, before, after, commit, strictness))


def folder_breaches(reader: LogReader, strictness: Strictness = "protocol") -> list[Violation]:
    """What is wrong with the log's folder."""
    return _broken(judge_folder(reader, strictness))


def chain_breaches(
    reader: LogReader, first: int, last: int, strictness: Strictness = "protocol"
) -> list[Violation]:
    """What is wrong with each commit of a range; ends at the first one that leaves the state unknown."""
    before = reader.snapshot(first - 1) if first else None
    broken: list[Violation] = []
    for commit in reader.commits(first, last):
        broken += violations(before, commit, strictness)
        try:
            before = start(commit) if before is None else apply(before, commit)
        except LogError:
            break
    return broken


def version_breaches(reader: LogReader, version: int, strictness: Strictness = "protocol") -> list[Violation]:
    """What is wrong with all that a reader of one version relies on: its commits and checkpoints, and the files and
    deletion vectors of its live rows (their statistics aside). Raises LogError where the state cannot be told."""
    state = reader.snapshot(version)
    first = min((kept for kept in reader.listing().commits if kept <= version), default=version)
    broken = chain_breaches(reader, first, version, strictness) if _is_whole(reader, first) else []
    rest = _strict(chain(log_directory.judge(reader, 0), data_files.judge_state(reader, state)), strictness)
    broken += (violation for violation in _broken(rest) if violation.requirement not in _ABOUT_HINTS)
    return broken


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


def _strict(judged: Iterable[Checked], strictness: Strictness) -> list[Checked]:
    if strictness == "reference":
        return list(judged)
    return [judgement for judgement in judged if BY_ID[judgement.requirement].strength in {"must", "should"}]


def _broken(judged: Iterable[Checked]) -> list[Violation]:
    return [judgement.violation for judgement in judged if judgement.violation is not None]
