"""Lists whose items an older deltalake counts as nulls, and columns that it then takes to be null in a whole file.

Parquet counts the nulls of a column of lists among its items: a list that is null or empty counts as one. deltalake
gave this number as the column's nullCount. Where it equals the number of rows, the reader answers null for them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from conformance.findings.predictions.tables import (
    files_with_rows,
    projected,
    same_rows,
    snapshot_of,
    wrong_reads,
)
from conformance.observations.observation import Observation
from delta_models.log.actions import Add
from delta_models.requirements import Violation
from delta_models.schema import Array, DataType, Primitive, Struct
from delta_models.values import Row, Value


def items_counted_as_nulls(observation: Observation, violation: Violation) -> bool:
    """The nullCount of a column of lists is that of its items, by which each null or empty list is one."""
    after = observation.after
    if after is None:
        return False
    return any(
        violation.detail == f"{add.path}: {field.name}: nullCount is {counted}, there are {nulls} nulls"
        for add, rows in files_with_rows(observation, after)
        for place, field in enumerate(after.schema)
        if _is_list(field.type)
        for counted, nulls in [_counts([row[place] for row in rows])]
    )


def lists_read_as_null(observation: Observation, violation: Violation) -> bool:
    """A read of whole files answers null for the lists of each file whose nullCount is its number of rows."""
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or look.answer is None or read.where is not None:
            continue
        right: list[Row] = []
        wrong: list[Row] = []
        for add, rows in files_with_rows(observation, snapshot):
            places = set(_taken_for_null(snapshot.schema, add, rows))
            right += rows
            wrong += [
                tuple(None if place in places else value for place, value in enumerate(row)) for row in rows
            ]
        narrow, held = projected(read, snapshot.schema, right)
        _, answered = projected(read, snapshot.schema, wrong)
        if not same_rows(narrow, held, answered) and same_rows(narrow, answered, look.answer.rows):
            return True
    return False


def _taken_for_null(schema: Struct, add: Add, rows: tuple[Row, ...]) -> Iterator[int]:
    """The columns of lists whose nullCount in the log is that of their items, and the number of rows."""
    counts = json.loads(add.stats or "{}").get("nullCount", {})
    for place, field in enumerate(schema):
        if _is_list(field.type):
            counted, _ = _counts([row[place] for row in rows])
            if counts.get(field.name) == counted == len(rows):
                yield place


def _counts(values: list[Value]) -> tuple[int, int]:
    """How many nulls a column of lists is said to have, and how many it has."""
    return sum(map(_items_that_are_null, values)), sum(value is None for value in values)


def _items_that_are_null(value: Value) -> int:
    if value is None or value == ():
        return 1
    return sum(map(_items_that_are_null, value)) if isinstance(value, tuple) else 0


def _is_list(data_type: DataType) -> bool:
    """Whether values are lists, or lists of lists, of primitive values."""
    if not isinstance(data_type, Array):
        return False
    return isinstance(data_type.element, Primitive) or _is_list(data_type.element)
