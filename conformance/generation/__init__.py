"""What histories are made of: shapes, rows, predicates and commands, drawn from what the model says is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from conformance.generation.choices import HypothesisChoices, RandomChoices
from conformance.generation.operations import Guard, draw_operation
from conformance.generation.table_profiles import PROFILES, TableProfile
from conformance.generation.table_shapes import TableShape, draw_shape
from delta_adapters.deviations import guarded
from delta_models.operations import Operation, Read
from delta_models.table import ModelHistory

__all__ = [
    "PROFILES",
    "Guard",
    "RandomChoices",
    "TableProfile",
    "TableShape",
    "draw_operation",
    "draw_shape",
    "generate_operations",
    "generate_shapes",
    "slots",
]

SLOTS = ("A", "B", "C")
ATTEMPTS = 5


def generate_shapes(profile: TableProfile | str) -> st.SearchStrategy[TableShape]:
    """Shapes of tables for the histories of a profile, which may be given by its name."""
    return _shapes(PROFILES[profile] if isinstance(profile, str) else profile)


def generate_operations(
    model_history: ModelHistory, shape: TableShape, avoid: tuple[Guard, ...] = ()
) -> st.SearchStrategy[Operation]:
    """The next command of a history; the first is always Create. Reopen is the machine's to draw.

    A tame shape's commands set off no trigger of a known deviation; `avoid` are further ones to stay clear of.
    """
    return _commands(model_history, shape, avoid)


def slots() -> st.SearchStrategy[str]:
    """Who performs a step of a shared history."""
    return st.sampled_from(SLOTS)


@st.composite
def _shapes(draw: Callable[..., Any], profile: TableProfile) -> TableShape:
    return draw_shape(HypothesisChoices(draw), profile)


@st.composite
def _commands(
    draw: Callable[..., Any], model_history: ModelHistory, shape: TableShape, avoid: tuple[Guard, ...]
) -> Operation:
    choices = HypothesisChoices(draw)
    for _ in range(ATTEMPTS):
        command = draw_operation(choices, model_history, shape)
        tripping = shape.tame and guarded(model_history.table, command) is not None
        if not tripping and not any(each(model_history, command) for each in avoid):
            return command
    return Read()
