"""Plays steps on the model alone, which costs nothing: what a history may not do is told before an engine is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from conformance.histories import Step
from conformance.triage.references import states_named
from delta_models.operations import (
    FAULTS,
    QUERIES,
    Interleave,
    Operation,
    Read,
    ReadChanges,
    ReadStream,
    Reopen,
)
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import Struct
from delta_models.table import AllowedOutcome, ModelHistory, NotModelled, Table
from delta_models.table.expectation import ANY_NUMBER
from delta_models.wire_names import name_of


@dataclass(frozen=True, slots=True)
class ModelPlay:
    """What the model makes of some steps: the table before each of them and after the last, and what it refuses."""

    tables: tuple[Table, ...]
    refusals: Counter[str]

    @property
    def end(self) -> Table:
        """The table after the last step."""
        return self.tables[-1]

    def is_legal_beside(self, original: ModelPlay) -> bool:
        """Whether the model refuses no operation here that it does not refuse in the original."""
        return self.refusals <= original.refusals


def play_on_model(steps: Sequence[Step]) -> ModelPlay | None:
    """Play steps on the model; None if they are no history: the model can't execute one, or a state does not exist."""
    history = ModelHistory()
    tables = [history.table]
    refusals: Counter[str] = Counter()
    try:
        for number, step in enumerate(steps):
            operation = step.operation
            if any(not 0 <= state < number for state in states_named(operation)):
                return None
            if isinstance(operation, FAULTS):
                history = history.after(Reopen())
            elif isinstance(operation, Interleave):
                history = _after_race(history, operation, refusals)
            else:
                history = _after(history, operation, refusals)
            if not _is_sound(history.table):
                return None
            tables.append(history.table)
    except (NotModelled, NotImplementedError, ArithmeticError, LookupError, TypeError, ValueError):
        return None
    return ModelPlay(tuple(tables), refusals)


def _after(history: ModelHistory, operation: Operation, refusals: Counter[str]) -> ModelHistory:
    if isinstance(operation, QUERIES):
        _check_query(history, operation, refusals)
        return history.after(operation)
    ordinary = history.expect(operation).allowed_outcomes[0]
    if isinstance(ordinary.outcome, Rejected):
        refusals[name_of(operation)] += 1
    return history.after(operation)


def _check_query(history: ModelHistory, query: Operation, refusals: Counter[str]) -> None:
    if not history.table.exists:
        refusals[name_of(query)] += 1
    elif isinstance(query, Read):
        refusals[name_of(query)] += history.expect_read(query).rows is None
    elif isinstance(query, ReadChanges):
        refusals[name_of(query)] += history.expect_changes(query).steps is None
    elif not isinstance(query, ReadStream):
        history.expect(query)


def _after_race(history: ModelHistory, race: Interleave, refusals: Counter[str]) -> ModelHistory:
    """The history after a race, as if its operations came one after another; each sees what was before all."""
    after = history
    for operation in race.operations:
        _after(history, operation, refusals)
        after = _after(after, operation, Counter())
    reached = AllowedOutcome(Committed(), (0, ANY_NUMBER), after.table, "race.no-lost-update")
    return history.after(race, reached)


def _is_sound(table: Table) -> bool:
    """Whether a table is one that histories may have: it has columns, and not all of them partition it."""
    if not table.exists:
        return True
    names = [name.casefold() for name in table.schema.names]
    partitioning = {name.casefold() for name in table.partition_by}
    return len(set(names)) == len(names) and bool(set(names) - partitioning) and _structs_hold(table.schema)


def _structs_hold(schema: Struct) -> bool:
    return all(not isinstance(column.type, Struct) or len(column.type) > 0 for column in schema)


def tables_before(steps: Sequence[Step]) -> tuple[Table, ...]:
    """The table before each step, and after the last. Raises ValueError for steps that are no history."""
    played = play_on_model(steps)
    if played is None:
        raise ValueError("no history")
    return played.tables


def with_operation(steps: Sequence[Step], number: int, operation: Operation) -> tuple[Step, ...]:
    """The steps with another operation in one of them."""
    return (*steps[:number], replace(steps[number], operation=operation), *steps[number + 1 :])
