"""A table at which two engines write at once, let through their gates in an order that is data."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

from conformance.answers import rows_of
from conformance.history import Step
from conformance.observation import Look, Observation, Race
from conformance.player import Desk, Judged
from conformance.seats import Seat
from conformance.turnstile.actor import Actor
from conformance.turnstile.controller import Turnstile
from conformance.turnstile.schedules import PUBLISH, Gates, Interleaved, Writer, interleave
from delta_adapters.contract import Look as Asked
from delta_adapters.supervisor import ReadReply, Reply
from delta_models.operations import Interleave, Operation, Read, Reopen
from delta_models.outcomes import Committed, NoChange, Outcome, Unknown
from delta_models.table import Branch, Expectation
from delta_models.table.expectation import ANY_NUMBER
from delta_models.values import Rows

CUT_SHORT = "which had ended"  # in what a schedule tells of a writer that had less to do than alone


class RaceDesk(Desk):
    """A table, and a seat for each slot of a race. Readers and writers are told by what they are asked."""

    def __init__(
        self, folder: Path, seats: Sequence[Seat], actors: Sequence[Actor], turnstile: Turnstile, tag: str
    ) -> None:
        super().__init__(folder, seats[:1], 0, tag, looks_around=False)
        self._all = list(seats)
        self.overlap = "table"
        self.followed = 0
        self._actors = actors
        self._turnstile = turnstile

    @property
    def sitting(self) -> list[Seat]:
        """A seat for each slot; but for the race itself the first speaks for all."""
        return self._all

    def sit_down(self) -> Iterator[Judged]:
        """Have every engine address the table."""
        yield from super().sit_down()
        for seat in self._all[1:]:
            if lost := seat.open(self.folder):
                yield self._lost(seat, lost, Reopen())

    def copy(self, folder: Path) -> Self:
        """The same table elsewhere, at the same point of its history."""
        other = type(self)(folder, self._all, self._actors, self._turnstile, self._tag)
        shutil.copytree(self.folder, folder)
        other.world, other.versions, other.snapshot = self.world, self.versions, self.snapshot
        other.overlap = self.overlap
        return other

    def gates(self, place: int, operation: Operation) -> int:
        """Through how many gates an operation goes when nothing is in its way."""
        passed = Gates()
        actor = self._actors[place]
        actor.watch(self.folder)
        actor.begin(gate=lambda event: passed(event) and False)
        self._submit(place, operation)()
        actor.end()
        return len(passed.passed)

    def play(self, step: Step) -> Iterator[Judged | None]:
        """One step; where it is a race, of all at once."""
        if isinstance(step.operation, Interleave):
            yield from self._race(step.operation)
        else:
            yield from super().play(step)

    def _race(self, race: Interleave) -> Iterator[Judged]:
        number, before, world = self.world.step, self.snapshot, self.world
        writers: list[Writer[Reply | ReadReply]] = []
        for place, operation in enumerate(race.operations):
            self._actors[place].watch(self.folder)
            writers.append(Writer(self._actors[place], lambda p=place, o=operation: self._submit(p, o)))  # type: ignore[misc]
        went = interleave(self._turnstile, writers, race.schedule)
        followed = all(CUT_SHORT in each for each in went.problems)
        self.followed += followed
        outcomes = tuple(self._outcome(each) for each in went.answers)
        self.seats[0].operations += len(went.answers)
        self.seats[0].seconds += max((getattr(each, "seconds", 0.0) for each in went.answers), default=0.0)
        added, error = self._advance()
        expectation = Expectation((Branch(Committed(), (0, ANY_NUMBER), world.table, "race.no-lost-update"),))
        seen_by = self._seen(went)
        published = {place: _published(went, place) for place in seen_by}
        raced = Race(world, race.operations, outcomes, self.overlap, seen_by, published, followed)
        self.left = "the race is over"
        reader = self.seats[0]
        looks: dict[str, list[Look]] = {}
        seen = Observation(
            reader.engine, number, race, self.folder, expectation, outcomes[0], expectation.ordinary, world.table,
            self.reader, before, self.snapshot, added, (), error, self.versions, race=raced,
        )  # fmt: skip
        for seat in self._all:
            if not seat.host.alive:
                seat.host.restart().ready()
                seat.left = None
        if (lost := reader.open(self.folder)) is not None:
            yield self._lost(reader, lost, race)
            return
        yield from self._gather(looks, seen, self._ask(Read()), "reopen", Read())
        yield from self._judge_looks(looks, seen, reader)
        self.world = self.world.after(Read())

    def _submit(self, place: int, operation: Operation) -> Callable[[], Reply | ReadReply]:
        host, timeout = self._all[place].host, self._all[place].timeout
        if isinstance(operation, Asked):
            return host.submit_read(operation, timeout).result
        return host.submit(operation, f"{self._tag}-{place}", timeout).result

    @staticmethod
    def _outcome(answer: Reply | ReadReply | Exception) -> Outcome:
        match answer:
            case Reply(outcome=outcome):
                return outcome
            case ReadReply(outcome=refused):
                return refused or NoChange()
        return Unknown(str(answer).splitlines()[0])

    def _seen(self, went: Interleaved[Reply | ReadReply]) -> dict[int, Rows]:
        found = {}
        for place, answer in enumerate(went.answers):
            if isinstance(answer, ReadReply) and answer.table is not None:
                rows = rows_of(answer.table, self.world.table.schema)
                if isinstance(rows, Rows):
                    found[place] = rows
        return found


def _published(went: Interleaved[Reply | ReadReply], reader: int) -> frozenset[int]:
    """Who had been let through its last gate when a reader was let through its own."""
    at = max((step for step, (place, _) in enumerate(went.timeline) if place == reader), default=0)
    return frozenset(place for place, gate in went.timeline[:at] if gate == PUBLISH)
