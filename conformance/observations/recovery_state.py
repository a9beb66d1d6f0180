"""What became of an operation that met a fault, by our own reading of the log, never by what the engine says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.observations.schema_comparison import meaning
from delta_models.log import Commit, LogError, LogReader, Snapshot
from delta_models.outcomes import Committed
from delta_models.table import AllowedOutcome, Expectation, Table
from delta_models.values import Key, Rows, bag

BEFORE, AFTER, BETWEEN, TWICE = "before", "after", "between", "twice"


@dataclass(frozen=True, slots=True)
class RecoveryState:
    """Which of the possible states the table is in; `branch` is the end that the operation then came to."""

    state: str
    branch: AllowedOutcome | None = None
    why: str = ""


def classify_recovery(
    expectation: Expectation,
    before: Snapshot | None,
    after: Snapshot | None,
    commits: Sequence[Commit],
    reader: LogReader,
) -> RecoveryState:
    """Find the state. `commits` are those that the operation added."""
    done = [branch for branch in expectation.allowed_outcomes if isinstance(branch.outcome, Committed)]
    if after is None:
        if before is None:
            return RecoveryState(BEFORE)
        gone = next((each for each in done if not each.table.exists), None)
        return RecoveryState(AFTER, gone) if gone else RecoveryState(BETWEEN, why="the table is gone")
    try:
        rows = reader.rows(after)
    except LogError as error:
        return RecoveryState(BETWEEN, why=f"version {after.version} can't be read: {error}")
    there = [each for each in done if _holds(each.table, rows)]
    count = len(commits)
    if (fitting := next((each for each in there if _within(each, count)), None)) is not None and count:
        return RecoveryState(AFTER, fitting)
    if not count:
        same = before is not None and set(before.live) == set(after.live)
        return (
            RecoveryState(BEFORE)
            if same
            else RecoveryState(BETWEEN, why="the state changed without a commit")
        )
    if there or any(_doubled(each.table, before, rows, reader) for each in done):
        return RecoveryState(TWICE, why=f"it is in the table twice, in {count} commits")
    return RecoveryState(
        BETWEEN,
        why=f"version {after.version} holds {len(rows)} rows that are neither those before nor those after",
    )


def _within(branch: AllowedOutcome, count: int) -> bool:
    return branch.commits[0] <= count <= branch.commits[1]


def _holds(table: Table, rows: Rows) -> bool:
    if not table.exists or meaning(rows.schema) != meaning(table.schema):
        return False
    return bag(rows.schema, rows.rows) == table.bag


def _doubled(table: Table, before: Snapshot | None, rows: Rows, reader: LogReader) -> bool:
    """Whether what the operation adds is there a second time."""
    if before is None or not table.exists or meaning(rows.schema) != meaning(table.schema):
        return False
    try:
        was = reader.rows(before)
    except LogError:
        return False
    if meaning(was.schema) != meaning(rows.schema):
        return False
    added: Counter[Key] = table.bag - bag(was.schema, was.rows)
    return bool(added) and bag(rows.schema, rows.rows) == table.bag + added
