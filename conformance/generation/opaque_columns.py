"""Columns whose values a table makes up: no predicate, expression or merge key may name them, so nothing sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.generation.draw_context import DrawContext
from conformance.generation.rows import draw_rows
from delta_models.expressions import Column, Literal
from delta_models.operations import Append, Merge, MergeClause, Operation, Update
from delta_models.schema import LONG, Field, Struct
from delta_models.table import ModelHistory
from delta_models.table.identity import identities, without_identities
from delta_models.values import Rows

GIVEN = (0, 1, 2, 10, -1, 1_000_000)


def made_up(model_history: ModelHistory) -> tuple[Field, ...]:
    """The columns of the newest state that the table fills itself."""
    table = model_history.table
    return tuple(table.schema.fields[identity.position] for identity in identities(table.schema))


def without_made_up(model_history: ModelHistory) -> ModelHistory:
    """The history as far as anything may be drawn from it."""
    if not any(identities(state.table.schema) for state in model_history.states):
        return model_history
    states = tuple(replace(state, table=without_identities(state.table)) for state in model_history.states)
    return replace(model_history, states=states)


def spelled_out(operation: Operation, names: tuple[str, ...]) -> Operation:
    """The operation with the columns listed for which it says `*`: a source has none that the table fills itself."""
    if not isinstance(operation, Merge):
        return operation
    clauses = tuple(
        _spelled_out(clause, names) if clause.everything else clause for clause in operation.clauses
    )
    return replace(operation, clauses=clauses)


def _spelled_out(clause: MergeClause, names: tuple[str, ...]) -> MergeClause:
    assignments = tuple((name, Column(("source", name))) for name in names)
    return replace(clause, assignments=assignments, everything=False)


def append_given(place: DrawContext) -> Operation:
    """Rows with values for a column that the table fills itself."""
    rows = draw_rows(place.dice, place.shape)
    if not place.made_up:
        return Append(rows)
    schema = Struct((*rows.schema.fields, Field(place.made_up[0].name, LONG)))
    return Append(Rows(schema, tuple((*row, place.dice.pick(GIVEN)) for row in rows.rows)))


def update_given(place: DrawContext) -> Operation:
    """Another value for a column that the table fills itself."""
    if not place.made_up:
        return append_given(place)
    value = Literal(LONG, place.dice.pick(GIVEN))
    return Update(((place.made_up[0].name, value),), place.where())


OPAQUE: Mapping[str, Callable[[DrawContext], Operation]] = {
    "AppendGiven": append_given,
    "UpdateGiven": update_given,
}
