"""Simpler races: fewer operations and writers at once, fewer turns in the schedule, earlier turns of the first writers.

One play of a race takes long, so what takes most away is tried first, and a schedule loses whole parts before it loses
single turns.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from conformance.histories import History
from conformance.triage.reductions.base import Candidates, with_operation
from delta_models.operations import Interleave

Reduced = Generator[History, History | None, History]


def simpler_races(history: History) -> Candidates:
    """Each race of the history with less in it, the last race first."""
    for number in range(len(history.steps) - 1, -1, -1):
        history = yield from _fewer_operations(history, number)
        history = yield from _fewer_turns(history, number)
        history = yield from _earlier_turns(history, number)


def _race(history: History, number: int) -> Interleave | None:
    """The race in a step; None if there is none any more."""
    operation = history.steps[number].operation if number < len(history.steps) else None
    return operation if isinstance(operation, Interleave) else None


def _fewer_operations(history: History, number: int) -> Reduced:
    race = _race(history, number)
    index = 0 if race is None else len(race.operations)
    while index > 0:
        index -= 1
        race = _race(history, number)
        if race is None or index >= len(race.operations):
            return history
        if len({owner for other, owner in enumerate(race.owners) if other != index}) > 1:
            smaller = with_operation(history, number, without_operation(race, index))
            history = (yield smaller) or history
    race = _race(history, number)
    if race is not None and race.writers == tuple(range(len(race.operations))):
        plain = with_operation(history, number, replace(race, writers=()))
        history = (yield plain) or history
    return history


def without_operation(race: Interleave, index: int) -> Interleave:
    """The race without one of its operations, and without its writer if that has no other."""
    operations = race.operations[:index] + race.operations[index + 1 :]
    owners = race.owners[:index] + race.owners[index + 1 :]
    gone, schedule = race.owners[index], race.schedule
    if gone not in owners:
        schedule = tuple(owner - (owner > gone) for owner in schedule if owner != gone)
        owners = tuple(owner - (owner > gone) for owner in owners)
    return Interleave(operations, schedule, () if owners == tuple(range(len(owners))) else owners)


def _fewer_turns(history: History, number: int) -> Reduced:
    race = _race(history, number)
    if race is None or not race.schedule:
        return history
    taken = yield with_operation(history, number, replace(race, schedule=()))
    if taken is not None:
        return taken
    size = max(1, len(race.schedule) // 2)
    while True:
        changed = False
        end = len(race.schedule)
        while end > 0:
            start = max(0, end - size)
            schedule = race.schedule[:start] + race.schedule[end:]
            taken = (
                (yield with_operation(history, number, replace(race, schedule=schedule)))
                if schedule
                else None
            )
            if taken is not None:
                history, changed = taken, True
                race = _race(history, number)
                if race is None:
                    return history
            end = start
        if size == 1 and not changed:
            return history
        size = max(1, size // 2)


def _earlier_turns(history: History, number: int) -> Reduced:
    """Two turns change places if the later one is that of an earlier writer."""
    turn = 0
    while True:
        race = _race(history, number)
        if race is None or turn >= len(race.schedule) - 1:
            return history
        first, second = race.schedule[turn : turn + 2]
        taken = None
        if first > second:
            schedule = (*race.schedule[:turn], second, first, *race.schedule[turn + 2 :])
            taken = yield with_operation(history, number, replace(race, schedule=schedule))
        history = taken or history
        turn = max(0, turn - 1) if taken is not None else turn + 1
