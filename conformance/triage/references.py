"""Steps may name earlier states by the number of a step; here steps are dropped and inserted, and the numbers follow.

The state after a step that is dropped is that after the nearest step before it that stays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.histories import Step
from delta_models.operations import AtState, AtTime, Operation

Steps = tuple[Step, ...]


def transformed(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value of the vocabulary with `change` applied to all its parts, the innermost first, and then to itself."""
    if isinstance(value, tuple) and type(value) is tuple:
        parts = tuple(transformed(part, change) for part in value)
        return value if all(new is old for new, old in zip(parts, value, strict=True)) else parts
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for field in dataclasses.fields(value):
            part = getattr(value, field.name)
            if isinstance(part, tuple) or dataclasses.is_dataclass(part):
                new = transformed(part, change)
                if new is not part:
                    changed[field.name] = new
        return change(replace(value, **changed) if changed else value)
    return value


def states_named(operation: Operation) -> tuple[int, ...]:
    """The numbers of the steps whose state an operation names."""
    found: list[int] = []

    def note(value: Any) -> Any:
        if isinstance(value, AtState | AtTime):
            found.append(value.step)
        return value

    transformed(operation, note)
    return tuple(found)


def renumbered(operation: Operation, numbers: Mapping[int, int]) -> Operation:
    """An operation that names the same states by other numbers."""

    def change(value: Any) -> Any:
        if isinstance(value, AtState | AtTime) and numbers[value.step] != value.step:
            return replace(value, step=numbers[value.step])
        return value

    changed: Operation = transformed(operation, change)
    return changed


def without(steps: Sequence[Step], dropped: Collection[int]) -> Steps | None:
    """The steps without some of them; None if one that stays names a state before which nothing stays."""
    gone = frozenset(dropped)
    numbers: dict[int, int] = {}
    kept: list[Step] = []
    for number, step in enumerate(steps):
        if number not in gone:
            if any(numbers.get(state, -1) < 0 for state in states_named(step.operation)):
                return None
            kept.append(replace(step, operation=renumbered(step.operation, numbers)))
        numbers[number] = len(kept) - 1
    return tuple(kept)


def with_inserted(steps: Sequence[Step], inserted: Mapping[int, Sequence[Step]]) -> Steps:
    """The steps with others before those of the given numbers; the inserted ones name states by the old numbers.

    The number of steps itself inserts at the end.
    """
    numbers: dict[int, int] = {}
    result: list[Step] = []
    for number in range(len(steps) + 1):
        before = inserted.get(number, ())
        result += [replace(step, operation=renumbered(step.operation, numbers)) for step in before]
        if number < len(steps):
            result.append(replace(steps[number], operation=renumbered(steps[number].operation, numbers)))
            numbers[number] = len(result) - 1
    return tuple(result)


def behind_another_past(steps: Sequence[Step], cut: int, past: Sequence[Step]) -> Steps:
    """The steps from `cut` on, behind other ones. States before it become the one that the others lead to."""
    numbers = {number: len(past) - 1 for number in range(cut)}
    numbers |= {number: number - cut + len(past) for number in range(cut, len(steps))}
    kept = (replace(step, operation=renumbered(step.operation, numbers)) for step in steps[cut:])
    return (*past, *kept)
