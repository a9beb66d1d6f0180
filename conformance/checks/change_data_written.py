"""Does an operation that changes rows record change data where the change feed is on?

Without change data, readers take the changes of a version from its files. That suffices if rows only come or only go.
It gives no images of an update, and it shows a row that was only moved as a change. The rules of the log judge the
recorded change data itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from conformance.checks.log_validity import chain
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.log import Commit, LogError, LogReader, Snapshot
from delta_models.log.changes import ENABLED, commit_changes
from delta_models.log.validity.protocol import is_on, supports
from delta_models.operations import Delete, Merge, Operation, Update
from delta_models.requirements import Checked, checked
from delta_models.values import Key, row_keyer

JUDGES = judged_by(CheckName.CHANGE_DATA_WRITTEN)


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge each commit of an operation that may change rows."""
    if not observation.wrote:
        return
    for before, commit, after in chain(observation):
        if before is None or after is None or not commit.data_change:
            continue
        if all(
            supports(state.protocol, "changeDataFeed") and is_on(state.metadata, ENABLED)
            for state in (before, after)
        ):
            try:
                problem = (
                    None
                    if commit.cdcs
                    else _implied_problem(observation.operation, observation.reader, after, commit)
                )
            except LogError:
                continue  # reported as files that cannot be read
            yield checked("cdc.recorded", problem, commit.name)


def _implied_problem(operation: Operation, reader: LogReader, after: Snapshot, commit: Commit) -> str | None:
    """Describe what readers get wrong that take the changes from the files alone; None if nothing."""
    key = row_keyer(after.schema)
    implied: dict[str, Counter[Key]] = {"insert": Counter(), "delete": Counter()}
    for row, kind in commit_changes(reader, after, commit):
        implied[kind][key(row)] += 1
    if implied["insert"] == implied["delete"]:
        return None  # no row differs; the protocol does not say whether that changes data
    moved = implied["insert"] & implied["delete"]
    if moved:
        return f"no cdc, and the files tell {moved.total()} rows as gone and come that stay"
    if isinstance(operation, Update) and implied["insert"]:
        return f"no cdc, and {implied['insert'].total()} rows are changed"
    return None


CHECK = Check(CheckName.CHANGE_DATA_WRITTEN, JUDGES, check, (Delete, Update, Merge))
