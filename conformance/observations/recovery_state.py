"""Classify the state of a table after a storage fault, by our own reader and never by the engine's answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.observations.schema_comparison import comparable_schema
from delta_models.log import Commit, LogError, LogReader, Snapshot
from delta_models.outcomes import Committed
from delta_models.table import AllowedOutcome, Expectation, Table
from delta_models.values import Key, Rows, bag

BEFORE, AFTER, BETWEEN, TWICE = "before", "after", "between", "twice"


@dataclass(frozen=True, slots=True)
class RecoveryState:
    """The state of a table after a fault. `branch` is the allowed outcome that the operation reached, if one is."""

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
    """Return the state: before, after, between, or with the operation done twice. `commits` are those that it added."""
    successes = [
        allowed for allowed in expectation.allowed_outcomes if isinstance(allowed.outcome, Committed)
    ]
    if after is None:
        if before is None:
            return RecoveryState(BEFORE)
        dropped = next((success for success in successes if not success.table.exists), None)
        return RecoveryState(AFTER, dropped) if dropped else RecoveryState(BETWEEN, why="the table is gone")
    try:
        rows = reader.rows(after)
    except LogError as error:
        return RecoveryState(BETWEEN, why=f"version {after.version} can't be read: {error}")
    reached = [success for success in successes if _equals(success.table, rows)]
    count = len(commits)
    fitting = next((success for success in reached if _allows_commits(success, count)), None)
    if fitting is not None and count:
        return RecoveryState(AFTER, fitting)
    if not count:
        same = before is not None and set(before.live) == set(after.live)
        return (
            RecoveryState(BEFORE)
            if same
            else RecoveryState(BETWEEN, why="the state changed without a commit")
        )
    if reached or any(_is_doubled(success.table, before, rows, reader) for success in successes):
        return RecoveryState(TWICE, why=f"it is in the table twice, in {count} commits")
    return RecoveryState(
        BETWEEN,
        why=f"version {after.version} holds {len(rows)} rows that are neither those before nor those after",
    )


def _allows_commits(allowed: AllowedOutcome, count: int) -> bool:
    return allowed.commits[0] <= count <= allowed.commits[1]


def _equals(table: Table, rows: Rows) -> bool:
    if not table.exists or comparable_schema(rows.schema) != comparable_schema(table.schema):
        return False
    return bag(rows.schema, rows.rows) == table.bag


def _is_doubled(table: Table, before: Snapshot | None, rows: Rows, reader: LogReader) -> bool:
    """Return whether the table holds the rows that the operation adds twice."""
    if (
        before is None
        or not table.exists
        or comparable_schema(rows.schema) != comparable_schema(table.schema)
    ):
        return False
    try:
        old_rows = reader.rows(before)
    except LogError:
        return False
    if comparable_schema(old_rows.schema) != comparable_schema(rows.schema):
        return False
    added: Counter[Key] = table.bag - bag(old_rows.schema, old_rows.rows)
    return bool(added) and bag(rows.schema, rows.rows) == table.bag + added
