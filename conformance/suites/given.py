"""Plays histories that a planner has written out, by the rules of the suite that they are given to."""

from __future__ import annotations

from pathlib import Path

from conformance.generation.table_shapes import shape_made_by
from conformance.histories import Chunk, History
from conformance.suites.base import Suite
from conformance.suites.context import SuiteContext
from conformance.suites.crashes.suite import GeneratedCrashes
from conformance.suites.generated import CRASHES, RACES, GeneratedHistories
from conformance.suites.races.generated import GeneratedRaces


def given_histories(context: SuiteContext, chunk: Chunk, work: Path) -> Suite:
    """The suite that plays the given histories of a chunk."""
    players: dict[str, type[_Given]] = {CRASHES: _GivenCrashes, RACES: _GivenRaces}
    return players.get(chunk.suite, _Given)(context, chunk, work)


class _Given(GeneratedHistories):
    """Plays given histories in place of generated ones: alone, or in turns on a shared table."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        super().__init__(context, chunk, work)
        self._whole = 0  # histories that were played to their end, however long each is

    def play_all(self) -> None:
        """Play one history after another. Raises FindingError or OSError if the run's folder fails."""
        for number, history in enumerate(self.chunk.given):
            if self.is_over():
                break
            self._play_history(number, history)
        self.raise_failure()

    @property
    def complete(self) -> bool:
        """Whether every history was played to its end."""
        return self._whole == len(self.chunk.given)

    def _play_history(self, number: int, history: History) -> None:
        self.begin(number, shape_made_by(history.steps[0].operation))
        for step in history.steps:
            if self.is_over():
                break
            self.play(step)
        self._whole += len(self.history_recorder.steps) == len(history.steps)
        self.end()


class _GivenCrashes(_Given, GeneratedCrashes):
    """Plays given histories with their faults, at a table for each engine that writes."""


class _GivenRaces(_Given, GeneratedRaces):
    """Plays given histories with their races, at a table for each group of writers."""

    @property
    def writers(self) -> int:
        """The races of a given history are of two writers."""
        return 2
