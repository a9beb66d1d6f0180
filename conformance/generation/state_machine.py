"""Draws the histories of a chunk from the model, with a Hypothesis state machine, and hands each step to a player.

It knows no engine. Draws depend on the chunk (its seed, its profile, and the claims that it is drawn within) and on the
model alone, so a player feeds nothing back.
Hypothesis only generates: failures are files of ours, and shrinking is a command of its own.

Hypothesis draws the simplest history before any other, then others that are close to it. It fills values with constants
from whatever modules happen to be loaded. That is right for finding a failure in a function. For twelve expensive
histories it is wasteful, and can't be repeated. So the first history is passed over, and `UniformProvider` draws all
others freely.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import (
    AVAILABLE_PROVIDERS,
    CONSTANTS_CACHE,
    HypothesisProvider,
)
from hypothesis.internal.constants_ast import Constants
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from conformance.generation import SLOTS, TableShape
from conformance.generation.faults import generate_faults, is_expected_to_prevent
from conformance.generation.narrow_draws import narrow_operations, narrow_races, narrow_shapes
from conformance.generation.narrowing import claimed_in
from conformance.generation.races import predict_race
from conformance.histories import Chunk, Step
from delta_models.operations import (
    AdvanceClock,
    Checkpoint,
    CleanLog,
    DamageFile,
    Interleave,
    Operation,
    Reopen,
    Vacuum,
)  # fmt: skip
from delta_models.table import ModelHistory

REOPEN_ONE_IN = 6
# After these the table is reopened, so that what an engine keeps in memory hides nothing.
REOPEN_AFTER = (Checkpoint, CleanLog, Vacuum, DamageFile, AdvanceClock)
BACKEND = "conformance"


class HistoryPlayer(Protocol):
    """Receives the histories of a chunk while they are drawn. Nothing that it does changes what is drawn."""

    def begin(self, history: int, shape: TableShape) -> None:
        """Begin a history: its number in the chunk, and the shape of its table."""

    def play(self, step: Step) -> None:
        """Play the next step of the history."""

    def end(self) -> None:
        """End the history."""

    def is_over(self) -> bool:
        """Whether the player wants no more steps: the plan or the budget cuts the chunk."""


class UniformProvider(HypothesisProvider):
    """Draws as Hypothesis does, but the same in every process: without constants from the modules loaded."""

    @cached_property
    def _local_constants(self) -> Constants:
        return Constants()


AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.UniformProvider"


def draw(
    chunk: Chunk, player: HistoryPlayer, *, shared: bool, faulty: bool = False, racing: bool = False
) -> None:
    """Draw the histories of a chunk, and hand them to a player step by step. Raises what the player raises.

    Each step of a `shared` history has a slot. A `faulty` history has faults, a `racing` one races.
    """

    class ChunkMachine(HistoryMachine):
        drawing = _Drawing(chunk, player, shared=shared, faulty=faulty, racing=racing)

    with _no_cached_constants():
        run_state_machine_as_test(seed(chunk.seed)(ChunkMachine), settings=settings_of(chunk))


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What all histories of a chunk have in common. `numbers` gives them their numbers.

    The first history is the simplest of all and is passed over, so it has the number -1.
    """

    chunk: Chunk
    player: HistoryPlayer
    shared: bool
    faulty: bool
    racing: bool
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(-1))


class HistoryMachine(RuleBasedStateMachine):
    """Draws one history. Hypothesis makes a machine for each history, and calls its rule for each step."""

    drawing: ClassVar[_Drawing]

    def __init__(self) -> None:
        super().__init__()
        self.history = next(self.drawing.numbers)
        self.model_history = ModelHistory()
        self.must_reopen = False
        self.begun = False

    def is_idle(self) -> bool:
        """Whether the history is not to be played, or no further."""
        return not 0 <= self.history < self.drawing.chunk.histories or self.drawing.player.is_over()

    @initialize(data=st.data())
    def draw_table(self, data: st.DataObject) -> None:
        """Draw the shape of the table."""
        if self.is_idle():
            return
        chunk = self.drawing.chunk
        self.claimed = claimed_in(chunk.within)
        self.shape = data.draw(narrow_shapes(chunk.drawn_for, self.claimed, racing=self.drawing.racing))
        self.begun = True
        self.drawing.player.begin(self.history, self.shape)

    @rule(data=st.data())
    def draw_step(self, data: st.DataObject) -> None:
        """Draw the next step, if need be with the fault before it."""
        if not self.begun or self.is_idle():
            return
        operation = self.draw_operation(data)
        slot = data.draw(st.sampled_from(SLOTS)) if self.drawing.shared else None
        fault = data.draw(generate_faults(self.model_history, operation)) if self.drawing.faulty else None
        if fault is not None:
            self.drawing.player.play(Step(fault))
            self.model_history = self.model_history.after(Reopen())
        self.drawing.player.play(Step(operation, slot))
        if isinstance(operation, Interleave):
            self.model_history = predict_race(self.model_history, operation)
        else:
            prevented = is_expected_to_prevent(fault)
            self.model_history = self.model_history.after(Reopen() if prevented else operation)
        self.must_reopen = isinstance(operation, REOPEN_AFTER)

    def draw_operation(self, data: st.DataObject) -> Operation:
        """Draw the next operation; it reopens the table where it must, and now and then."""
        if self.drawing.racing:
            between: Operation = data.draw(narrow_races(self.model_history, self.shape, self.claimed))
            return between
        if self.model_history.table.exists and (
            self.must_reopen or data.draw(st.integers(1, REOPEN_ONE_IN)) == 1
        ):
            return Reopen()
        operation: Operation = data.draw(narrow_operations(self.model_history, self.shape, self.claimed))
        return operation

    def teardown(self) -> None:
        """End the history."""
        if self.begun:
            self.drawing.player.end()


@contextlib.contextmanager
def _no_cached_constants() -> Iterator[None]:
    """Begin and end with an empty cache of constants.

    All providers of a process share this cache of Hypothesis. What other tests have left in it would be drawn here,
    and what is left here would be drawn by them.
    """
    CONSTANTS_CACHE.cache.clear()
    try:
        yield
    finally:
        CONSTANTS_CACHE.cache.clear()


def settings_of(chunk: Chunk) -> settings:
    """Return the settings of Hypothesis for a chunk.

    All that matter are given, so that a profile which loads itself where `CI` is set changes nothing.
    """
    return settings(
        settings.get_profile("default"),
        backend=BACKEND,
        max_examples=chunk.histories + 1,
        stateful_step_count=chunk.steps + 1,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
