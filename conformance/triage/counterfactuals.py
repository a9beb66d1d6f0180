"""The counterfactual of a history: the same history without what sets a cause off.

A value that sets it off becomes a plain one of its type, everywhere. A comparison that sets it off is made with a
plain value. Of an operation, only the option that sets it off changes; if it has none, the step goes. Whole features
and writers are never taken out, so some causes have no counterfactual: their predictions alone must decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from conformance.findings.candidates import needs_counterfactual
from conformance.histories import History, Step
from conformance.triage.model_play import play_on_model
from conformance.triage.reductions.columns import columns_in, renamed
from conformance.triage.references import transformed, without
from conformance.triage.simple_values import plain_values
from delta_adapters.deviations import TRIGGERS, Cause
from delta_adapters.deviations.triggers import values_of
from delta_models.expressions import Between, Column, Compare, Expression, In, IsNotNull, Literal
from delta_models.operations import AddColumn, Append, LoseReplyAt, Operation, Overwrite, Reopen, Vacuum
from delta_models.schema import BOOLEAN, DATE, TIMESTAMP, TIMESTAMP_NTZ, DataType, DecimalType, Primitive
from delta_models.table import Table
from delta_models.values import Decimal, Key, Rows, Value, same_key

_PLACES = range(200)  # plain values to choose from: more than any history has that set a trigger off
_DAY = 86_400_000_000

Replacements = Mapping[tuple[str, Key], Value]


def counterfactual_of(causes: Cause | Sequence[Cause], history: History) -> History | None:
    """Return the history without what sets a cause, or several causes, off.

    None if that is not possible: if it is not set off, or if the model refuses the history without it.
    """
    wanted = [causes] if isinstance(causes, Cause) else causes
    triggers = [cause.trigger for cause in wanted if cause.trigger and needs_counterfactual(cause)]
    original = play_on_model(history.steps)
    if (
        original is None
        or not triggers
        or not any(_is_set_off(trigger, history.steps) for trigger in triggers)
    ):
        return None
    for fresh in (
        True,
        False,
    ):  # values that the history has not, so that rows stay distinct; else the plainest
        steps: tuple[Step, ...] | None = history.steps
        for trigger in triggers:
            steps = (
                None
                if steps is None
                else _without_trigger(trigger, replace(history, steps=steps), fresh=fresh)
            )
        if steps is None or any(_is_set_off(trigger, steps) for trigger in triggers):
            continue
        played = play_on_model(steps)
        if played is not None and played.is_legal_beside(original):
            return replace(history, steps=steps)
    return None


def _is_set_off(trigger: str, steps: Sequence[Step]) -> bool:
    played = play_on_model(steps)
    if played is None:
        return False
    return any(
        TRIGGERS[trigger].set_off(table, step.operation)
        for table, step in zip(played.tables, steps, strict=False)
    )


def _without_trigger(name: str, history: History, *, fresh: bool) -> tuple[Step, ...] | None:
    trigger = TRIGGERS[name]
    steps = history.steps if trigger.name is None else _with_other_names(trigger.name, history).steps
    played = play_on_model(steps)
    if played is None:
        return None
    if trigger.value is not None:
        return _with_other_values(trigger.value, steps, played.tables, fresh=fresh)
    if trigger.expression is not None:
        return _with_other_comparisons(trigger.expression, steps, played.tables)
    return _with_other_operations(name, steps, played.tables) if trigger.operation is not None else steps


# Values


def _with_other_values(
    sets_off: Callable[[DataType, Value, bool], bool],
    steps: tuple[Step, ...],
    tables: Sequence[Table],
    *,
    fresh: bool,
) -> tuple[Step, ...]:
    found: dict[tuple[str, Key], DataType] = {}
    present: set[tuple[str, Key]] = set()
    for table, step in zip(tables, steps, strict=False):
        for data_type, value, partition in values_of(table, step.operation):
            if value is None:
                continue
            key = str(data_type), same_key(data_type, value)
            present.add(key)
            if sets_off(data_type, value, partition):
                found[key] = data_type
    replacements: dict[tuple[str, Key], Value] = {}
    for key, data_type in found.items():
        value = next(
            (
                plain
                for plain in _plain(data_type)
                if not sets_off(data_type, plain, True)
                and not (fresh and (str(data_type), same_key(data_type, plain)) in present)
            ),
            None,  # each value of the type sets it off, null does not
        )
        replacements[key] = value
        if value is not None:
            present.add((str(data_type), same_key(data_type, value)))
    return tuple(
        replace(step, operation=transformed(step.operation, _Exchange(replacements))) for step in steps
    )


@dataclass(frozen=True, slots=True)
class _Exchange:
    """Gives other values to rows and literals."""

    replacements: Replacements

    def __call__(self, part: Any) -> Any:
        if isinstance(part, Literal):
            value = self._other(part.type, part.value)
            return part if value is part.value else replace(part, value=value)
        if isinstance(part, Rows):
            types = [field.type for field in part.schema]
            rows = tuple(
                tuple(self._other(kind, value) for kind, value in zip(types, row, strict=True))
                for row in part.rows
            )
            return replace(part, rows=rows)
        return part

    def _other(self, data_type: DataType, value: Value) -> Value:
        if value is None:
            return None
        return self.replacements.get((str(data_type), same_key(data_type, value)), value)


def _plain(data_type: DataType) -> Iterator[Value]:
    """Plain values of a type, the simplest first."""
    match data_type:
        case Primitive(name="string"):
            yield from ("abcdefghijklmnopqrstuvwxyz"[place % 26] * (place // 26 + 1) for place in _PLACES)
        case Primitive(name="float" | "double"):
            yield from (float(place + 1) for place in _PLACES)
        case DecimalType(precision=precision, scale=scale):
            unit = 10**scale if precision > scale else 1
            most = 10 ** min(precision, 9)
            yield from (Decimal(number * unit, scale) for number in _PLACES if number * unit < most)
        case Primitive(name=name) if data_type in {DATE, TIMESTAMP, TIMESTAMP_NTZ}:
            yield from (place * (1 if name == "date" else _DAY) for place in _PLACES)
        case _:
            yield from plain_values(data_type)


# Names of partition columns


def _with_other_names(sets_off: Callable[[str], bool], history: History) -> History:
    names = columns_in(history)
    plain = (f"column{number}" for number in count(1))
    free = (name for name in plain if name not in names)
    return renamed(history, {name.casefold(): next(free) for name in names if sets_off(name)})


# Comparisons


def _with_other_comparisons(
    sets_off: Callable[[Expression, tuple[str, ...]], bool],
    steps: tuple[Step, ...],
    tables: Sequence[Table],
) -> tuple[Step, ...]:
    changed = []
    for table, step in zip(tables, steps, strict=False):
        types = {field.name: field.type for field in table.schema}
        source = getattr(step.operation, "source", None)
        if isinstance(source, Rows):
            types |= {field.name: field.type for field in source.schema if field.name not in types}

        def change(part: Any, *, table: Table = table, types: Mapping[str, DataType] = types) -> Any:
            if not isinstance(part, Compare | In | Between) or not sets_off(part, table.partition_by):
                return part
            return _compared_with_plain(part, types)

        changed.append(replace(step, operation=transformed(step.operation, change)))
    return tuple(changed)


def _compared_with_plain(part: Compare | In | Between, types: Mapping[str, DataType]) -> Expression:
    """A comparison of the same column with plain values, in place of null and of other columns."""
    match part:
        case Compare(op=op, left=left, right=right):
            if left == right:
                return IsNotNull(left)
            if _is_null(left):
                return Compare(op, _plain_beside(right, left, types), right)
            return Compare(op, left, _plain_beside(left, right, types))
        case In(operand=operand, options=options):
            kept = tuple(one for one in options if not _is_null(one) and not isinstance(one, Column))
            if len(kept) == len(options):
                kept = tuple(dict.fromkeys(kept))
            return In(operand, kept or (_plain_beside(operand, options[0], types),))
    low = _plain_beside(part.operand, part.low, types)
    return Between(part.operand, low, _plain_beside(part.operand, part.high, types))


def _plain_beside(column: Expression, other: Expression, types: Mapping[str, DataType]) -> Expression:
    """What to compare a column with: what it was compared with if that is a value, else a plain one."""
    if isinstance(other, Literal) and other.value is not None:
        return other
    data_type = other.type if isinstance(other, Literal) else _type_of(column, types)
    return Literal(data_type, next(iter(plain_values(data_type)), None))


def _type_of(expression: Expression, types: Mapping[str, DataType]) -> DataType:
    if isinstance(expression, Column):
        return types.get(expression.path[-1], BOOLEAN)
    return expression.type if isinstance(expression, Literal) else BOOLEAN


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None


# Operations


def _with_other_operations(
    name: str, steps: tuple[Step, ...], tables: Sequence[Table]
) -> tuple[Step, ...] | None:
    changed: list[Step] = []
    dropped: list[int] = []
    for number, (table, step) in enumerate(zip(tables, steps, strict=False)):
        operation = step.operation
        if TRIGGERS[name].set_off(table, operation):
            option = _without_option(operation, table)
            if option is not None:
                operation = option
            elif table.exists:
                operation = Reopen()  # so that the other steps keep their numbers, and their reads
            else:
                dropped.append(number)
        changed.append(replace(step, operation=operation))
    return without(changed, dropped)


def _without_option(operation: Operation, table: Table) -> Operation | None:
    """The operation without the one option that may set a trigger off; None if it has no such option."""
    match operation:
        case Append() | Overwrite() if operation.files > 1:
            return replace(operation, files=1)
        case Vacuum(dry_run=False):
            return replace(operation, dry_run=True)
        case AddColumn(field=field):
            new = (f"{field.name}{number}" for number in count(1))
            taken = {name.casefold() for name in table.schema.names}
            name = next(name for name in new if name.casefold() not in taken)
            return replace(operation, field=replace(field, name=name))
        case LoseReplyAt(errno="EEXIST"):
            return replace(operation, errno="EIO")
    return None
