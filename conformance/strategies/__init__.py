"""What histories are made of: shapes, rows, predicates and commands, drawn from what the model says is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from conformance.strategies.dice import HypothesisDice, RandomDice
from conformance.strategies.operations import Guard, draw_command
from conformance.strategies.profiles import PROFILES, Profile
from conformance.strategies.shapes import Shape, draw_shape
from delta_adapters.deviations import guarded
from delta_models.operations import Operation, Read
from delta_models.table import World

__all__ = [
    "PROFILES",
    "Guard",
    "Profile",
    "RandomDice",
    "Shape",
    "commands",
    "draw_command",
    "draw_shape",
    "shapes",
    "slots",
]

SLOTS = ("A", "B", "C")
ATTEMPTS = 5


def shapes(profile: Profile | str) -> st.SearchStrategy[Shape]:
    """Shapes of tables for the histories of a profile, which may be given by its name."""
    return _shapes(PROFILES[profile] if isinstance(profile, str) else profile)


def commands(world: World, shape: Shape, avoid: tuple[Guard, ...] = ()) -> st.SearchStrategy[Operation]:
    """The next command of a history; the first is always Create. Reopen is the machine's to draw.

    A tame shape's commands set off no trigger of a known deviation; `avoid` are further ones to stay clear of.
    """
    return _commands(world, shape, avoid)


def slots() -> st.SearchStrategy[str]:
    """Who performs a step of a shared history."""
    return st.sampled_from(SLOTS)


@st.composite
def _shapes(draw: Callable[..., Any], profile: Profile) -> Shape:
    return draw_shape(HypothesisDice(draw), profile)


@st.composite
def _commands(draw: Callable[..., Any], world: World, shape: Shape, avoid: tuple[Guard, ...]) -> Operation:
    dice = HypothesisDice(draw)
    for _ in range(ATTEMPTS):
        command = draw_command(dice, world, shape)
        tripping = shape.tame and guarded(world.table, command) is not None
        if not tripping and not any(each(world, command) for each in avoid):
            return command
    return Read()
