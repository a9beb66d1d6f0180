"""Row tracking: each row has an id, and the version that wrote it last, which move with it from file to file."""

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
    """A row that was there before, with its id and version; without a version it is written anew."""

    id: Value
    version: Value

    def __new__(cls, row: Iterable[Value], number: Value, version: Value) -> Self:
        """A row with what is known of it."""
        made = super().__new__(cls, row)
        made.id, made.version = number, version
        return made


def rows_of(reader: LogReader, state: Snapshot, add: Add) -> tuple[Row, ...]:
    """The rows of a live file, with their ids where they have such."""
    if not is_tracked(state):
        return reader.file_rows(state, add)
    return tuple(
        PreservedRows(tracked_row.row, tracked_row.id, tracked_row.version)
        for tracked_row in tracked_rows(reader, state, add)
    )


def row_columns(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The columns in which files of a table hold ids and versions of their rows; none where rows have no ids."""
    if properties.get(ENABLED, "").lower() != "true":
        return ()
    return tuple(properties[key] for key in COLUMNS if key in properties)


def named(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties, with names for the columns that a tracked table needs."""
    if properties.get(ENABLED, "").lower() != "true":
        return dict(properties)
    return {key: f"{prefix}{uuid.uuid4()}" for key, prefix in COLUMNS.items()} | dict(properties)


def numbered(adds: Sequence[Form], state: Snapshot | None, version: int) -> Iterator[Form]:
    """Give each file that has none its first row id and its version; yields how far ids are taken by then."""
    known = state.domains.get(DOMAIN) if state else None
    mark = json.loads(known.configuration)["rowIdHighWaterMark"] if known and not known.removed else -1
    before = mark
    for add in adds:
        said = add["add"]
        if "baseRowId" not in said:
            said["baseRowId"], said["defaultRowCommitVersion"] = mark + 1, version
            mark += json.loads(said["stats"])["numRecords"]
    if mark != before:
        yield domain(DOMAIN, json.dumps({"rowIdHighWaterMark": mark}))


def unnumbered(reader: LogReader, state: Snapshot) -> Iterator[Form]:
    """The live files that have no row ids, once more as they are, for such to be added; their rows counted."""
    for add in live_adds(state):
        if add.base_row_id is None:
            form = add_again(add, data_change=False)
            if "numRecords" not in (add.statistics or {}):
                length = reader.files.contribution(state, add).length
                form["add"]["stats"] = json.dumps({"numRecords": length})
            yield form


def carried(
    operation: ops.Operation, before: Table, after: Table, lost: Sequence[Row], new: Sequence[Row]
) -> list[Row]:
    """The rows to be written, each with its id if it is one of those that their files lose, or comes of one of them."""
    known = [row for row in lost if isinstance(row, PreservedRows)]
    if not known:
        return list(new)
    key, convert = row_keyer(after.schema), value_converter(before.schema, after.schema)
    wanted = Counter(map(key, new))
    rows = {key(row): row for row in new}
    found: list[Row] = []
    rest: list[PreservedRows] = []
    for old in known:
        row = convert(old)
        if wanted[key(row)] > 0:
            wanted[key(row)] -= 1
            found.append(PreservedRows(row, old.id, old.version))
        else:
            rest.append(old)
    for old in rest:
        for row in _successors(operation, before, old):
            if wanted[key(row)] > 0:
                wanted[key(row)] -= 1
                found.append(PreservedRows(row, old.id, None))
    return found + [rows[each] for each in wanted.elements()]


def _successors(operation: ops.Operation, before: Table, row: Row) -> tuple[Row, ...]:
    """What an operation that changes rows makes of one row alone."""
    alone = before.with_rows((row,))
    match operation:
        case ops.Update():
            return update(alone, operation).ordinary.table.rows
        case ops.Merge(clauses=clauses):
            changing = tuple(clause for clause in clauses if clause.action != "insert")
            return merge(alone, replace(operation, clauses=changing)).ordinary.table.rows if changing else ()
    return ()
