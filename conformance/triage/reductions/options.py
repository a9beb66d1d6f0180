"""A plainer definition and plainer options: no partitions, no properties, the defaults of operations and faults."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from conformance.histories import History, Step
from conformance.triage.model_play import play_on_model
from conformance.triage.reductions.base import Candidates, of_each_operation, shorter, with_steps
from conformance.triage.references import renumbered, transformed
from delta_models.operations import (
    Append,
    Cluster,
    Create,
    CreateAs,
    Interleave,
    MergeClause,
    Operation,
    Overwrite,
    Replace,
    SetProperties,
    UnsetProperties,
    ZOrder,
)
from delta_models.schema import Field
from delta_models.values import Rows

LEFT_TO_OTHERS = frozenset({"where", "condition", "assignments", "at", "columns", "last"})


def _definitions(operation: Operation) -> Iterator[Operation]:
    if isinstance(operation, Create | Replace | CreateAs):
        for partitioning in shorter(operation.partition_by):
            yield replace(operation, partition_by=partitioning)
        for properties in shorter(operation.properties):
            yield replace(operation, properties=properties)
    if isinstance(operation, Create | Replace):
        for clustering in shorter(operation.cluster_by):
            yield replace(operation, cluster_by=clustering)
    if isinstance(operation, SetProperties):
        for properties in shorter(operation.properties, 1):
            yield replace(operation, properties=properties)
    if isinstance(operation, UnsetProperties):
        for keys in shorter(operation.keys, 1):
            yield replace(operation, keys=keys)
    if isinstance(operation, ZOrder | Cluster):
        for columns in shorter(operation.columns, 1):
            yield replace(operation, columns=columns)


def _defaults(operation: Operation) -> Iterator[Operation]:
    """The operation with the default of one of its options; all at once before."""
    single = list(_each_default(operation))
    if len(single) > 1:
        plain: Any = operation
        for name, default in _set_options(operation):
            plain = replace(plain, **{name: default})
        yield plain
    yield from single


def _each_default(operation: Operation) -> Iterator[Operation]:
    for name, default in _set_options(operation):
        changed: Any = operation
        yield replace(changed, **{name: default})
    if getattr(operation, "ordinal", 0) > 1:
        fault: Any = operation
        yield replace(fault, ordinal=1)


def _set_options(operation: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(operation, MergeClause | Interleave):
        return
    for field in dataclasses.fields(operation):
        if field.name in LEFT_TO_OTHERS or field.default is dataclasses.MISSING:
            continue
        if field.name in {"properties", "partition_by", "cluster_by"}:
            continue
        if getattr(operation, field.name) != field.default:
            yield field.name, field.default


plainer_definition = of_each_operation(_definitions)
plainer_options = of_each_operation(_defaults)


def plainer_fields(history: History) -> Candidates:
    """All columns without metadata and nullable, everywhere; then those of each name."""
    names: dict[str, None] = {}

    def note(value: Any) -> Any:
        if isinstance(value, Field) and value != Field(value.name, value.type):
            names.setdefault(value.name)
        return value

    transformed(tuple(step.operation for step in history.steps), note)
    for chosen in [tuple(names), *((name,) for name in names)] if len(names) > 1 else [tuple(names)]:
        if not chosen:
            return

        def plain(value: Any, chosen: tuple[str, ...] = chosen) -> Any:
            if isinstance(value, Field) and value.name in chosen:
                return Field(value.name, value.type)
            return value

        taken = yield with_steps(
            history, [replace(step, operation=transformed(step.operation, plain)) for step in history.steps]
        )
        history = taken or history


def plainer_operations(history: History) -> Candidates:
    """Plain operations in place of richer ones: a table that is created and then filled, rows that are appended."""
    for number in range(len(history.steps) - 1, -1, -1):
        if number >= len(history.steps):
            continue
        step = history.steps[number]
        for operations in _plain_forms(history, number):
            past = (
                *history.steps[:number],
                *(replace(step, operation=operation) for operation in operations),
            )
            taken = yield with_steps(history, _in_place_of(history.steps, number, past))
            if taken is not None:
                history = taken
                break


def _in_place_of(steps: tuple[Step, ...], number: int, past: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps with `past` in place of those up to a number. Later steps name the states before it as they did."""
    moved = {state: state for state in range(number)}
    moved |= {state: state - number - 1 + len(past) for state in range(number, len(steps))}
    rest = (replace(step, operation=renumbered(step.operation, moved)) for step in steps[number + 1 :])
    return (*past, *rest)


def _plain_forms(history: History, number: int) -> Iterator[tuple[Operation, ...]]:
    operation = history.steps[number].operation
    if isinstance(operation, CreateAs):
        create = Create(operation.rows.schema, operation.partition_by, operation.properties)
        yield create, Append(operation.rows)
    if isinstance(operation, Overwrite):
        yield (Append(operation.rows),)
    played = play_on_model(history.steps[: number + 1])
    if played is None or isinstance(operation, Append | Create | Overwrite):
        return
    before, after = played.tables[number], played.tables[number + 1]
    if before.exists and after.exists and before.schema == after.schema and before.rows != after.rows:
        new = tuple(after.rows)
        yield (Append(Rows(after.schema, new)),)
