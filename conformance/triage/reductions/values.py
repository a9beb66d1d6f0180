"""Simpler values and simpler types. A value is replaced wherever it occurs, so what was equal stays equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from conformance.histories import History
from conformance.triage.reductions.base import Candidates, with_steps
from conformance.triage.reductions.columns import fields_of, top_of
from conformance.triage.references import transformed
from conformance.triage.simple_values import plain_values, simpler_values
from delta_models.expressions import (
    Between,
    Call,
    Column,
    Compare,
    In,
    IsNotNull,
    IsNull,
    Literal,
    columns_of,
)
from delta_models.schema import LONG, DataType, DecimalType, Field
from delta_models.values import Decimal, Key, Rows, Value, same_key

MOST_VALUES = 40
MOST_IN_A_ROW = 60  # good steps towards the simplest form of one value
KEPT_TYPES = (LONG,)
PLAIN_DECIMALS = (DecimalType(10, 2), DecimalType(20, 0), DecimalType(38, 18), DecimalType(38, 0))

Change = Callable[[DataType, Value], Value]


def revalued(history: History, change: Change) -> History:
    """The history with other values in all rows and literals."""

    def visit(value: Any) -> Any:
        if isinstance(value, Literal):
            return Literal(value.type, change(value.type, value.value))
        if isinstance(value, Rows):
            types = [field.type for field in value.schema]
            return Rows(
                value.schema,
                tuple(
                    tuple(change(data_type, part) for data_type, part in zip(types, row, strict=True))
                    for row in value.rows
                ),
            )
        return value

    return with_steps(
        history, [replace(step, operation=transformed(step.operation, visit)) for step in history.steps]
    )


def values_in(history: History) -> list[tuple[DataType, Value]]:
    """The distinct values of rows and literals with their types, in the order in which they appear."""
    found: dict[tuple[DataType, Key], tuple[DataType, Value]] = {}

    def note(data_type: DataType, value: Value) -> Value:
        found.setdefault((data_type, same_key(data_type, value)), (data_type, value))
        return value

    revalued(history, note)
    return list(found.values())


def simpler_contents(history: History) -> Candidates:
    """All values of a type the simplest one; then each distinct value simpler, everywhere."""
    for data_type in dict.fromkeys(data_type for data_type, _ in values_in(history)):
        for plain in plain_values(data_type)[:1]:
            values = {same_key(data_type, value) for kind, value in values_in(history) if kind == data_type}
            if len(values) > 1 and values != {same_key(data_type, plain)}:
                taken = yield revalued(history, _always(data_type, plain))
                history = taken or history
    for data_type, value in values_in(history)[:MOST_VALUES]:
        current = value
        for _ in range(MOST_IN_A_ROW):
            for simpler in simpler_values(data_type, current):
                taken = yield revalued(history, _instead(data_type, current, simpler))
                if taken is not None:
                    history, current = taken, simpler
                    break
            else:
                break


def simpler_cells(history: History) -> Candidates:
    """One value in one place the simplest one: so values that need not be equal part."""
    number = 0
    while number < min(MOST_VALUES, count_values(history)):
        for simpler in _simplest_at(history, number):
            taken = yield simpler
            if taken is not None:
                history = taken
                break
        number += 1


def count_values(history: History) -> int:
    """How many values rows and literals hold."""
    count = 0

    def note(_: DataType, value: Value) -> Value:
        nonlocal count
        count += 1
        return value

    revalued(history, note)
    return count


def _simplest_at(history: History, place: int) -> Iterator[History]:
    at: list[tuple[DataType, Value]] = []

    def look(number: list[int], data_type: DataType, value: Value) -> Value:
        if number[0] == place:
            at.append((data_type, value))
        number[0] += 1
        return value

    counter = [0]
    revalued(history, lambda data_type, value: look(counter, data_type, value))
    data_type, value = at[0]
    for simpler in list(simpler_values(data_type, value))[:2]:
        position = [0]

        def put(_: DataType, old: Value, simpler: Value = simpler, position: list[int] = position) -> Value:
            position[0] += 1
            return simpler if position[0] - 1 == place else old

        yield revalued(history, put)


def _always(data_type: DataType, plain: Value) -> Change:
    return lambda kind, value: plain if kind == data_type and value is not None else value


def _instead(data_type: DataType, old: Value, new: Value) -> Change:
    key = same_key(data_type, old)
    return lambda kind, value: new if kind == data_type and same_key(kind, value) == key else value


def simpler_types(history: History) -> Candidates:
    """Columns of longs in place of other ones: each value becomes its place among the values of its column.

    Decimals that must stay decimals take a plain precision and scale.
    """
    for field in fields_of(history):
        if field.type in KEPT_TYPES:
            continue
        candidate = with_longs(history, field)
        taken = None if candidate is None else (yield candidate)
        history = taken or history
        if taken is None and isinstance(field.type, DecimalType):
            for plain in PLAIN_DECIMALS:
                if plain == field.type:
                    break
                taken = yield with_decimals(history, field.type, plain)
                if taken is not None:
                    history = taken
                    break


def with_decimals(history: History, old: DecimalType, new: DecimalType) -> History:
    """The history with another type of decimals in place of one; their digits stay."""

    def change(value: Any) -> Any:
        if isinstance(value, Literal) and value.type == old:
            return Literal(new, _with_scale(value.value, new))
        if isinstance(value, Field | Call) and value.type == old:
            return replace(value, type=new)
        if isinstance(value, Rows):
            places = {place for place, column in enumerate(value.schema) if column.type == new}
            rows = tuple(
                tuple(_with_scale(part, new) if place in places else part for place, part in enumerate(row))
                for row in value.rows
            )
            return Rows(value.schema, rows)
        return value

    return with_steps(
        history, [replace(step, operation=transformed(step.operation, change)) for step in history.steps]
    )


def _with_scale(value: Value, data_type: DecimalType) -> Value:
    if value is None:
        return None
    sign = -1 if value.unscaled < 0 else 1
    return Decimal(sign * (abs(value.unscaled) % 10**data_type.precision), data_type.scale)


def with_longs(history: History, field: Field) -> History | None:
    """The history with a column of longs in place of this one; None if an expression needs its type."""
    name, old = field.name.casefold(), field.type
    literals = _literals_beside(history, name)
    if literals is None:
        return None
    values: dict[Key, Value] = {}

    def note(value: Any) -> Any:
        if isinstance(value, Rows):
            for place, column in enumerate(value.schema):
                if column.name.casefold() == name and column.type == old:
                    values.update({same_key(old, row[place]): row[place] for row in value.rows})
        return value

    for step in history.steps:
        transformed(step.operation, note)
    values |= {
        same_key(literal.type, literal.value): literal.value for literal in literals if literal.type == old
    }
    values.pop(None, None)
    try:
        ordered = sorted(values, key=lambda key: values[key])
    except TypeError:
        ordered = list(values)
    numbers = {key: number for number, key in enumerate(ordered)}
    plain = set(literals)

    def change(value: Any) -> Any:
        match value:
            case Literal(type=kind) if kind == old and value in plain:
                return Literal(LONG, None if value.value is None else numbers[same_key(old, value.value)])
            case Rows():
                return _rows_with_longs(value, name, old, numbers)
            case Field(type=kind) if value.name.casefold() == name and kind == old:
                return Field(value.name, LONG, value.nullable)
        return value

    return with_steps(
        history, [replace(step, operation=transformed(step.operation, change)) for step in history.steps]
    )


def _rows_with_longs(rows: Rows, name: str, old: DataType, numbers: dict[Key, int]) -> Rows:
    # Its schema was changed before it.
    for place, column in enumerate(rows.schema):
        if column.name.casefold() == name and column.type == LONG:
            changed = tuple(
                (
                    *row[:place],
                    None if row[place] is None else numbers.get(same_key(old, row[place])),
                    *row[place + 1 :],
                )
                for row in rows.rows
            )
            return Rows(rows.schema, changed)
    return rows


def _literals_beside(history: History, name: str) -> set[Literal] | None:
    """The literals that are compared with a column or assigned to it; None if something else is done with it."""
    found: set[Literal] = set()
    fine = True

    def visit(value: Any) -> Any:
        nonlocal fine
        match value:
            case Compare(left=left, right=right):
                parts: tuple[Any, ...] = (left, right)
            case In(operand=operand, options=options):
                parts = (operand, *options)
            case Between(operand=operand, low=low, high=high):
                parts = (operand, low, high)
            case Call(arguments=arguments):
                if any(_is(column, name) for part in arguments for column in columns_of(part)):
                    fine = False
                return value
            case IsNull() | IsNotNull():
                return value
            case (str() as target, Literal() as literal) if target.casefold() == name:
                found.add(literal)
                return value
            case _:
                return value
        if any(isinstance(part, Column) and _is(part, name) for part in parts):
            found.update(part for part in parts if isinstance(part, Literal))
            others = [part for part in parts if isinstance(part, Column) and not _is(part, name)]
            fine = fine and not others
        return value

    for step in history.steps:
        transformed(step.operation, visit)
        for pair in _assignments(step.operation):
            visit(pair)
            if pair[0].casefold() == name and not isinstance(pair[1], Literal):
                fine = fine and all(_is(column, name) for column in columns_of(pair[1]))
    return found if fine else None


def _assignments(operation: Any) -> Iterator[tuple[str, Any]]:
    yield from getattr(operation, "assignments", ())
    for clause in getattr(operation, "clauses", ()):
        yield from clause.assignments


def _is(column: Column, name: str) -> bool:
    return top_of(column).casefold() == name
