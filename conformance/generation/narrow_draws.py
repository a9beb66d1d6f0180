"""The strategies of shapes, operations and races, within what engines claim where a chunk is narrowed to that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from conformance.generation.choices import HypothesisChoices
from conformance.generation.narrowing import Claimed
from conformance.generation.operations import draw_operation, generate_operations
from conformance.generation.races import (
    draw_race_operation,
    generate_race_operations,
    generate_race_shapes,
    plain_race,
)
from conformance.generation.table_profiles import PROFILES
from conformance.generation.table_shapes import TableShape, draw_shape, generate_shapes
from delta_adapters.deviations import operation_trigger, operation_triggers
from delta_models.operations import Append, Create, Interleave, Operation, Overwrite, Read
from delta_models.table import ModelHistory

ATTEMPTS = 12  # to draw an operation that is claimed with its options


def narrow_shapes(
    table_profile: str, claimed: Claimed | None, *, racing: bool
) -> st.SearchStrategy[TableShape]:
    """Return a strategy for the shapes of a table profile, or of a history of races."""
    if racing:
        shapes = generate_race_shapes(table_profile)
        return shapes if claimed is None else shapes.map(lambda shape: _narrow_race(shape, claimed))
    return generate_shapes(table_profile) if claimed is None else _shapes(table_profile, claimed)


def narrow_operations(
    model_history: ModelHistory, shape: TableShape, claimed: Claimed | None
) -> st.SearchStrategy[Operation]:
    """Return a strategy for the next operation of a history."""
    if claimed is None:
        return generate_operations(model_history, shape)
    return _operations(model_history, shape, claimed)


def narrow_races(
    model_history: ModelHistory, shape: TableShape, claimed: Claimed | None
) -> st.SearchStrategy[Operation]:
    """Return a strategy for the next operation of a history of races."""
    if claimed is None:
        return generate_race_operations(model_history, shape)
    return _race_operations(model_history, shape, claimed)


def _narrow_race(shape: TableShape, claimed: Claimed) -> TableShape:
    partition_by = (
        shape.partition_by if claimed.types(((shape.schema.fields[1].type, 1),), partition=True) else ()
    )
    return replace(claimed.narrow_shape(shape), partition_by=partition_by, operations=shape.operations)


@st.composite
def _shapes(draw: Callable[..., Any], table_profile: str, claimed: Claimed) -> TableShape:
    profile = claimed.narrow_profile(PROFILES[table_profile])
    return claimed.narrow_shape(draw_shape(HypothesisChoices(draw), profile))


@st.composite
def _operations(
    draw: Callable[..., Any], model_history: ModelHistory, shape: TableShape, claimed: Claimed
) -> Operation:
    choices = HypothesisChoices(draw)
    for _ in range(ATTEMPTS):
        operation = draw_operation(choices, model_history, shape)
        first = not model_history.table.exists
        tripping = shape.tame and operation_trigger(model_history.table, operation) is not None
        if first or (claimed.covers(operation) and not tripping):
            return operation
    return Read()


@st.composite
def _race_operations(
    draw: Callable[..., Any], model_history: ModelHistory, shape: TableShape, claimed: Claimed
) -> Operation:
    choices = HypothesisChoices(draw)
    for _ in range(ATTEMPTS):
        operation = draw_race_operation(choices, model_history, shape)
        if isinstance(operation, Create | Append) or claimed.covers(operation):
            return operation
    writes: list[tuple[str, int]] = [
        (kind.__name__, 1) for kind in (Append, Overwrite) if claimed.has_kind(kind.__name__)
    ]
    race: Interleave = plain_race(choices, model_history, tuple(writes) or (("Append", 1),))
    tripping = shape.tame and operation_triggers(model_history.table, race)
    return race if claimed.covers(race) and not tripping else Read()
