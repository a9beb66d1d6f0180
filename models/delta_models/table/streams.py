"""What streams must deliver: a streaming reader of the table, and a stream that writes into it.

At each query a streaming reader must have received the rows of its first query and all later ones, each row once. The
log says which commits remove rows; the rows cannot, because an append may leave the same table as a rewrite.
Maintenance delivers nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from delta_models.operations import Append, Interleave, ReadStream, WriteStream
from delta_models.outcomes import Committed
from delta_models.schema import Struct
from delta_models.table.change_feed import StepChanges, is_recorded, step_changes
from delta_models.table.expectation import AllowedOutcome, Expectation, expect_no_change
from delta_models.table.row_conversion import value_converter
from delta_models.table.state import NotModelled
from delta_models.table.write import append
from delta_models.values import Key, Rows

if TYPE_CHECKING:
    from delta_models.table.history_model import ModelHistory, State

ROWS, INSERTS, CHANGES = FOLLOWS = ("rows", "inserts", "changes")


@dataclass(frozen=True, slots=True)
class StreamExpectation:
    """What a streaming reader must have received.

    These are the rows of its `first` query and those that came in `steps`. The log says which steps removed rows. If
    the reader follows changes, they add up to the rows `now`. `ever` are the rows of any state since then. `upkeep`:
    since the last query there were commits, and no row came or went. `refusals` are the kinds that are always allowed.
    """

    schema: Struct
    first: Counter[Key]
    now: Counter[Key]
    steps: tuple[StepChanges, ...]
    ever: frozenset[Key]
    upkeep: bool
    refusals: tuple[str, ...] = ()


def expect_stream_read(
    model_history: ModelHistory, query: ReadStream, began: int, last: int
) -> StreamExpectation:
    """Return what a streaming reader must have received.

    The step `began` made its first query, the step `last` the one before this. Raises NotModelled if the schema has
    changed on the way.
    """
    if query.follows not in FOLLOWS:
        raise NotModelled(f"a reader that follows {query.follows}")
    states = model_history.states[max(0, began - 1) :]
    tables = [state.table for state in states]
    if not began or not all(table.exists and table.schema == tables[0].schema for table in tables):
        raise NotModelled(
            "a reader that follows another table, or other columns, than those of its first look"
        )
    if query.follows == CHANGES and not all(map(is_recorded, tables)):
        raise NotModelled("the changes of a table that does not record them all")
    if query.follows == INSERTS and any(isinstance(state.operation, Interleave) for state in states[1:]):
        raise NotModelled("which of several commits at once brought which rows")
    steps = tuple(
        step_changes(began + index, before.table, after.table)
        for index, (before, after) in enumerate(pairwise(states))
        if after.commits[1] > 0
    )
    return StreamExpectation(
        tables[0].schema, tables[0].bag, tables[-1].bag, steps,
        frozenset(key for table in tables for key in table.bag), _only_upkeep(model_history.states[last - 1 :]),
        ("missing-file", "missing-version") if model_history.first_readable > last else (),
    )  # fmt: skip


def _only_upkeep(states: Sequence[State]) -> bool:
    """Whether there were new versions, and no row came or went."""
    return any(state.commits[1] > 0 for state in states[1:]) and all(
        state.table.bag == states[0].table.bag for state in states[1:]
    )


def expect_stream_write(model_history: ModelHistory, operation: WriteStream) -> Expectation:
    """Expect the table's rows and all rows that the stream has received and not yet written."""
    table = model_history.table
    waiting = unwritten_batches(model_history, operation.stream)
    schema = operation.rows.schema
    earlier = (row for batch in waiting for row in map(value_converter(batch.schema, schema), batch.rows))
    rows = Rows(schema, (*earlier, *operation.rows.rows))
    if not rows.rows:
        return expect_no_change(table, "stream.all-written", most=0)
    expectation = append(table, Append(rows))
    return Expectation(
        tuple(_in_batches(allowed, 1 + len(waiting)) for allowed in expectation.allowed_outcomes)
    )


def unwritten_batches(model_history: ModelHistory, stream: str) -> list[Rows]:
    """Return the rows that a stream received in earlier steps and has not written, one batch for each step."""
    waiting: list[Rows] = []
    for state in reversed(model_history.states):
        if isinstance(state.operation, WriteStream) and state.operation.stream == stream:
            if state.commits[1] > 0:
                break
            waiting.append(state.operation.rows)
    return [batch for batch in reversed(waiting) if batch.rows]


def _in_batches(allowed: AllowedOutcome, most: int) -> AllowedOutcome:
    if not isinstance(allowed.outcome, Committed):
        return allowed
    return AllowedOutcome(allowed.outcome, (1, most), allowed.table, "stream.all-written", allowed.breaks)
