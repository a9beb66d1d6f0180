"""The shell around the commands: a Hypothesis state machine that draws histories from the model and hands
each step on.

It knows no engine. What a step does is the business of the `HistoryPlayer` that it is given; draws depend on the seed,
the profile and the model alone, so a game never feeds anything back. Generate phase only: failures are files
of ours, and shrinking is a command of its own.

Hypothesis draws the simplest history of all before any other, then others that are close to it, and fills
values with constants from whatever modules happen to be loaded. Right for finding a failure in a function,
wasteful and unrepeatable for twelve dear histories: so the first history is passed over, and `UniformProvider` draws
all others freely.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import (
    AVAILABLE_PROVIDERS,
    CONSTANTS_CACHE,
    HypothesisProvider,
)
from hypothesis.internal.constants_ast import Constants
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from conformance.generation import SLOTS, TableShape, generate_operations, generate_shapes
from conformance.generation.faults import generate_faults, is_expected_to_prevent
from conformance.generation.races import generate_race_operations, generate_race_shapes, predict_race
from conformance.histories import Step
from conformance.planning.plan import Chunk
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
COOLS = (Checkpoint, CleanLog, Vacuum, DamageFile, AdvanceClock)
BACKEND = "conformance"


class HistoryPlayer(Protocol):
    """What is done with the histories that a machine draws."""

    def begin(self, history: int, shape: TableShape) -> None:
        """A history begins: its number in the chunk, and its shape."""

    def play(self, step: Step) -> None:
        """The next command."""

    def end(self) -> None:
        """The history is over."""

    def is_over(self) -> bool:
        """Whether nothing more is wanted: the plan or the budget cut the chunk."""


class UniformProvider(HypothesisProvider):
    """Hypothesis' own way to draw, but the same in every process: without constants from the modules loaded."""

    @cached_property
    def _local_constants(self) -> Constants:
        return Constants()


AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.UniformProvider"


def draw(
    chunk: Chunk, game: HistoryPlayer, *, shared: bool, faulty: bool = False, racing: bool = False
) -> None:
    """Draw a chunk's histories and hand them to a game, step by step."""
    made = 0

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            nonlocal made
            super().__init__()
            self.history = made - 1
            made += 1
            self.model_history = ModelHistory()
            self.cold = False
            self.begun = False

        def idle(self) -> bool:
            return self.history < 0 or self.history >= chunk.histories or game.is_over()

        @initialize(data=st.data())
        def shape_of_the_table(self, data: st.DataObject) -> None:
            if self.idle():
                return
            self.shape = data.draw((generate_race_shapes if racing else generate_shapes)(chunk.drawn_for))
            self.begun = True
            game.begin(self.history, self.shape)

        @rule(data=st.data())
        def step(self, data: st.DataObject) -> None:
            if not self.begun or self.idle():
                return
            operation = self.next_operation(data)
            slot = data.draw(st.sampled_from(SLOTS)) if shared else None
            fault = data.draw(generate_faults(self.model_history, operation)) if faulty else None
            if fault is not None:
                game.play(Step(fault))
                self.model_history = self.model_history.after(Reopen())
            game.play(Step(operation, slot))
            if isinstance(operation, Interleave):
                self.model_history = predict_race(self.model_history, operation)
            else:
                self.model_history = self.model_history.after(
                    Reopen() if is_expected_to_prevent(fault) else operation
                )
            self.cold = isinstance(operation, COOLS)

        def next_operation(self, data: st.DataObject) -> Operation:
            if racing:
                between: Operation = data.draw(generate_race_operations(self.model_history, self.shape))
                return between
            if self.model_history.table.exists and (
                self.cold or data.draw(st.integers(1, REOPEN_ONE_IN)) == 1
            ):
                return Reopen()
            drawn: Operation = data.draw(generate_operations(self.model_history, self.shape))
            return drawn

        def teardown(self) -> None:
            if self.begun:
                game.end()

    # All providers of a process share this cache: what other tests left in it would be drawn here, and the reverse.
    CONSTANTS_CACHE.cache.clear()
    try:
        run_state_machine_as_test(seed(chunk.seed)(Machine), settings=settings_of(chunk))
    finally:
        CONSTANTS_CACHE.cache.clear()


def settings_of(chunk: Chunk) -> settings:
    """Our own settings, all that matter said, so that no profile that loads itself where `CI` is set changes a run."""
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
