"""Do the counts that a commit gives of itself say what the log shows: rows written, deleted, updated, merged, copied;
files?

Nobody has to count. What is counted under a name that says what it is must be so. Names are compared without case and
underscores, since engines spell the same counts differently. Bytes and times are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.checks import log_oracle
from conformance.checks.log_validity import chain
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.checks.table_contents import picks_beyond_core
from conformance.observations.observation import Observation
from delta_models.expressions import compiled
from delta_models.log import Commit, LogError, Snapshot
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
from delta_models.table import Table
from delta_models.table.merge import count_merged_rows
from delta_models.values import Rows

JUDGES = judged_by("metrics")
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


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the counts of the one commit that a step added."""
    if (
        not observation.wrote
        or observation.log_error is not None
        or observation.branch is None
        or recorder.violations
    ):
        return  # what a wrong commit says of itself is told by what is wrong with it
    steps = list(chain(observation))
    if len(steps) != 1:
        return
    _, commit, after = steps[0]
    said = metrics_of(commit)
    if after is None or not said:
        return
    try:
        facts = dict(_facts(observation, after, commit))
    except (LogError, log_oracle.NotKnown):
        return
    for requirement, values in facts.items():
        for name, fact in values.items():
            if name in said:
                wrong = None if said[name] == fact else f"{name} is said to be {said[name]}, it is {fact}"
                recorder.judge(requirement, wrong, commit.name)


def metrics_of(commit: Commit) -> dict[str, int]:
    """The counts of a commit by their plain names; what is no whole number is left out."""
    told = commit.info.values.get("operationMetrics") if commit.info else None
    return {plain(name): number for name, value in _pairs(told) if (number := _number(value)) is not None}


def plain(name: str) -> str:
    """A name without case and underscores."""
    return name.replace("_", "").lower()


def _pairs(told: Any) -> Iterator[tuple[str, Any]]:
    yield from told.items() if isinstance(told, Mapping) else ()


def _number(value: Any) -> int | None:
    if type(value) is int:
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() else None


def _facts(observation: Observation, after: Snapshot, commit: Commit) -> Iterator[tuple[str, dict[str, int]]]:
    """What each count must be, by the rule that it belongs to."""
    operation = observation.operation
    if isinstance(operation, Overwrite) and (operation.where is not None or operation.dynamic):
        return  # engines count the rows that such a write keeps, deletes and records in different ways
    if not isinstance(
        operation, Append | CreateAs | Overwrite | Delete | Update | Merge | Optimize | ZOrder | Restore
    ):
        return
    fresh, gone, stays = _moved(commit)
    if (
        not stays
    ):  # delta-spark's update counts a file that stays with another vector as removed, its delete does not
        came = (
            dict.fromkeys(ADDED, len(fresh)) if fresh and not _more_files_than_rows(operation) else {}
        )  # it counts files without rows, which it adds not
        yield "metrics.files", came | dict.fromkeys(REMOVED, gone)
    if isinstance(operation, Optimize | ZOrder | Restore):
        return
    rows = sum(len(observation.reader.file_rows(after, add)) for add in fresh)
    if isinstance(operation, Append | CreateAs | Overwrite):
        yield "metrics.rows-written", dict.fromkeys(WRITTEN, rows)
        return
    if picks_beyond_core(observation):
        return
    new = 0
    match operation:
        case Delete():
            gone_rows = len(log_oracle.rows_before(observation)) - len(log_oracle.rows_after(observation))
            yield "metrics.rows-deleted", {"numdeletedrows": gone_rows}
        case Update(where=where):
            before = log_oracle.rows_before(observation)
            picks = compiled(where, before.schema) if where is not None else None
            new = sum(picks is None or picks(row) is True for row in before.rows)
            yield "metrics.rows-updated", {"numupdatedrows": new}
        case Merge():
            found = count_merged_rows(_table(log_oracle.rows_before(observation), observation), operation)
            if found is None:
                return
            new = found.inserted + found.updated
            yield "metrics.rows-merged", {
                "numtargetrowsinserted": found.inserted,
                "numtargetrowsupdated": found.updated,
                "numtargetrowsdeleted": found.deleted,
            }  # fmt: skip
    if rows >= new:  # a picked row that stays as it was need not be written
        yield "metrics.rows-copied", dict.fromkeys(COPIED, rows - new)


def _more_files_than_rows(operation: Operation) -> bool:
    return isinstance(operation, Append | Overwrite) and operation.files > len(operation.rows.rows)


def _moved(commit: Commit) -> tuple[list[Any], int, bool]:
    """The files that are new, how many went, and whether one stays with another deletion vector."""
    added, removed = {add.path for add in commit.adds}, {remove.path for remove in commit.removes}
    fresh = [add for add in commit.adds if add.path not in removed]
    return fresh, len(removed - added), bool(added & removed)


def _table(rows: Rows, observation: Observation) -> Table:
    properties = (
        tuple(sorted(observation.before.properties.items())) if observation.before is not None else ()
    )
    return Table(exists=True, schema=rows.schema, rows=rows.rows, properties=properties)


CHECK = Check("metrics", JUDGES, check)
