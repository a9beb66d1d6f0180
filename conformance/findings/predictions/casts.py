"""Rows of other types than the table's, which an engine casts where it must refuse them."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.findings.predictions.tables import rows_after, rows_before, same_rows
from conformance.observations.observation import Observation
from delta_models.operations import Append
from delta_models.outcomes import Committed
from delta_models.requirements import Violation
from delta_models.schema import BYTE, INTEGER, LONG, SHORT, STRING, Array, DataType
from delta_models.values import Row, Value

WHOLE = frozenset({BYTE, SHORT, INTEGER, LONG})


class _OtherCast(Exception):
    """A value that would be cast in another way."""


def text_made_a_list(observation: Observation, _: Violation) -> bool:
    """Texts are appended as Arrow casts them: to a list of one text, or to the whole number that they spell."""
    operation, before, found = observation.operation, rows_before(observation), rows_after(observation)
    if not isinstance(operation, Append) or before is None or found is None:
        return False
    if not isinstance(observation.outcome, Committed) or found.schema.names != observation.model.schema.names:
        return False
    given = {field.name: place for place, field in enumerate(operation.rows.schema)}
    types = [(given.get(field.name), field.type) for field in found.schema]
    if len(given) != len(types) or not any(
        place is not None and operation.rows.schema.fields[place].type == STRING != wanted
        for place, wanted in types
    ):
        return False
    try:
        written = list(_cast(operation, types))
    except _OtherCast:
        return False
    return same_rows(found.schema, [*before, *written], found.rows)


def _cast(operation: Append, types: list[tuple[int | None, DataType]]) -> Iterator[Row]:
    schema = operation.rows.schema
    for row in operation.rows.rows:
        yield tuple(
            None if place is None else _value(row[place], schema.fields[place].type, wanted)
            for place, wanted in types
        )


def _value(value: Value, given: DataType, wanted: DataType) -> Value:
    if given == wanted:
        return value
    if given == STRING and isinstance(wanted, Array):
        return (_value(value, given, wanted.element),)
    if given == STRING and wanted in WHOLE:
        try:
            return None if value is None else int(value)
        except ValueError:
            raise _OtherCast from None
    raise _OtherCast
