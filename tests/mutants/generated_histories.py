"""Play the mutants that matter most in generated histories of the profile `dev` until a check catches them."""

from __future__ import annotations

from pathlib import Path

from conformance.generation import TableShape
from conformance.generation.state_machine import draw
from conformance.histories import Chunk, Step
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from delta_adapters.reference import Reference
from tests.mutants import contents, introspection, logs, outcomes, reads
from tests.mutants.stage import Played, Table

SEEDS = (1, 2, 3)
NAMED = (
    contents.DropsARow,
    outcomes.ReportsSuccess,
    reads.StaleReads,
    contents.DropsARemove,
    logs.DuplicatesAnAdd,
    logs.WrongPartitionValue,
    contents.ForgetsInCheckpoints,
    logs.HintAheadOfTheLog,
    logs.WideBoundsPresentedAsTight,
    logs.ResurrectsATombstone,
    contents.RestoresWithoutRemoving,
    introspection.ForgetsAChange,
    introspection.ForgetsVectorsAfterACheckpoint,
)


class UntilViolation:
    """Plays generated histories on an adapter until it violates a requirement."""

    def __init__(self, adapter: type[Reference], folder: Path) -> None:
        self.adapter = adapter
        self.folder = folder
        self.played = Played()
        self.table: Table | None = None
        self.steps = 0

    def begin(self, history: int, shape: TableShape) -> None:
        self.table = Table(self.adapter(), self.folder / f"{self.steps}" / "table")

    def play(self, step: Step) -> None:
        if self.table is not None and self.table.plays and not self.played.broken:
            self.played.result += self.table.play(step)
            self.steps += 1

    def end(self) -> None:
        self.table = None

    def is_over(self) -> bool:
        return False  # to stop drawing in the middle would look flaky to Hypothesis


def play_until_violation(
    adapter: type[Reference], seed: int, folder: Path, most: int | None = None
) -> UntilViolation:
    """Play the histories of the profile, or of its first `most` chunks, until the adapter violates a requirement."""
    plan = make_plan(load_profile("dev"), seed, engines=("reference",), suites=("lockstep",))
    game = UntilViolation(adapter, folder)
    chunks: list[Chunk] = [chunk for chunk in plan.chunks if chunk.suite == "lockstep"][:most]
    assert chunks
    for number, chunk in enumerate(chunks):
        game.folder = folder / str(number)
        if not game.played.broken:
            draw(chunk, game, shared=False)
    return game
