"""Row tracking: assign ids to rows, and keep each row's id and last version when it moves to another file."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Self

from delta_adapters.reference.actions import Form, add_again, domain
from delta_models import operations as ops
from delta_models.log import Add, LogReader, Snapshot
from delta_models.log.reader import live_adds
from delta_models.log.row_ids import ENABLED, is_tracked, tracked_rows
from delta_models.table import Table
from delta_models.table.merge import merge
from delta_models.table.row_conversion import value_converter
from delta_models.table.update_delete import update
from delta_models.values import Row, Value, row_keyer

TRACKING = "rowTracking"
DOMAIN = "delta.rowTracking"
PRESERVED = "delta.rowTracking.preserved"
COLUMNS = {
    "delta.rowTracking.materializedRowIdColumnName": "_row-id-col-",
    "delta.rowTracking.materializedRowCommitVersionColumnName": "_row-commit-version-col-",
}


class PreservedRows(tuple[Value, ...]):  # noqa: SLOT001 - a tuple with values has no place for slots
    """A row that was in the table before, with its id and version. A changed row has no version."""

    id: Value
    version: Value

    def __new__(cls, row: Iterable[Value], number: Value, version: Value) -> Self:
        """Return a row with its id and version."""
        preserved = super().__new__(cls, row)
        preserved.id, preserved.version = number, version
        return preserved


def file_rows(reader: LogReader, state: Snapshot, add: Add) -> tuple[Row, ...]:
    """Return the rows of a live file, with their ids if the table tracks rows."""
    if not is_tracked(state):
        return reader.file_rows(state, add)
    return tuple(
        PreservedRows(tracked_row.row, tracked_row.id, tracked_row.version)
        for tracked_row in tracked_rows(reader, state, add)
    )


def row_columns(properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns in which files hold ids and versions of their rows; none if the table does not track rows."""
    if properties.get(ENABLED, "").lower() != "true":
        return ()
    return tuple(properties[key] for key in COLUMNS if key in properties)


def with_row_id_columns(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties, with names for the columns of row ids and versions if the table tracks rows."""
    if properties.get(ENABLED, "").lower() != "true":
        return dict(properties)
    return {key: f"{prefix}{uuid.uuid4()}" for key, prefix in COLUMNS.items()} | dict(properties)


def assign_row_ids(adds: Sequence[Form], state: Snapshot | None, version: int) -> Iterator[Form]:
    """Give each file without one its first row id and version. Yield the new high-water mark, if it moved."""
    known = state.domains.get(DOMAIN) if state else None
    mark = json.loads(known.configuration)["rowIdHighWaterMark"] if known and not known.removed else -1
    before = mark
    for add in adds:
        fields = add["add"]
        if "baseRowId" not in fields:
            fields["baseRowId"], fields["defaultRowCommitVersion"] = mark + 1, version
            mark += json.loads(fields["stats"])["numRecords"]
    if mark != before:
        yield domain(DOMAIN, json.dumps({"rowIdHighWaterMark": mark}))


def adds_without_row_ids(reader: LogReader, state: Snapshot) -> Iterator[Form]:
    """Yield adds for the live files without row ids, otherwise unchanged. Each has the number of its rows."""
    for add in live_adds(state):
        if add.base_row_id is None:
            form = add_again(add, data_change=False)
            if "numRecords" not in (add.statistics or {}):
                length = reader.files.contribution(state, add).length
                form["add"]["stats"] = json.dumps({"numRecords": length})
            yield form


def with_known_ids(
    operation: ops.Operation, before: Table, after: Table, lost: Sequence[Row], new: Sequence[Row]
) -> list[Row]:
    """Return the rows to write. A row keeps its id if it is one of the lost rows, or was made from one of them."""
    known = [row for row in lost if isinstance(row, PreservedRows)]
    if not known:
        return list(new)
    key, convert = row_keyer(after.schema), value_converter(before.schema, after.schema)
    unmatched = Counter(map(key, new))
    rows = {key(row): row for row in new}
    preserved: list[Row] = []
    rest: list[PreservedRows] = []
    for old in known:
        row = convert(old)
        if unmatched[key(row)] > 0:
            unmatched[key(row)] -= 1
            preserved.append(PreservedRows(row, old.id, old.version))
        else:
            rest.append(old)
    for old in rest:
        for row in _successors(operation, before, old):
            if unmatched[key(row)] > 0:
                unmatched[key(row)] -= 1
                preserved.append(PreservedRows(row, old.id, None))
    return preserved + [rows[row_key] for row_key in unmatched.elements()]


def _successors(operation: ops.Operation, before: Table, row: Row) -> tuple[Row, ...]:
    """Return the rows that an update or a merge makes of one row."""
    alone = before.with_rows((row,))
    match operation:
        case ops.Update():
            return update(alone, operation).ordinary.table.rows
        case ops.Merge(clauses=clauses):
            changing = tuple(clause for clause in clauses if clause.action != "insert")
            return merge(alone, replace(operation, clauses=changing)).ordinary.table.rows if changing else ()
    return ()
