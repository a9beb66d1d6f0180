"""Finds the allowed outcome that an operation reached: by what the engine answered, and by what the log holds.

After an operation that met a storage fault only the log counts, never what the engine says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from conformance.checks.schema_comparison import comparable_schema
from conformance.observations.recovery_state import AFTER, BEFORE, BETWEEN, TWICE, RecoveryState
from delta_models.log import Commit, LogError, LogReader, Snapshot
from delta_models.outcomes import Committed, Outcome, Unknown
from delta_models.table import AllowedOutcome, Expectation, Table
from delta_models.table.identity import bind_generated_values, identities
from delta_models.values import Key, Rows, bag


def match_outcome(
    expectation: Expectation, outcome: Outcome, commits: int, snapshot: Snapshot | None, reader: LogReader
) -> AllowedOutcome | None:
    """The allowed outcome that fits; None if none does.

    Of several that fit it is the one whose rows the log holds. Where the engine's answer is unknown, the log decides.
    """
    if isinstance(outcome, Unknown):
        possible = [branch for branch in expectation.allowed_outcomes if _within(branch, commits)]
        return next((branch for branch in possible if _is_in_log(branch.table, snapshot, reader)), None)
    fitting = expectation.fitting_outcomes(outcome, commits)
    if all(branch.table is fitting[0].table for branch in fitting[1:]):
        return fitting[0] if fitting else None
    in_log = (
        branch
        for branch in fitting
        if _within(branch, commits) and _is_in_log(branch.table, snapshot, reader)
    )
    return next(in_log, fitting[0])


def with_generated_values(
    branch: AllowedOutcome, snapshot: Snapshot | None, reader: LogReader
) -> AllowedOutcome:
    """The outcome that an operation reached, with the identity values that the engine generated."""
    if snapshot is None or not identities(branch.table.schema):
        return branch
    try:
        return replace(branch, table=bind_generated_values(branch.table, reader.rows(snapshot)))
    except LogError:
        return branch


def classify_recovery(
    expectation: Expectation,
    before: Snapshot | None,
    after: Snapshot | None,
    commits: Sequence[Commit],
    reader: LogReader,
) -> RecoveryState:
    """The state of a table after an operation that met a fault. `commits` are those that the operation added."""
    done = [branch for branch in expectation.allowed_outcomes if isinstance(branch.outcome, Committed)]
    if after is None:
        if before is None:
            return RecoveryState(BEFORE)
        gone = next((branch for branch in done if not branch.table.exists), None)
        return RecoveryState(AFTER, gone) if gone else RecoveryState(BETWEEN, why="the table is gone")
    try:
        rows = reader.rows(after)
    except LogError as error:
        return RecoveryState(BETWEEN, why=f"version {after.version} can't be read: {error}")
    there = [branch for branch in done if _holds(branch.table, rows)]
    count = len(commits)
    if (fitting := next((branch for branch in there if _within(branch, count)), None)) is not None and count:
        return RecoveryState(AFTER, fitting)
    if not count:
        same = before is not None and set(before.live) == set(after.live)
        return (
            RecoveryState(BEFORE)
            if same
            else RecoveryState(BETWEEN, why="the state changed without a commit")
        )
    if there or any(_doubled(branch.table, before, rows, reader) for branch in done):
        return RecoveryState(TWICE, why=f"it is in the table twice, in {count} commits")
    return RecoveryState(
        BETWEEN,
        why=f"version {after.version} holds {len(rows)} rows that are neither those before nor those after",
    )


def _within(branch: AllowedOutcome, commits: int) -> bool:
    return branch.commits[0] <= commits <= branch.commits[1]


def _is_in_log(table: Table, snapshot: Snapshot | None, reader: LogReader) -> bool:
    """Whether the log holds this table, or no table where there is to be none."""
    if snapshot is None or not table.exists:
        return snapshot is None and not table.exists
    try:
        rows = reader.rows(snapshot)
    except LogError:
        return False
    return _holds(bind_generated_values(table, rows), rows)


def _holds(table: Table, rows: Rows) -> bool:
    """Whether the rows of the log are those of a table, under the same schema."""
    if not table.exists or comparable_schema(rows.schema) != comparable_schema(table.schema):
        return False
    return bag(rows.schema, rows.rows) == table.bag


def _doubled(table: Table, before: Snapshot | None, rows: Rows, reader: LogReader) -> bool:
    """Whether what the operation adds is there a second time."""
    if (
        before is None
        or not table.exists
        or comparable_schema(rows.schema) != comparable_schema(table.schema)
    ):
        return False
    try:
        previous = reader.rows(before)
    except LogError:
        return False
    if comparable_schema(previous.schema) != comparable_schema(rows.schema):
        return False
    added: Counter[Key] = table.bag - bag(previous.schema, previous.rows)
    return bool(added) and bag(rows.schema, rows.rows) == table.bag + added
