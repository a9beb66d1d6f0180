"""What streams must come to: a reader that follows the table, and a stream that writes into it.

A follower has got, by each of its looks, the rows of its first look and what has come since, each row once. Which
commits take rows away is said by the log, not by the rows: one that only adds may leave the same table as one that
rewrites. Upkeep brings nothing.
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
from delta_models.table.state import NotModelled
from delta_models.table.write import append
from delta_models.values import Key, Row, Rows

if TYPE_CHECKING:
    from delta_models.table.history_model import ModelHistory, State

ROWS, INSERTS, CHANGES = FOLLOWS = ("rows", "inserts", "changes")


@dataclass(frozen=True, slots=True)
class StreamExpectation:
    """What a follower must have got: the rows of the `first` look and those that came in `steps`, of which the log says
    which took rows away; where it follows changes, all told the rows that are there `now`.

    `ever` are the rows that any state since had. `upkeep`: since its last look there were commits, and no row came or
    went. `refusals` are the kinds by which it may be refused whatever it follows.
    """

    schema: Struct
    first: Counter[Key]
    now: Counter[Key]
    steps: tuple[StepChanges, ...]
    ever: frozenset[Key]
    upkeep: bool
    refusals: tuple[str, ...] = ()


def expect_stream_read(
    model_history: ModelHistory, tail: ReadStream, began: int, last: int
) -> StreamExpectation:
    """What a follower has got that made its first look in the step `began`, and the one before this in `last`.

    A change of the schema on the way is not modelled.
    """
    if tail.follows not in FOLLOWS:
        raise NotModelled(f"a reader that follows {tail.follows}")
    states = model_history.states[max(0, began - 1) :]
    tables = [state.table for state in states]
    if not began or not all(table.exists and table.schema == tables[0].schema for table in tables):
        raise NotModelled(
            "a reader that follows another table, or other columns, than those of its first look"
        )
    if tail.follows == CHANGES and not all(map(is_recorded, tables)):
        raise NotModelled("the changes of a table that does not record them all")
    if tail.follows == INSERTS and any(isinstance(state.operation, Interleave) for state in states[1:]):
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
    """Whether versions came, and neither a row came nor one went."""
    return any(state.commits[1] > 0 for state in states[1:]) and all(
        state.table.bag == states[0].table.bag for state in states[1:]
    )


def expect_stream_write(model_history: ModelHistory, operation: WriteStream) -> Expectation:
    """The table's rows and all that has arrived at the stream and was not written yet."""
    table = model_history.table
    waiting = unwritten_batches(model_history, operation.stream)
    rows = Rows(operation.rows.schema, (*(row for batch in waiting for row in batch), *operation.rows.rows))
    if not rows.rows:
        return expect_no_change(table, "stream.all-written", most=0)
    expectation = append(table, Append(rows))
    return Expectation(
        tuple(_in_batches(branch, 1 + len(waiting)) for branch in expectation.allowed_outcomes)
    )


def unwritten_batches(model_history: ModelHistory, stream: str) -> list[tuple[Row, ...]]:
    """What arrived at a stream in earlier steps and is not in the table yet, a batch a step."""
    waiting: list[tuple[Row, ...]] = []
    for state in reversed(model_history.states):
        if isinstance(state.operation, WriteStream) and state.operation.stream == stream:
            if state.commits[1] > 0:
                break
            waiting.append(state.operation.rows.rows)
    return [batch for batch in reversed(waiting) if batch]


def _in_batches(branch: AllowedOutcome, most: int) -> AllowedOutcome:
    if not isinstance(branch.outcome, Committed):
        return branch
    return AllowedOutcome(branch.outcome, (1, most), branch.table, "stream.all-written", branch.breaks)
