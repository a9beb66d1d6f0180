"""The liars that the catalogue's issue names, and how they are played in drawn `dev` histories until they are heard."""

from __future__ import annotations

from pathlib import Path

from conformance.generation import TableShape
from conformance.generation.state_machine import draw
from conformance.histories import Chunk, Step
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from delta_adapters.reference import Reference
from tests.mutants import answers, ends, logs, meanings, tellers
from tests.mutants.stage import Played, Table

SEEDS = (1, 2, 3)
NAMED = (
    meanings.DropsARow,
    ends.ReportsSuccess,
    answers.StaleReads,
    meanings.DropsARemove,
    logs.DuplicatesAnAdd,
    logs.WrongPartitionValue,
    meanings.ForgetsInCheckpoints,
    logs.HintAheadOfTheLog,
    logs.WideBoundsPresentedAsTight,
    logs.ResurrectsATombstone,
    meanings.RestoresWithoutRemoving,
    tellers.ForgetsAChange,
    tellers.ForgetsVectorsAfterACheckpoint,
)


class UntilHeard:
    """Plays histories on an adapter until a rule is broken."""

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


def heard(adapter: type[Reference], seed: int, folder: Path, most: int | None = None) -> UntilHeard:
    """Play the histories of the profile, `most` chunks of them if so many are enough."""
    plan = make_plan(load_profile("dev"), seed, engines=("reference",), suites=("lockstep",))
    game = UntilHeard(adapter, folder)
    chunks: list[Chunk] = [each for each in plan.chunks if each.suite == "lockstep"][:most]
    assert chunks
    for number, chunk in enumerate(chunks):
        game.folder = folder / str(number)
        if not game.played.broken:
            draw(chunk, game, shared=False)
    return game
