"""Are the operation metrics of a commit correct: its counts of rows and of files?

Metrics are optional, but a metric with a known name must be correct. Names are compared without case and underscores,
since engines spell the same metrics differently. Bytes and times are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.checks import log_oracle
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.checks.table_contents import picks_beyond_core
from conformance.observations.observation import Observation
from delta_models.expressions import compile_expression
from delta_models.log import Commit, LogError, Snapshot, transitions
from delta_models.operations import (
    Append,
    CreateAs,
    Delete,
    Merge,
    Operation,
    Optimize,
    Overwrite,
    Restore,
    Update,
    ZOrder,
)
from delta_models.requirements import Checked, checked
from delta_models.table import Table
from delta_models.table.merge import count_merged_rows
from delta_models.values import Rows

JUDGES = judged_by(CheckName.METRICS)
WRITTEN = ("numoutputrows", "numaddedrows")
ADDED = (
    "numfiles",
    "numaddedfiles",
    "numfilesadded",
    "numtargetfilesadded",
    "numrestoredfile",
    "numrestoredfiles",
)
REMOVED = ("numremovedfiles", "numfilesremoved", "numtargetfilesremoved", "numremovedfile")
COPIED = ("numcopiedrows", "numtargetrowscopied")


def check(observation: Observation, recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the metrics of the one commit that a step added."""
    if (
        not observation.wrote
        or observation.log_error is not None
        or observation.branch is None
        or recorder.violations
    ):
        return  # other violations explain wrong metrics
    steps = list(transitions(observation.before, observation.commits))
    if len(steps) != 1:
        return
    _, commit, after = steps[0]
    metrics = operation_metrics(commit)
    if after is None or not metrics:
        return
    try:
        facts = dict(_facts(observation, after, commit))
    except (LogError, log_oracle.NotKnown):
        return
    for requirement, values in facts.items():
        for name, fact in values.items():
            if name in metrics:
                value = metrics[name]
                problem = None if value == fact else f"{name} is said to be {value}, it is {fact}"
                yield checked(requirement, problem, commit.name)


def operation_metrics(commit: Commit) -> dict[str, int]:
    """Return the metrics of a commit that are whole numbers, by their plain names."""
    metrics = commit.info.values.get("operationMetrics") if commit.info else None
    return {
        plain_name(name): number for name, value in _pairs(metrics) if (number := _number(value)) is not None
    }


def plain_name(name: str) -> str:
    """Return a name without case and underscores."""
    return name.replace("_", "").lower()


def _pairs(metrics: Any) -> Iterator[tuple[str, Any]]:
    yield from metrics.items() if isinstance(metrics, Mapping) else ()


def _number(value: Any) -> int | None:
    if type(value) is int:
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() else None


def _facts(observation: Observation, after: Snapshot, commit: Commit) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each rule that applies, with what its metrics must be."""
    operation = observation.operation
    if isinstance(operation, Overwrite) and (operation.where is not None or operation.dynamic):
        return  # engines count the rows that such a write keeps, deletes and records in different ways
    if not isinstance(
        operation, Append | CreateAs | Overwrite | Delete | Update | Merge | Optimize | ZOrder | Restore
    ):
        return
    added, removed_count, has_new_vectors = _moved_files(commit)
    # delta-spark's UPDATE counts a file with a new deletion vector as removed, and its DELETE does not.
    if not has_new_vectors:
        # delta-spark counts files without rows, but does not add them.
        is_countable = added and not _more_files_than_rows(operation)
        added_counts = dict.fromkeys(ADDED, len(added)) if is_countable else {}
        yield "metrics.files", added_counts | dict.fromkeys(REMOVED, removed_count)
    if isinstance(operation, Optimize | ZOrder | Restore):
        return
    rows = sum(len(observation.reader.file_rows(after, add)) for add in added)
    if isinstance(operation, Append | CreateAs | Overwrite):
        yield "metrics.rows-written", dict.fromkeys(WRITTEN, rows)
        return
    if picks_beyond_core(observation):
        return
    changed = 0
    match operation:
        case Delete():
            deleted = len(log_oracle.rows_before(observation)) - len(log_oracle.rows_after(observation))
            yield "metrics.rows-deleted", {"numdeletedrows": deleted}
        case Update(where=where):
            before = log_oracle.rows_before(observation)
            selects = compile_expression(where, before.schema) if where is not None else None
            changed = sum(selects is None or selects(row) is True for row in before.rows)
            yield "metrics.rows-updated", {"numupdatedrows": changed}
        case Merge():
            merged = count_merged_rows(_table(log_oracle.rows_before(observation), observation), operation)
            if merged is None:
                return
            changed = merged.inserted + merged.updated
            yield "metrics.rows-merged", {
                "numtargetrowsinserted": merged.inserted,
                "numtargetrowsupdated": merged.updated,
                "numtargetrowsdeleted": merged.deleted,
            }  # fmt: skip
    if rows >= changed:  # an engine need not write a selected row that stays as it was
        yield "metrics.rows-copied", dict.fromkeys(COPIED, rows - changed)


def _more_files_than_rows(operation: Operation) -> bool:
    return isinstance(operation, Append | Overwrite) and operation.files > len(operation.rows.rows)


def _moved_files(commit: Commit) -> tuple[list[Any], int, bool]:
    """Return the new files, how many files went, and whether one stays with another deletion vector."""
    added, removed = {add.path for add in commit.adds}, {remove.path for remove in commit.removes}
    fresh = [add for add in commit.adds if add.path not in removed]
    return fresh, len(removed - added), bool(added & removed)


def _table(rows: Rows, observation: Observation) -> Table:
    properties = (
        tuple(sorted(observation.before.properties.items())) if observation.before is not None else ()
    )
    return Table(exists=True, schema=rows.schema, rows=rows.rows, properties=properties)


CHECK = Check(CheckName.METRICS, JUDGES, check)
