"""Where the change feed is on, does what changes rows record it? What is recorded is for others to judge.

A version without change data is told by its files: what comes and what goes. That is all there is to say of rows that
only come or only go. Of an update it tells no images, and of a row that is only moved it tells a change.
"""

from __future__ import annotations

from collections import Counter

from conformance.checks.log_validity import chain
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.log import Commit, LogError, LogReader, Snapshot
from delta_models.log.changes import ENABLED, commit_changes
from delta_models.log.validity.protocol import is_on, supports
from delta_models.operations import Delete, Merge, Operation, Update
from delta_models.values import Key, row_keyer

JUDGES = judged_by(CheckName.CHANGE_DATA_WRITTEN)


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge each commit of an operation that may change rows."""
    if not observation.wrote or not isinstance(observation.operation, Delete | Update | Merge):
        return
    for before, commit, after in chain(observation):
        if before is None or after is None or not commit.data_change:
            continue
        if all(
            supports(each.protocol, "changeDataFeed") and is_on(each.metadata, ENABLED)
            for each in (before, after)
        ):
            try:
                problem = (
                    None if commit.cdcs else _untold(observation.operation, observation.reader, after, commit)
                )
            except LogError:
                continue  # reported as files that cannot be read
            recorder.record("cdc.recorded", problem, commit.name)


def _untold(operation: Operation, reader: LogReader, after: Snapshot, commit: Commit) -> str | None:
    """What the files alone tell wrongly of an operation."""
    key = row_keyer(after.schema)
    told: dict[str, Counter[Key]] = {"insert": Counter(), "delete": Counter()}
    for row, kind in commit_changes(reader, after, commit):
        told[kind][key(row)] += 1
    if told["insert"] == told["delete"]:
        return None  # no row is another one: whether that changes data is not said
    moved = told["insert"] & told["delete"]
    if moved:
        return f"no cdc, and the files tell {moved.total()} rows as gone and come that stay"
    if isinstance(operation, Update) and told["insert"]:
        return f"no cdc, and {told['insert'].total()} rows are changed"
    return None


CHECK = Check(CheckName.CHANGE_DATA_WRITTEN, JUDGES, check)
