"""Files of which an older deltalake reads one only, and takes it for all.

A scan that needs no column of the data files, but those of the partitions, ends with the first file. That is a read of
partition columns, and the search of an UPDATE by partition columns for its files.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.findings.predictions.tables import (
    files_with_rows,
    projected,
    result_on,
    rows_after,
    snapshot_of,
    wrong_reads,
)
from conformance.observations.observation import Observation
from delta_models.expressions import Expression, columns_of, evaluate
from delta_models.log import Snapshot
from delta_models.log.actions import Add
from delta_models.operations import Update
from delta_models.outcomes import Committed
from delta_models.requirements import Violation
from delta_models.values import Row, bag

File = tuple[Add, tuple[Row, ...]]


def one_file_read_for_all(observation: Observation, violation: Violation) -> bool:
    """A read of partition columns, filtered by partition columns at most, answers the rows of one file of several."""
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or look.answer is None or read.columns is None:
            continue
        if not _names_partition_columns(snapshot, read.columns) or not _by_partitions(snapshot, read.where):
            continue
        files = _picked(files_with_rows(observation, snapshot), snapshot, read.where)
        answered = bag(look.answer.schema, look.answer.rows)
        if len(files) > 1 and any(
            bag(*projected(read, snapshot.schema, rows)) == answered for _, rows in files
        ):
            return True
    return False


def one_file_updated_for_all(observation: Observation, _: Violation) -> bool:
    """An update by partition columns, or of all rows, changed the rows of one file, and left those of the others."""
    operation, before, found = observation.operation, observation.before, rows_after(observation)
    if not isinstance(operation, Update) or before is None or found is None:
        return False
    if not isinstance(observation.outcome, Committed) or not _by_partitions(before, operation.where):
        return False
    removed = {remove.key for commit in observation.commits for remove in commit.removes}
    files = files_with_rows(observation, before)
    updated = [rows for add, rows in files if add.key in removed]
    left = [row for add, rows in files if add.key not in removed for row in rows]
    missed = _picked([file for file in files if file[0].key not in removed], before, operation.where)
    if len(updated) != 1 or not missed:
        return False
    right = result_on(observation, updated[0], operation)
    return right is not None and bag(found.schema, found.rows) == bag(right.schema, right.rows) + bag(
        before.schema, left
    )


def one_file_counted_for_all(observation: Observation, violation: Violation) -> bool:
    """The metric of updated rows is that of the one file that the update has found."""
    operation, before = observation.operation, observation.before
    if not isinstance(operation, Update) or before is None or not _by_partitions(before, operation.where):
        return False
    removed = {remove.key for commit in observation.commits for remove in commit.removes}
    files = _picked(files_with_rows(observation, before), before, operation.where)
    found = [rows for add, rows in files if add.key in removed]
    if len(found) != 1 or len(files) < 2:
        return False
    return violation.detail.startswith(f"numupdatedrows is said to be {len(found[0])}, ")


def _names_partition_columns(snapshot: Snapshot, names: Sequence[str]) -> bool:
    return set(names) <= set(snapshot.partition_by)


def _by_partitions(snapshot: Snapshot, where: Expression | None) -> bool:
    """Whether a predicate looks at partition columns alone."""
    return where is None or {column.path[0] for column in columns_of(where)} <= set(snapshot.partition_by)


def _picked(files: Sequence[File], snapshot: Snapshot, where: Expression | None) -> list[File]:
    """The files with rows that a predicate picks, with these rows."""
    picked = [
        (add, tuple(row for row in rows if where is None or evaluate(where, snapshot.schema, row) is True))
        for add, rows in files
    ]
    return [(add, rows) for add, rows in picked if rows]
