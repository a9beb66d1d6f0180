"""Who plays: the engines of a worker, dealt to the histories of a chunk, with where their verdicts go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from conformance.accounts import Tell
from conformance.events import Note
from conformance.hosts import Engine, Hosts
from conformance.keeper import Keeper
from conformance.plan import Chunk
from conformance.seats import Seat
from conformance.turnstile.arena import Arena


@dataclass(slots=True)
class Dealer:
    """A worker's engines, and whom to tell. `is_over` says whether nothing more is wanted."""

    hosts: Hosts
    keeper: Keeper
    tell: Tell
    is_over: Callable[[], bool]
    arena: Arena
    _told: set[str] = field(default_factory=set)

    def playing(self, chunk: Chunk, history: int) -> Iterator[Engine]:
        """The engines that take part in a history, as far as the plan goes."""
        for name, engine in self.hosts.specs.items():
            if not engine.heavy or history in chunk.heavy:
                running = self.hosts.get(name)
                if running is not None:
                    yield running

    def note(self, words: str) -> None:
        """Say something once."""
        if words not in self._told:
            self._told.add(words)
            self.tell(Note(words))


def seat_of(engine: Engine) -> Seat:
    """A seat for an engine that runs."""
    assert engine.host is not None  # noqa: S101 - only engines that run are dealt to
    return Seat(engine.name, engine.host, engine.capabilities, engine.timeout, dear=engine.heavy)
