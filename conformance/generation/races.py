"""Draws races: what each of several writers does at once, and which goes next at each gate.

Tables are small, and each row has a number of its own, so that a row shows which operation wrote it. Each engine has
its own number of gates for an operation. So a schedule is drawn long enough for all gates, and what is too much is
ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from conformance.generation.choices import Choices, HypothesisChoices
from conformance.generation.table_shapes import TableShape
from delta_adapters.deviations import operation_triggers
from delta_models.expressions import And, Column, Compare, Expression, Literal
from delta_models.operations import (
    Append,
    Checkpoint,
    Create,
    Delete,
    Interleave,
    Merge,
    MergeClause,
    Operation,
    Optimize,
    Overwrite,
    Properties,
    Read,
    ReadStream,
    Reopen,
    SetProperties,
    Update,
    Vacuum,
)
from delta_models.outcomes import Committed
from delta_models.schema import LONG, struct
from delta_models.table import AllowedOutcome, ModelHistory
from delta_models.table.change_feed import is_recorded
from delta_models.table.expectation import ANY_NUMBER
from delta_models.values import Rows

ID, PART = "id", "part"
SCHEMA = struct((ID, LONG), (PART, LONG))
PARTS = 3
GATES = 4
RACES_ONE_IN = 2
ATTEMPTS = 5
WEAKER = "weaker"
TABLES: dict[str, Properties] = {
    "drawn": (),
    WEAKER: (("delta.isolationLevel", "WriteSerializable"),),
    "followed": (("delta.enableChangeDataFeed", "true"),),
}  # by the name of the table profile in a run profile

AT_ONCE = (
    ("Append", 6), ("Delete", 5), ("Update", 4), ("Merge", 4), ("Optimize", 3), ("Overwrite", 3), ("Read", 2),
    ("Vacuum", 1), ("SetProperties", 1),
)  # fmt: skip
BETWEEN = (("Append", 6), ("Reopen", 2), ("Optimize", 1), ("Checkpoint", 1), ("Delete", 1), ("Update", 1))

FOLLOWED = ReadStream("changes", "changes")


def generate_race_shapes(table: str) -> st.SearchStrategy[TableShape]:
    """Return a strategy for the shapes of a history of races: partitioned or not, tame or not."""
    shapes = [
        TableShape(SCHEMA, partition_by, TABLES[table], tame=tame, profile=table)
        for partition_by in ((PART,), ())
        for tame in (True, False)
    ]
    return st.sampled_from(shapes)


def generate_race_operations(model_history: ModelHistory, shape: TableShape) -> st.SearchStrategy[Operation]:
    """Return a strategy for the next operation of a history of races, as `draw_race_operation` draws it."""
    return _operations(model_history, shape)


def predict_race(model_history: ModelHistory, race: Interleave) -> ModelHistory:
    """Return the history after a race, if all operations commit in the order of the schedule. Only draws rely on it."""
    left = {
        owner: [index for index, other in enumerate(race.owners) if other == owner] for owner in race.owners
    }
    gates: dict[int, int] = {}
    table = model_history
    for owner in (
        *race.schedule,
        *(owner for owner in sorted(left) for _ in race.operations for _ in range(GATES)),
    ):
        gates[owner] = gates.get(owner, 0) + 1
        if left[owner] and gates[owner] % GATES == 0:
            table = table.after(race.operations[left[owner].pop(0)])
    return model_history.after(
        race, AllowedOutcome(Committed(), (0, ANY_NUMBER), table.table, "race.no-lost-update")
    )


@st.composite
def _operations(draw: Callable[..., Any], model_history: ModelHistory, shape: TableShape) -> Operation:
    return draw_race_operation(HypothesisChoices(draw), model_history, shape)


def draw_race_operation(choices: Choices, model_history: ModelHistory, shape: TableShape) -> Operation:
    """Draw the next operation: first the table and some rows, then races and what comes between them."""
    if not model_history.table.exists:
        return Create(SCHEMA, partition_by=shape.partition_by, properties=shape.properties)
    if not model_history.table.rows:
        return Append(_fresh(model_history, 0, 1 + choices.below(4)))
    if choices.one_in(RACES_ONE_IN):
        return _race(choices, model_history, shape)
    between = choices.weighted((*BETWEEN, *_followed(model_history, 8)))
    return draw_writer_operation(choices, model_history, between, 0)


def _race(choices: Choices, model_history: ModelHistory, shape: TableShape) -> Interleave:
    """Draw a race. In a tame history it has no known trigger."""
    for _ in range(ATTEMPTS):
        race = draw_race(choices, model_history)
        if not (shape.tame and operation_triggers(model_history.table, race)):
            return race
    return Interleave((Append(_fresh(model_history, 0, 1)), Append(_fresh(model_history, 1, 1))), (), (0, 1))


def draw_race(choices: Choices, model_history: ModelHistory) -> Interleave:
    """Draw two or three writers, each with one or two operations. An operation may be a read."""
    operations: list[Operation] = []
    owners: list[int] = []
    for owner in range(choices.weighted(((2, 3), (3, 1)))):
        for _ in range(choices.weighted(((1, 3), (2, 1)))):
            # a stream reader is in one place at a time
            more = () if FOLLOWED in operations else _followed(model_history, 5)
            kind = choices.weighted((*AT_ONCE, *more))
            operations.append(draw_writer_operation(choices, model_history, kind, 10 * (1 + len(operations))))
            owners.append(owner)
    writers = owners[-1] + 1
    schedule = tuple(choices.below(writers) for _ in range(GATES * len(operations)))
    return Interleave(tuple(operations), schedule, tuple(owners))


def plain_race(
    choices: Choices, model_history: ModelHistory, kinds: tuple[tuple[str, int], ...]
) -> Interleave:
    """Draw a race of two writers that do one thing each, of these kinds."""
    operations = tuple(
        draw_writer_operation(choices, model_history, choices.weighted(kinds), 10 * (1 + owner))
        for owner in (0, 1)
    )
    schedule = tuple(choices.below(2) for _ in range(2 * GATES))
    return Interleave(operations, schedule, (0, 1))


def draw_writer_operation(choices: Choices, model_history: ModelHistory, kind: str, number: int) -> Operation:
    """Draw an operation of a kind. `number` distinguishes the rows that it writes from those of others."""
    match kind:
        case "Append":
            return Append(_fresh(model_history, number, 1 + choices.below(2)))
        case "Delete":
            return Delete(_picks(choices, model_history))
        case "Update":
            return Update(((PART, Literal(LONG, choices.below(PARTS))),), _picks(choices, model_history))
        case "Merge":
            return _merge(choices, model_history, number)
        case "Overwrite" if choices.one_in(2):
            part = choices.below(PARTS)
            row = (_fresh(model_history, number, 1).rows[0][0], part)
            return Overwrite(Rows(SCHEMA, (row,)), where=_is(PART, part))
        case "Overwrite":
            return Overwrite(_fresh(model_history, number, 1))
        case "Optimize":
            return Optimize()
        case "Checkpoint":
            return Checkpoint()
        case "Vacuum":
            return Vacuum()
        case "SetProperties":
            days = 40 + choices.below(3)  # longer than removed files are kept, or delta-spark refuses it
            return SetProperties((("delta.logRetentionDuration", f"interval {days} days"),))
        case "Reopen":
            return Reopen()
        case "Tail":
            return FOLLOWED
    return Read()


def _followed(model_history: ModelHistory, weight: int) -> tuple[tuple[str, int], ...]:
    """Return the weight of a stream reader, which only tables with a change feed have."""
    return (("Tail", weight),) if is_recorded(model_history.table) else ()


def _merge(choices: Choices, model_history: ModelHistory, number: int) -> Merge:
    ids = _ids(model_history)
    known = tuple((row_id, choices.below(PARTS)) for row_id in choices.some(ids, choices.below(2) + 1))
    source = Rows(SCHEMA, (*known, *_fresh(model_history, number, 1).rows))
    matched = (
        MergeClause("matched", "delete")
        if choices.one_in(3)
        else MergeClause("matched", "update", everything=True)
    )
    on = Compare("=", Column(("target", ID)), Column(("source", ID)))
    return Merge(source, on, (matched, MergeClause("not-matched", "insert", everything=True)))


def _picks(choices: Choices, model_history: ModelHistory) -> Expression:
    """Draw a predicate that picks some rows of the table."""
    known = choices.pick(_ids(model_history))
    match choices.below(4):
        case 0:
            return _is(ID, known)
        case 1:
            return Compare("<=", Column((ID,)), Literal(LONG, known))
        case 2:
            return _is(PART, choices.below(PARTS))
    return And((_is(PART, choices.below(PARTS)), Compare(">", Column((ID,)), Literal(LONG, known))))


def _is(column: str, value: int) -> Compare:
    return Compare("=", Column((column,)), Literal(LONG, value))


def _ids(model_history: ModelHistory) -> tuple[int, ...]:
    """Return the numbers of the rows; of an empty table, one that no row has."""
    numbers = {row[0] for row in model_history.table.rows if isinstance(row[0], int)}
    return tuple(sorted(numbers)) or (0,)


def _fresh(model_history: ModelHistory, number: int, count: int) -> Rows:
    """Return rows with numbers that no other step gives."""
    first = 100 * (1 + model_history.step) + number
    return Rows(SCHEMA, tuple((row_id, row_id % PARTS) for row_id in range(first, first + count)))
