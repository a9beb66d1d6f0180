"""How quickly drawn histories show faults: a chunk of them against models with one fault each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps

import pytest

from conformance.generation import PROFILES, RandomChoices, TableProfile, draw_operation, draw_shape
from delta_models.expressions import evaluate
from delta_models.operations import (
    Append,
    AtState,
    Checkpoint,
    Delete,
    Merge,
    Operation,
    Optimize,
    Overwrite,
    Restore,
    Update,
    Vacuum,
)  # fmt: skip
from delta_models.schema import DOUBLE, STRING, DataType
from delta_models.table import ModelHistory, Table
from delta_models.values import Value, row_keyer

HISTORIES, STEPS = 12, 25


@dataclass
class FaultyStep:
    """What a faulty engine may use: the history as it really is, and a memory of its own."""

    model_history: ModelHistory
    operation: Operation
    memory: dict[str, object]

    @property
    def old(self) -> Table:
        return self.model_history.table


Fault = Callable[[FaultyStep, Table], Table]


def only(*operation_types: type[Operation]) -> Callable[[Fault], Fault]:
    def decorate(fault: Fault) -> Fault:
        @wraps(fault)
        def guarded(step: FaultyStep, table: Table) -> Table:
            return fault(step, table) if isinstance(step.operation, operation_types) else table

        return guarded

    return decorate


def mapped(table: Table, change: Callable[[DataType, Value], Value], *, partitions: bool = False) -> Table:
    """Return the table with values changed, in its data columns or in its partition columns."""
    fields = table.schema.fields
    here = [(field.name in table.partition_by) == partitions for field in fields]
    return table.with_rows(tuple(
        tuple(
            change(field.type, value) if mine and value is not None else value
            for field, value, mine in zip(fields, row, here, strict=True)
        )
        for row in table.rows
    ))  # fmt: skip


@only(Append)
def append_drops_duplicates(step: FaultyStep, table: Table) -> Table:
    return table.with_rows(tuple({row_keyer(table.schema)(row): row for row in table.rows}.values()))


@only(Delete)
def delete_takes_unknown_for_true(step: FaultyStep, table: Table) -> Table:
    where = getattr(step.operation, "where", None)
    return table.with_rows(tuple(
        row for row in step.old.rows if where is not None and evaluate(where, table.schema, row) is False
    ))  # fmt: skip


@only(Update)
def update_loses_the_last_row_that_it_changes(step: FaultyStep, table: Table) -> Table:
    kept = {id(row) for row in step.old.rows}
    changed = [row for row in table.rows if id(row) not in kept]
    return table.with_rows(tuple(row for row in table.rows if not changed or row is not changed[-1]))


@only(Merge)
def merge_inserts_nothing_where_it_updates(step: FaultyStep, table: Table) -> Table:
    clauses = getattr(step.operation, "clauses", ())
    if len({clause.when for clause in clauses}) > 1 and len(table.rows) > len(step.old.rows):
        return table.with_rows(table.rows[: len(step.old.rows)])
    return table


@only(Merge)
def merge_takes_rows_without_a_key_away(step: FaultyStep, table: Table) -> Table:
    return table.with_rows(tuple(row for row in table.rows if row[0] is not None))


@only(Overwrite)
def overwrite_keeps_null_partitions(step: FaultyStep, table: Table) -> Table:
    if not table.partition_by:
        return table
    position = table.schema.index(table.partition_by[0])
    return table.with_rows(table.rows + tuple(row for row in step.old.rows if row[position] is None))


@only(Restore)
def restore_adds_without_removing(step: FaultyStep, table: Table) -> Table:
    return table if table.same_contents(step.old) else table.with_rows(table.rows + step.old.rows)


def minus_zero_becomes_zero(step: FaultyStep, table: Table) -> Table:
    return mapped(table, lambda kind, value: value + 0.0 if kind == DOUBLE else value)


def longs_pass_through_doubles(step: FaultyStep, table: Table) -> Table:
    return mapped(table, lambda kind, value: int(float(value)) if str(kind) == "long" else value)


def old_dates_are_off(step: FaultyStep, table: Table) -> Table:
    return mapped(table, lambda kind, value: value + 2 if str(kind) == "date" and value < -141_427 else value)


def microseconds_are_cut(step: FaultyStep, table: Table) -> Table:
    return mapped(table, lambda kind, value: value // 1000 * 1000 if str(kind) == "timestamp" else value)


def empty_texts_are_null(step: FaultyStep, table: Table) -> Table:
    return mapped(table, lambda kind, value: None if kind == STRING and value == "" else value)


def percents_are_decoded_twice(step: FaultyStep, table: Table) -> Table:
    def decode(kind: DataType, value: Value) -> Value:
        return value.replace("%41", "A").replace("%2F", "/") if kind == STRING else value

    return mapped(table, decode, partitions=True)


@only(Optimize)
def compaction_forgets_infinities(step: FaultyStep, table: Table) -> Table:
    return mapped(table, lambda kind, value: None if kind == DOUBLE and math.isinf(value) else value)


def checkpoint_then_vacuum_loses_what_a_merge_wrote(step: FaultyStep, table: Table) -> Table:
    """Needs a merge, then a checkpoint, then a vacuum, in this order."""
    order: tuple[type[Operation], ...] = (Merge, Checkpoint, Vacuum)
    reached = step.memory.setdefault("reached", 0)
    assert isinstance(reached, int)
    if reached < len(order) and isinstance(step.operation, order[reached]):
        step.memory["reached"] = reached + 1
    return table.with_rows(table.rows[:-1]) if step.memory["reached"] == len(order) else table


def reads_of_a_restored_version_are_stale(step: FaultyStep, table: Table) -> Table:
    """Needs a restore, then a change, then a restore to before the first."""
    restored = step.memory.setdefault("restored", [])
    assert isinstance(restored, list)
    if isinstance(step.operation, Restore):
        at = step.operation.at
        assert isinstance(at, AtState)
        if any(at.step < earlier for earlier in restored):
            return table.with_rows(table.rows[1:])
        restored.append(step.model_history.step)
    return table


FAULTS: tuple[Fault, ...] = (
    append_drops_duplicates, delete_takes_unknown_for_true, update_loses_the_last_row_that_it_changes,
    merge_inserts_nothing_where_it_updates, merge_takes_rows_without_a_key_away, overwrite_keeps_null_partitions,
    restore_adds_without_removing, minus_zero_becomes_zero, longs_pass_through_doubles, old_dates_are_off,
    microseconds_are_cut, empty_texts_are_null, percents_are_decoded_twice, compaction_forgets_infinities,
    checkpoint_then_vacuum_loses_what_a_merge_wrote, reads_of_a_restored_version_are_stale,
)  # fmt: skip


def steps_until_found(
    fault: Fault, profile: TableProfile, seed: int, histories: int, steps: int
) -> int | None:
    """After how many steps of a chunk a fault shows."""
    for taken, (model_history, operation, memory) in enumerate(
        chunk(profile, seed, histories, steps), start=1
    ):
        right = model_history.after(operation).table
        faulty = fault(FaultyStep(model_history, operation, memory), right)
        if not faulty.same_contents(right):
            return taken
    return None


def chunk(
    profile: TableProfile, seed: int, histories: int, steps: int
) -> Iterator[tuple[ModelHistory, Operation, dict[str, object]]]:
    for number in range(histories):
        choices = RandomChoices(seed * 1000 + number)
        shape = draw_shape(choices, profile)
        model_history, memory = ModelHistory(), dict[str, object]()
        for _ in range(steps):
            operation = draw_operation(choices, model_history, shape)
            yield model_history, operation, memory
            model_history = model_history.after(operation)


def share_found(profile: TableProfile, seeds: range, histories: int = HISTORIES, steps: int = STEPS) -> float:
    shown = [
        steps_until_found(fault, profile, seed, histories, steps) is not None
        for fault in FAULTS
        for seed in seeds
    ]
    return sum(shown) / len(shown)


def test_a_chunk_shows_most_of_the_seeded_faults() -> None:
    assert share_found(PROFILES["ci"], range(5)) > 0.75


def test_ten_chunks_show_every_one() -> None:
    missed = [
        getattr(fault, "__name__", "") for fault in FAULTS
        if steps_until_found(fault, PROFILES["ci"], 1, 10 * HISTORIES, STEPS) is None
    ]  # fmt: skip
    assert missed == []


@pytest.mark.slow
@pytest.mark.parametrize("one_in", (0, 3, 6, 12))
def test_switching_operations_off_costs_little(one_in: int) -> None:
    share = share_found(replace(PROFILES["ci"], switched_off_one_in=one_in), range(20))
    print(f"one operation in {one_in} switched off: {share:.2f} of the faults found in a chunk")  # noqa: T201
    assert share > 0.7
