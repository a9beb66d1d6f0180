"""Fewer steps: a short past in place of a long one, chunks of steps left out, one engine in place of several."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from conformance.histories import History, Step
from conformance.triage.model_play import play_on_model
from conformance.triage.reductions.base import Candidates, with_steps
from conformance.triage.references import behind_another_past, without
from delta_models.operations import (
    FAULTS,
    QUERIES,
    STORAGE_FAULTS,
    AddConstraint,
    AdvanceClock,
    Append,
    Create,
    Interleave,
    Operation,
    SwitchActor,
)
from delta_models.table import Table
from delta_models.values import Rows

LOCKSTEP = "lockstep"
FEW_ROWS = 3


def short_pasts(history: History) -> Candidates:
    """The table as it was before a step made in two steps, in place of all steps up to there; the latest step first.

    Before that, the table as the last step leaves it, in place of the whole history.
    """
    played = play_on_model(history.steps)
    if played is None:
        return
    steps, tables = history.steps, played.tables
    cuts = list(_cuts(steps))
    if not isinstance(steps[-1].operation, (*QUERIES, Interleave)):
        cuts.insert(0, len(steps))
    for cut in cuts:
        for past in pasts_of(tables[cut], steps[0]):
            candidate = behind_another_past(steps, cut, past)
            if len(candidate) < len(steps) and (yield with_steps(history, candidate)) is not None:
                return


def _cuts(steps: Sequence[Step]) -> Iterator[int]:
    """Before which steps the past may be made short: never between a fault and the operation that meets it."""
    distance = 0
    while (cut := len(steps) - 1 - distance) > 0:
        if not isinstance(steps[cut - 1].operation, STORAGE_FAULTS):
            yield cut
        distance += 1 if distance < 4 else distance


def pasts_of(table: Table, like: Step) -> Iterator[tuple[Step, ...]]:
    """Short histories that lead to a table: with all rows in one write, then with a write for each, if they are few."""
    if not table.exists:
        return
    create = Create(table.schema, table.partition_by, table.properties, cluster_by=table.cluster_by)
    constraints = [AddConstraint(name, check) for name, check in table.constraints]
    rows = tuple(table.rows)
    writes: list[list[Operation]] = [[Append(Rows(table.schema, rows))] if rows else []]
    if 1 < len(rows) <= FEW_ROWS:
        writes.append([Append(Rows(table.schema, (row,))) for row in rows])
    for written in writes:
        yield tuple(Step(operation, like.slot) for operation in (create, *written, *constraints))


def fewer_steps(history: History) -> Candidates:
    """The history without some of its steps: all but the first and the last, then big chunks, then single steps.

    A fault and the operation that meets it go together.
    """
    many = len(units_of(history.steps))
    if many > 2:
        history = (yield from _drop(history, 1, many - 1)) or history
    size = max(1, many // 2)
    while True:
        changed = False
        end = len(units_of(history.steps)) - 1
        while end > 0:
            kept = yield from _drop(history, max(0, end - size), end)
            if kept is not None:
                history, changed = kept, True
                end = min(max(0, end - size), len(units_of(history.steps)) - 1)
            else:
                end -= size
        if size == 1 and not changed:
            return
        size = max(1, size // 2)


def units_of(steps: Sequence[Step]) -> list[range]:
    """The numbers of the steps that go together: a fault with the operation that meets it, all others alone."""
    units: list[range] = []
    start = 0
    for number, step in enumerate(steps):
        if not isinstance(step.operation, STORAGE_FAULTS) or number == len(steps) - 1:
            units.append(range(start, number + 1))
            start = number + 1
    return units


def _drop(history: History, start: int, end: int) -> Generator[History, History | None, History | None]:
    units = units_of(history.steps)
    dropped = [number for unit in units[start:end] for number in unit]
    steps = without(history.steps, dropped)
    if not dropped or not steps:
        return None
    return (yield with_steps(history, steps))


def fewer_engines(history: History) -> Candidates:
    """The history on one engine's own table, without faults and the passing of time; then on fewer slots."""
    steps = history.steps
    faults = [
        number
        for number, step in enumerate(steps)
        if isinstance(step.operation, (*FAULTS, AdvanceClock, SwitchActor))
    ]
    alone = without(steps, faults)
    if history.suite != LOCKSTEP and alone:
        alone = tuple(replace(step, slot=None, by=None) for step in _in_turn(alone))
        if (yield replace(history, suite=LOCKSTEP, steps=alone)) is not None:
            return
    if faults and alone:
        taken = yield with_steps(history, alone)
        history = taken or history
    slots = sorted({slot for step in history.steps for slot in (step.slot, step.by) if slot})
    for gone in reversed(slots[1:]):
        merged = [
            replace(
                step,
                slot=slots[0] if step.slot == gone else step.slot,
                by=None if step.by == gone else step.by,
            )
            for step in history.steps
        ]
        history = (yield with_steps(history, merged)) or history
    for number in range(len(history.steps) - 1, -1, -1):
        if number < len(history.steps) and slots and history.steps[number].slot not in {None, slots[0]}:
            moved = replace(history.steps[number], slot=slots[0], by=None)
            steps = history.steps
            taken = yield with_steps(history, (*steps[:number], moved, *steps[number + 1 :]))
            history = taken or history


def _in_turn(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps with the operations of each race one after another; later steps must then name no states."""
    for step in steps:
        if isinstance(step.operation, Interleave):
            yield from (Step(operation) for operation in step.operation.operations)
        else:
            yield step
