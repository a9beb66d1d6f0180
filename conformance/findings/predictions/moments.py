"""Timestamps that overflow: in files of Spark's old form, INT96, they are read as nanoseconds of 64 bits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from conformance.findings.predictions.tables import (
    Rewrite,
    files_with_rows,
    in_columns,
    is_unchanged,
    message_of,
    partition_places,
    result_on,
    rows_after,
    same_rows,
    snapshot_of,
    wrong_reads,
)
from conformance.observations.observation import Observation
from delta_models.expressions import holds
from delta_models.log import Snapshot, paths
from delta_models.log.actions import Add
from delta_models.log.changes import commit_changes
from delta_models.log.column_mapping import log_name
from delta_models.log.parquet.layout import file_layout
from delta_models.operations import Delete, Merge, Operation, Optimize, Overwrite, Update, ZOrder
from delta_models.outcomes import Committed, NoChange
from delta_models.requirements import Violation
from delta_models.schema import TIMESTAMP
from delta_models.table import Table
from delta_models.values import Key, Row, Rows, row_key

NANOSECONDS = 2**64  # a count of nanoseconds wraps around there
LOST = re.compile(r"would lose data: (?P<left>-?\d+)")
SIGNS = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}


def old_timestamps(observation: Observation, snapshot: Snapshot, add: Add) -> list[int]:
    """The positions of the columns whose timestamps a file holds as INT96. Raises LogError."""
    parts = partition_places(snapshot.schema, snapshot.partition_by)
    fields = enumerate(snapshot.schema.fields)
    places = [place for place, field in fields if field.type == TIMESTAMP and place not in parts]
    if not places:
        return []
    layout = file_layout(paths.resolve(observation.reader.folder, add.path))
    old = {column.name for column in layout if column.int96}
    return [place for place in places if log_name(snapshot, snapshot.schema.fields[place].name) in old]


def overflowing(places: Iterable[int]) -> Rewrite:
    """A function that reads the timestamps in these columns of a row as nanoseconds of 64 bits."""
    return in_columns(places, lambda _, value: _as_nanoseconds(int(str(value))))


def moment_does_not_fit(observation: Observation, violation: Violation) -> bool:
    """A read is refused for the nanoseconds that are left of a moment, which are no whole microseconds."""
    for read, look in wrong_reads(observation, violation):
        snapshot, told = snapshot_of(observation, read), LOST.search(message_of(look.refused))
        if snapshot is None or told is None:
            continue
        for add, rows in files_with_rows(observation, snapshot):
            places = old_timestamps(observation, snapshot, add)
            moments = {row[place] for row in rows for place in places} - {None}
            if any(_nanoseconds(int(str(moment))) == int(told["left"]) for moment in moments):
                return True
    return False


def overflowed_moments_written(observation: Observation, _: Violation) -> bool:
    """The write found the moments of the files that it rewrote overflowed, and they stand so in its new files."""
    if not isinstance(observation.outcome, Committed):
        return False
    found = rows_after(observation)
    expected = _Rewrite.of(observation)
    return found is not None and expected is not None and expected.leaves(found)


def overflowed_moments_told(observation: Observation, violation: Violation) -> bool:
    """The feed tells the changes from the moments that the write found to those that it left."""
    expected, after = _Rewrite.of(observation), observation.after
    if expected is None or after is None or not overflowed_moments_written(observation, violation):
        return False
    told: Counter[Key] = Counter()
    for commit in observation.commits:
        for row, kind in commit_changes(observation.reader, after, commit):
            told[row_key(after.schema, row)] += SIGNS[kind]
    return _without_zeros(told) == expected.difference()


def overflowed_moments_not_found(observation: Observation, _: Violation) -> bool:
    """Nothing was done: no row with the moments as they are read is to be written."""
    if not isinstance(observation.outcome, NoChange) or not is_unchanged(observation):
        return False
    found, expected = rows_after(observation), _Rewrite.of(observation)
    return found is not None and expected is not None and expected.leaves(found)


class _Rewrite:
    """What a write leaves if it reads overflowed moments.

    `read` are the rows that it may find, and `left` those of the files that it passes over.
    """

    def __init__(self, read: Sequence[Row], left: Sequence[Row], reached: Table) -> None:
        self._read = read
        self._left = left
        self._reached = reached

    @classmethod
    def of(cls, observation: Observation) -> _Rewrite | None:
        """The write of a step; None if no moment overflows in it, or if it passed over a file that it had to find."""
        before, operation = observation.before, observation.operation
        if before is None or not isinstance(
            operation, Delete | Update | Merge | Overwrite | Optimize | ZOrder
        ):
            return None
        removed = {remove.key for commit in observation.commits for remove in commit.removes}
        read: list[Row] = []
        left: list[Row] = []
        overflows = False
        for add, rows in files_with_rows(observation, before):
            seen = list(map(overflowing(old_timestamps(observation, before, add)), rows))
            if seen == list(rows):
                read += rows
                continue
            overflows = True
            if add.key in removed:
                read += seen
            elif _passes_over(observation, operation, rows, seen):
                left += rows
            else:
                return None
        reached = result_on(observation, read, operation)
        return cls(read, left, reached) if overflows and reached is not None else None

    def leaves(self, found: Rows) -> bool:
        """Whether these are the rows that the write leaves."""
        schema = self._reached.schema
        rows = (*self._reached.stored(self._reached.rows), *map(self._grown, self._left))
        return schema.names == found.schema.names and same_rows(schema, rows, found.rows)

    def difference(self) -> Counter[Key]:
        """How many of each row the write adds to those that it has read; a row that it takes away counts below 0."""
        schema, total = self._reached.schema, Counter[Key]()
        total.update(row_key(schema, row) for row in self._reached.rows)
        total.subtract(row_key(schema, self._grown(row)) for row in self._read)
        return _without_zeros(total)

    def _grown(self, row: Row) -> Row:
        """A row with null in the columns that the write has added."""
        return (*row, *[None] * (len(self._reached.schema) - len(row)))


def _passes_over(
    observation: Observation, operation: Operation, rows: Sequence[Row], seen: Sequence[Row]
) -> bool:
    """Whether a write may leave a file alone: by its statistics, which are right, or by the rows as it reads them."""
    match operation:
        case Optimize() | ZOrder():
            return True
        case Delete(where=where) | Update(where=where) | Overwrite(where=where):
            schema = observation.model.schema if observation.before is None else observation.before.schema
            return where is not None and not (
                any(holds(where, schema, row) for row in rows)
                and any(holds(where, schema, row) for row in seen)
            )
        case Merge(clauses=clauses):
            # What becomes of the source's other rows does not concern the file.
            alone = replace(operation, clauses=tuple(one for one in clauses if one.action != "insert"))
            return not alone.clauses or any(_stay(observation, alone, some) for some in (rows, seen))
    return False


def _stay(observation: Observation, operation: Operation, rows: Sequence[Row]) -> bool:
    reached = result_on(observation, rows, operation)
    return reached is not None and same_rows(reached.schema, reached.rows, rows)


def _without_zeros(counts: Counter[Key]) -> Counter[Key]:
    return Counter({key: count for key, count in counts.items() if count})


def _as_nanoseconds(micros: int) -> int:
    """The microseconds that are left of a moment: the rest of a nanosecond count is cut off towards 0."""
    nanos = _nanoseconds(micros)
    return nanos // 1000 if nanos >= 0 else -(-nanos // 1000)


def _nanoseconds(micros: int) -> int:
    return (micros * 1000 + NANOSECONDS // 2) % NANOSECONDS - NANOSECONDS // 2
