"""Columns whose values the table fills itself: generated from another column, or counted by an identity.

Predicates, expressions and merge keys name no identity column, since each engine counts in its own way. So operations
are drawn from a history without identity columns.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.generation.choices import Choices
from delta_models.expressions import Column
from delta_models.operations import Merge, MergeClause, Operation
from delta_models.schema import DATE, INTEGER, LONG, STRING, TIMESTAMP, DataType, Field
from delta_models.table import ModelHistory
from delta_models.table.generated_columns import GENERATION
from delta_models.table.identity import identities, identity_field, without_identities

# How a column may be generated: the type of the other column, the text (`{}` is the other), and its own type.
EXPRESSIONS: tuple[tuple[DataType, str, DataType], ...] = (
    (LONG, "{}", LONG),
    (STRING, "substring({}, 1, 1)", STRING),
    (TIMESTAMP, "CAST({} AS DATE)", DATE),
    (INTEGER, "CAST({} AS BIGINT)", LONG),
)
GENERATED_NAME = "made"
IDENTITY_NAME = "serial"
STARTS_AND_STEPS = ((1, 1), (0, 1), (10, 10), (1, -1), (-7, 3), (100, -25), (2**63 - 12, 2))


def with_generated(choices: Choices, fields: list[Field], partitions_from: int) -> list[Field]:
    """Return the columns, and behind them one that is generated from a data column, if any can be its source."""
    possible = [
        (field, text, data_type)
        for field in fields[:partitions_from]
        for source_type, text, data_type in EXPRESSIONS
        if field.type == source_type
    ]
    if not possible:
        return fields
    source, text, data_type = choices.pick(possible)
    generated = Field(GENERATED_NAME, data_type)
    return [*fields, generated.with_metadata({GENERATION: text.format(f"`{source.name}`")})]


def with_identity(choices: Choices, fields: list[Field]) -> list[Field]:
    """Return the columns, and behind them an identity column. Writers may put values into a third of such columns."""
    start, step = choices.pick(STARTS_AND_STEPS)
    return [*fields, identity_field(IDENTITY_NAME, start, step, explicit=choices.one_in(3))]


def identity_columns(model_history: ModelHistory) -> tuple[Field, ...]:
    """Return the identity columns of the newest state."""
    table = model_history.table
    return tuple(table.schema.fields[identity.position] for identity in identities(table.schema))


def without_identity_columns(model_history: ModelHistory) -> ModelHistory:
    """Return the history as operations may be drawn from it."""
    schemas = {
        id(state.table.schema): state.table.schema for state in model_history.states
    }  # few, of many states
    if not any(map(identities, schemas.values())):
        return model_history
    states = tuple(replace(state, table=without_identities(state.table)) for state in model_history.states)
    return replace(model_history, states=states)


def spell_out_columns(operation: Operation, names: tuple[str, ...]) -> Operation:
    """Return a merge with these columns listed where it says `*`: its source lacks identity columns."""
    if not isinstance(operation, Merge):
        return operation
    clauses = tuple(
        _spell_out(clause, names) if clause.everything else clause for clause in operation.clauses
    )
    return replace(operation, clauses=clauses)


def _spell_out(clause: MergeClause, names: tuple[str, ...]) -> MergeClause:
    assignments = tuple((name, Column(("source", name))) for name in names)
    return replace(clause, assignments=assignments, everything=False)
