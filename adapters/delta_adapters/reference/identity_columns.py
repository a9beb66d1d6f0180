"""Generate values for identity columns: the next ones after the high-water mark, which moves with them."""

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
    """Return the value that a column generates next."""
    return column.start if column.mark is None else column.mark + column.step


def with_identity_values(table: Table, first: Marks = next_value) -> Table:
    """Return the table with its generated values, and with high-water marks that include them.

    Raises Exhausted if a column has no values left.
    """
    for column in identities(table.schema):
        values = count(first(column), column.step)
        generated: list[int] = []

        def value_of(old: Value, values: count[int] = values, generated: list[int] = generated) -> Value:
            if old is not UNKNOWN:
                return old
            generated.append(next(values))
            return generated[-1]

        position = column.position
        rows = tuple((*row[:position], value_of(row[position]), *row[position + 1 :]) for row in table.rows)
        if not all(LEAST <= value <= MOST for value in generated):
            raise Exhausted(column.name)
        if generated:
            table = _marked(table, position, generated[-1]).with_rows(rows)
    return table


def with_newer_marks(schema: Struct, newer: Struct) -> Struct:
    """Return an earlier schema with the marks of a newer one, because a mark never moves back."""
    marks = {identity.name: identity.mark for identity in identities(newer) if identity.mark is not None}
    return Struct(
        tuple(_with_mark(field, marks[field.name]) if field.name in marks else field for field in schema)
    )


def _marked(table: Table, position: int, mark: int) -> Table:
    fields = list(table.schema.fields)
    fields[position] = _with_mark(fields[position], mark)
    return replace(table, schema=Struct(tuple(fields)))


def _with_mark(field: Field, mark: int) -> Field:
    return field.with_metadata({**field.metadata, MARK: mark})
