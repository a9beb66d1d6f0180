"""Values for identity columns: the next ones behind the high-water mark, which moves along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from delta_models.schema import Field, Struct
from delta_models.table import Table
from delta_models.table.identity import MARK, UNKNOWN, Identity, identities
from delta_models.values import Value

LEAST, MOST = -(2**63), 2**63 - 1

Marks = Callable[[Identity], int]


class Exhausted(ValueError):
    """An identity column has no values left."""


def next_value(column: Identity) -> int:
    """The value that a column generates next."""
    return column.start if column.mark is None else column.mark + column.step


def with_identity_values(table: Table, first: Marks = next_value) -> Table:
    """The table with values where it has to make them up, and the marks as far as these reach."""
    for column in identities(table.schema):
        values = count(first(column), column.step)
        made: list[int] = []

        def value_of(old: Value, values: count[int] = values, made: list[int] = made) -> Value:
            if old is not UNKNOWN:
                return old
            made.append(next(values))
            return made[-1]

        at = column.position
        rows = tuple((*row[:at], value_of(row[at]), *row[at + 1 :]) for row in table.rows)
        if not all(LEAST <= each <= MOST for each in made):
            raise Exhausted(column.name)
        if made:
            table = _marked(table, at, made[-1]).with_rows(rows)
    return table


def with_newer_marks(schema: Struct, newer: Struct) -> Struct:
    """An earlier schema with the marks of a newer one, for a mark never moves back."""
    marks = {identity.name: identity.mark for identity in identities(newer) if identity.mark is not None}
    return Struct(
        tuple(_with_mark(field, marks[field.name]) if field.name in marks else field for field in schema)
    )


def _marked(table: Table, at: int, mark: int) -> Table:
    fields = table.schema.fields
    return replace(table, schema=Struct((*fields[:at], _with_mark(fields[at], mark), *fields[at + 1 :])))


def _with_mark(field: Field, mark: int) -> Field:
    return field.with_metadata({**field.metadata, MARK: mark})
