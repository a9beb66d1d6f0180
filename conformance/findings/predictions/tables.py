"""What several predictions look at: the wrong answer, rows as bags, and files with their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from conformance.checks import log_oracle
from conformance.observations.observation import Observation, ReadObservation
from delta_models.expressions import Column, Expression, Literal
from delta_models.log import LogError, Snapshot
from delta_models.log.actions import Add
from delta_models.log.reader import live_adds
from delta_models.operations import Operation, Read
from delta_models.outcomes import Outcome, Rejected, Unknown
from delta_models.requirements import Violation
from delta_models.schema import Struct
from delta_models.table import ModelHistory, Table
from delta_models.table.history_model import State
from delta_models.values import Row, Rows, bag

Rewrite = Callable[[Row], Row]


def wrong_reads(observation: Observation, violation: Violation) -> Iterator[tuple[Read, ReadObservation]]:
    """The reads that a violation may be about: the one that it names."""
    for look in observation.looks:
        if isinstance(look.operation, Read) and look.operation == violation.read and not look.again:
            yield look.operation, look


def snapshot_of(observation: Observation, read: Read) -> Snapshot | None:
    """The state that a read names; None if our reader has none."""
    try:
        return log_oracle.snapshot_for(observation, read)
    except log_oracle.NotKnown:
        return None


def files_with_rows(observation: Observation, snapshot: Snapshot) -> list[tuple[Add, tuple[Row, ...]]]:
    """The live files of a state, each with its rows. Empty if our reader can't read one."""
    try:
        return [(add, observation.reader.file_rows(snapshot, add)) for add in live_adds(snapshot)]
    except LogError:
        return []


def rows_before(observation: Observation) -> tuple[Row, ...] | None:
    """The rows before the step; None if our reader can't read them."""
    try:
        return log_oracle.rows_before(observation).rows
    except log_oracle.NotKnown:
        return None


def rows_after(observation: Observation) -> Rows | None:
    """The rows after the step; None if our reader can't read them."""
    try:
        return log_oracle.rows_after(observation)
    except log_oracle.NotKnown:
        return None


def same_rows(schema: Struct, left: Iterable[Row], right: Iterable[Row]) -> bool:
    """Whether two bags of rows are equal."""
    return bag(schema, left) == bag(schema, right)


def projected(read: Read, schema: Struct, rows: Iterable[Row]) -> tuple[Struct, list[Row]]:
    """The columns of rows that a read asks for."""
    if read.columns is None:
        return schema, list(rows)
    places = [schema.index(name) for name in read.columns]
    narrow = Struct(tuple(schema.fields[place] for place in places))
    return narrow, [tuple(row[place] for place in places) for row in rows]


def leaves_rows(observation: Observation, rewrite: Rewrite) -> bool:
    """Whether the table holds the model's rows, each rewritten, and at least one of them became another."""
    found = rows_after(observation)
    if found is None or not observation.model.exists or found.schema.names != observation.model.schema.names:
        return False
    expected = observation.model.rows
    wrong = [rewrite(row) for row in expected]
    schema = observation.model.schema
    return same_rows(schema, wrong, found.rows) and not same_rows(schema, wrong, expected)


def in_columns(places: Iterable[int], change: Callable[[int, object], object]) -> Rewrite:
    """A function that gives other values to these columns of a row; null stays."""
    fixed = tuple(places)

    def rewrite(row: Row) -> Row:
        values = list(row)
        for place in fixed:
            if values[place] is not None:
                values[place] = change(place, values[place])
        return tuple(values)

    return rewrite


def partition_places(schema: Struct, partition_by: Iterable[str]) -> tuple[int, ...]:
    """The positions of the partition columns."""
    return tuple(schema.index(name) for name in partition_by if name in schema.names)


def result_on(observation: Observation, rows: Iterable[Row], operation: Operation) -> Table | None:
    """The table that an operation leaves by the model if it finds these rows; None if it has to be refused."""
    before = observation.before
    if before is None:
        return None
    state = State(table_with(before, rows), (1, 1), may_remove=False)
    reached = ModelHistory((state,)).expect(operation).ordinary
    return None if isinstance(reached.outcome, Rejected) else reached.table


def table_with(snapshot: Snapshot, rows: Iterable[Row]) -> Table:
    """The table of a state, but with these rows."""
    properties = tuple(sorted(snapshot.properties.items()))
    return Table(True, snapshot.schema, tuple(snapshot.partition_by), properties, tuple(rows))


def with_literals(expression: Expression, change: Callable[[Literal], Literal]) -> Expression:
    """An expression with other literals."""
    if isinstance(expression, Literal):
        return change(expression)
    if isinstance(expression, Column):
        return expression
    changed = {
        name: tuple(with_literals(part, change) for part in value)
        if isinstance(value, tuple)
        else with_literals(value, change)
        for name in expression.__dataclass_fields__
        if not isinstance(value := getattr(expression, name), str) and name != "type"
    }
    return replace(expression, **changed)  # type: ignore[arg-type]  # an operand for an operand


def literals_of(operation: Operation) -> Iterator[Literal]:
    """The literals in the predicates and assignments of an operation."""
    return (part for part in _parts(operation) if isinstance(part, Literal))


def _parts(value: object) -> Iterator[object]:
    yield value
    if isinstance(value, tuple):
        for part in value:
            yield from _parts(part)
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, Rows):
        for name in value.__dataclass_fields__:
            yield from _parts(getattr(value, name))


def message_of(outcome: Outcome | None) -> str:
    """What an engine said of its failure; an empty text if it reported none."""
    if isinstance(outcome, Rejected):
        return outcome.message
    return outcome.reason if isinstance(outcome, Unknown) else ""


def is_unchanged(observation: Observation) -> bool:
    """Whether the log is as it was before the step."""
    before, after = observation.before, observation.after
    return not observation.commits and (before and before.version) == (after and after.version)


def holds_files(folder: Path) -> bool:
    """Whether there is anything in a folder."""
    return folder.is_dir() and any(folder.iterdir())
