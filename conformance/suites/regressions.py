"""The suite of kept histories: each engine that claims what one needs plays it, and is judged as in any other.

A kept history is played by the rules of the suite that it comes from: alone at a table of its own, in turns on a shared
table, with faults, or as a race. On a shared table each engine takes each slot once, first as the finding had it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from conformance.engine_pool import Engine
from conformance.generation import TableShape
from conformance.histories import Chunk
from conformance.suites.context import SuiteContext
from conformance.suites.crashes.suite import GeneratedCrashes
from conformance.suites.generated import CRASHES, RACES, SHARED, GeneratedHistories
from conformance.suites.kept_histories import KeptHistory
from conformance.suites.races.generated import GeneratedRaces
from delta_adapters.engine_id import EngineId
from delta_models.operations import Interleave
from delta_models.schema import Struct


class KeptHistories:
    """A chunk of one kept history, whose number is that of the chunk."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        kept = context.kept[chunk.number]
        steps = len(kept.history.steps)
        self._context = context
        self._player = _PLAYERS[chunk.kind](context, replace(chunk, steps=steps), work, kept)
        self._complete = False

    @property
    def complete(self) -> bool:
        """Whether the history was played to its end, in every course."""
        return self._complete

    def play_all(self) -> None:
        """Play the history, once for each course. Raises FindingError or OSError if the run's folder fails."""
        for course in range(self._player.courses):
            if self._context.is_over():
                return
            self._player.play_course(course)
        self._complete = not self._context.is_over()


class _KeptAlone(GeneratedHistories):
    """Plays a kept history in place of generated ones, each engine at a table of its own."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path, kept: KeptHistory) -> None:
        super().__init__(context, chunk, work)
        self.kept = kept

    @property
    def courses(self) -> int:
        """How often the history is played."""
        return 1

    def play_course(self, number: int) -> None:
        """Play the history once."""
        self.begin(number, self._shape())
        for step in self.kept.history.steps:
            if self.is_over():
                break
            self.play(step)
        self.end()
        self.raise_failure()

    def why_not_asked(self, engine: Engine, shape: TableShape) -> str | None:  # noqa: ARG002 - as in every suite
        """Why an engine does not claim what the history needs; None if it does."""
        reasons = map(engine.capabilities.covers, self.kept.operations)
        return next((reason for reason in reasons if reason is not None), None)

    def _shape(self) -> TableShape:
        create = self.kept.create
        if create is None:
            return TableShape(Struct())
        return TableShape(create.schema, create.partition_by, create.properties)


class _KeptShared(_KeptAlone):
    """Plays a kept history on a shared table: each engine takes each slot once."""

    @property
    def courses(self) -> int:
        """As many as there are engines."""
        return max(1, len(list(self.engines_for(0, self._shape()))))

    def engines_for(self, history: int, shape: TableShape) -> Iterator[Engine]:
        """The engines in the order of the slots that the finding gave them."""
        writers = self.kept.writers

        def slot_of(engine: Engine) -> int:
            name = EngineId.parse(engine.name).name
            return writers.index(name) if name in writers else len(writers)

        yield from sorted(super().engines_for(history, shape), key=slot_of)

    def why_not_asked(self, engine: Engine, shape: TableShape) -> str | None:
        """Why an engine does not claim the table. Steps that it does not claim are another engine's."""
        return GeneratedHistories.why_not_asked(self, engine, shape)


class _KeptCrashes(_KeptAlone, GeneratedCrashes):
    """Plays a kept history with its faults, at a table for each engine that writes."""


class _KeptRaces(_KeptAlone, GeneratedRaces):
    """Plays a kept history with its races, at a table for each group of writers."""

    @property
    def writers(self) -> int:
        """How many writers its races have."""
        races = [step.operation for step in self.kept.history.steps if isinstance(step.operation, Interleave)]
        return max(2, 1 + max(owner for race in races for owner in race.owners))


_PLAYERS = {"lockstep": _KeptAlone, SHARED: _KeptShared, CRASHES: _KeptCrashes, RACES: _KeptRaces}
