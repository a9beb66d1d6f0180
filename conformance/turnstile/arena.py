"""Engines behind one turnstile: each an actor in a process of its own, started when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.events import Event, Note
from conformance.hosts import Engine, Hosts, call_timeout, is_heavy
from conformance.turnstile.actor import Actor, NotSeen
from conformance.turnstile.building import TurnstileProblem
from conformance.turnstile.controller import Turnstile
from delta_adapters.registry import EngineSpec
from delta_models.operations import Operation

STEPS_HELD = (
    8  # how many steps of others, each as long as an engine may take over a call, one may stand parked
)


@dataclass(frozen=True, slots=True)
class Player:
    """An engine that runs, and the actor that it is to the turnstile."""

    engine: Engine
    actor: Actor


@dataclass(slots=True)
class Arena:
    """All engines of a worker that play with faults and schedules. Nothing is started before it is needed.

    What can't be driven here is told once, as a note, and is no evidence. `gates` are those that operations of the
    committed pairs go through alone, by engine, ways of publishing and operation.
    """

    specs: Mapping[str, EngineSpec]
    work: Path
    tell: Callable[[Event], None]
    gates: dict[tuple[str, str, Operation], int] = field(default_factory=dict)
    _turnstile: Turnstile | None = None
    _why_not: str | None = None
    _hosts: dict[str, Hosts] = field(default_factory=dict)
    _actors: dict[str, Actor] = field(default_factory=dict)
    _blind: set[str] = field(default_factory=set)

    @property
    def turnstile(self) -> Turnstile:
        """The one turnstile of this worker. Raises TurnstileProblem where none can be made."""
        if self._turnstile is None:
            longest = max(call_timeout(heavy=is_heavy(each)) for each in self.specs.values())
            self._turnstile = Turnstile(self.work / "turnstile", hold_seconds=STEPS_HELD * longest)
        return self._turnstile

    def player(self, name: str, place: str = "A") -> Player | None:
        """An engine of the run by what was asked for; `place` tells twins of one apart. None if it can't play."""
        seat = f"{name}-{place}"
        if seat in self._blind:
            return None
        try:
            if seat not in self._hosts:
                self._start(name, place, seat)
            engine = self._hosts[seat].get(str(self.specs[name]))
            if engine is None:
                return None
            actor = self._actors[seat]
            if not actor.busy:
                actor.check_seen()
        except TurnstileProblem as problem:
            self._give_up(seat, name, problem)
            return None
        return Player(engine, actor)

    def check(self, player: Player) -> None:
        """After an operation: one that changed the table unseen can't be driven, and is not given out again."""
        seat = next(each for each, actor in self._actors.items() if actor is player.actor)
        try:
            if seat not in self._blind:
                player.actor.check_seen()
        except NotSeen as problem:
            self._give_up(seat, str(player.engine.spec), problem)

    def _give_up(self, seat: str, name: str, problem: TurnstileProblem) -> None:
        self._blind.add(seat)
        kind = "" if isinstance(problem, NotSeen) else "there are no faults and no schedules: "
        self.tell(Note(f"{name}: {kind}{problem}"))

    def close(self) -> None:
        """End all engines, then the turnstile."""
        for each in self._hosts.values():
            each.__exit__(None, None, None)
        self._hosts.clear()
        if self._turnstile is not None:
            self._turnstile.close()
            self._turnstile = None

    def _start(self, name: str, place: str, seat: str) -> None:
        actor = self.turnstile.actor(f"{len(self._actors)}{place}")
        self._actors[seat] = actor
        self._hosts[seat] = Hosts(
            [self.specs[name]], self.work / f"arena-{len(self._actors)}", self.tell, actor.environment()
        )
