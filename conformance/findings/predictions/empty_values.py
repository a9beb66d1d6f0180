"""Empty texts and bytes in partition columns that an engine checks as what they are. Null is what they become.

So NOT NULL and constraints let them in. Such an engine leaves what the model says of a table without partitions, in
which an empty value stays one, and null stands in its place afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from conformance.findings.predictions.contents import escaped_bytes, replaced_bytes, squeezed_bytes
from conformance.findings.predictions.tables import (
    files_with_rows,
    in_columns,
    is_unchanged,
    message_of,
    partition_places,
    rows_after,
    rows_before,
    same_rows,
    snapshot_of,
    wrong_reads,
)
from conformance.observations.observation import Observation
from delta_models.operations import Operation, Overwrite
from delta_models.outcomes import Committed, Rejected
from delta_models.requirements import Violation
from delta_models.schema import BINARY, STRING, Struct
from delta_models.table import AllowedOutcome, ModelHistory, Table
from delta_models.table.history_model import State
from delta_models.values import Row, Rows

UNMASKED = re.compile(r'Found unmasked nulls for non-nullable StructArray field "(?P<name>[^"]*)"')
EMPTY = ("", b"")


def empty_values_let_in(observation: Observation, _: Violation) -> bool:
    """An operation that has to be refused is made, as if its empty values were none; nothing else of it is wrong.

    The engine may find by itself what it has made: it then reports a refusal of the new version, for null where the
    schema allows none.
    """
    found = rows_after(observation)
    if found is None or len(observation.commits) != 1:
        return False
    return any(
        left.schema == found.schema and _is_left(observation, left, found) for left in _left(observation)
    )


def empty_values_refused(observation: Observation, _: Violation) -> bool:
    """An operation that has to be made is refused, because its empty values are no null."""
    outcome = observation.outcome
    if not isinstance(outcome, Rejected) or outcome.kind != "constraint" or not is_unchanged(observation):
        return False
    reached = [one.outcome for one, _ in _reached(observation)]
    refused = [one.kind for one in reached if isinstance(one, Rejected)]
    return "constraint" in refused and len(refused) == len(reached)


def refused_for_an_empty_value(observation: Observation, violation: Violation) -> bool:
    """A read is refused for null in a column that may not be null, where the log has the empty value of a partition."""
    for read, look in wrong_reads(observation, violation):
        snapshot, told = snapshot_of(observation, read), UNMASKED.search(message_of(look.refused))
        if snapshot is None or told is None:
            continue
        places = set(_named(told, snapshot.schema)) & set(
            _empty_places(snapshot.schema, snapshot.partition_by)
        )
        if any(
            row[place] is None and add.partition_values.get(told["name"]) == ""
            for add, rows in files_with_rows(observation, snapshot)
            for row in rows
            for place in places
        ):
            return True
    return False


def _is_left(observation: Observation, left: Table, found: Rows) -> bool:
    """Whether the table has these rows with null where a value is empty, and the engine says what it has to."""
    schema = found.schema
    places = _empty_places(schema, observation.model.partition_by)
    right = [_with_nulls(row, places) for row in left.rows]
    if same_rows(schema, left.rows, right) or not _same_but_for_bytes(schema, right, found.rows, places):
        return False
    if isinstance(observation.outcome, Committed):
        return True
    told = UNMASKED.search(message_of(observation.outcome))
    return told is not None and any(row[place] is None for row in right for place in _named(told, schema))


def _same_but_for_bytes(
    schema: Struct, right: Sequence[Row], found: Sequence[Row], places: Sequence[int]
) -> bool:
    """Whether rows are equal; other bytes in partition columns may be what known causes make of them."""
    bytes_places = [place for place in places if schema.fields[place].type == BINARY]
    escape = in_columns(bytes_places, lambda _, value: escaped_bytes(bytes(value)))  # type: ignore[call-overload]  # a binary
    replace_bytes = in_columns(
        bytes_places,
        lambda _, value: squeezed_bytes(replaced_bytes(bytes(value))),  # type: ignore[call-overload]  # a binary
    )
    return (
        same_rows(schema, right, found)
        or same_rows(schema, map(escape, right), found)
        or same_rows(schema, map(replace_bytes, right), map(replace_bytes, found))
    )


def _left(observation: Observation) -> Iterator[Table]:
    """The tables that an operation that has to be refused may leave if an empty value stays one."""
    allowed = [one.outcome for one in observation.expectation.allowed_outcomes]
    if not any(isinstance(one, Rejected) and one.kind == "constraint" for one in allowed):
        return
    for reached, kept in _reached(observation):
        if not isinstance(reached.outcome, Rejected):
            yield replace(reached.table, rows=(*kept, *reached.table.rows))


def _reached(observation: Observation) -> Iterator[tuple[AllowedOutcome, tuple[Row, ...]]]:
    """What the model allows if an empty value stays one, and the rows that stay beside those that it leaves."""
    rows = rows_before(observation)
    if rows is None:
        return
    operation: Operation = observation.operation
    table = replace(observation.model, partition_by=(), rows=rows)
    kept: tuple[Row, ...] = ()
    if isinstance(operation, Overwrite) and operation.dynamic:
        kept = _outside(observation, operation, rows)
        operation = replace(operation, dynamic=False)
    state = State(table, (1, 1), may_remove=False)
    for reached in ModelHistory((state,)).expect(operation).allowed_outcomes:
        yield reached, kept


def _outside(observation: Observation, operation: Overwrite, rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows in partitions of which the operation writes none."""
    places = partition_places(observation.model.schema, observation.model.partition_by)
    written = {tuple(row[place] for place in places) for row in operation.rows.rows}
    return tuple(row for row in rows if tuple(row[place] for place in places) not in written)


def _empty_places(schema: Struct, partition_by: Sequence[str]) -> tuple[int, ...]:
    """The partition columns whose values can be empty."""
    places = partition_places(schema, partition_by)
    return tuple(place for place in places if schema.fields[place].type in {STRING, BINARY})


def _named(told: re.Match[str], schema: Struct) -> list[int]:
    """The column that a refusal names, if it may not be null."""
    return [place for place, field in enumerate(schema) if field.name == told["name"] and not field.nullable]


def _with_nulls(row: Row, places: Sequence[int]) -> Row:
    return tuple(None if place in places and value in EMPTY else value for place, value in enumerate(row))
