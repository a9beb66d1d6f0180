"""The hosts on which triage plays: its own, started when they are first needed, or the warm ones of a worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from conformance.engine_pool import Engine, EnginePool
from conformance.events.types import EngineUnavailable, Event, Note
from conformance.fault_injection.instrumented_engines import InstrumentedEngine, InstrumentedEngines
from conformance.suites.context import SuiteContext
from delta_adapters.environments import EnvironmentProblem
from delta_adapters.registry import EngineSpec, UnknownEngine, parse_engine, prepare

PLACES = "ABCDEFGH"  # twins of one engine at one table

Found = TypeVar("Found")


class CannotRun(Exception):
    """An engine of the history can't run here."""


class Hosts(Protocol):
    """Where the engines of a table come from. Both methods raise CannotRun."""

    def engine(self, spec: str) -> Engine:
        """A running engine."""

    def instrumented(self, specs: Sequence[str]) -> tuple[list[InstrumentedEngine], InstrumentedEngines]:
        """Running engines behind one turnstile, an instance for each of these."""

    def close(self) -> None:
        """End what was started here."""


class OwnHosts:
    """Hosts of our own, each started when it is first needed. Engines behind the turnstile have other ones."""

    def __init__(self, work: Path, specs: Iterable[EngineSpec] = ()) -> None:
        self._work = work
        self._specs = {str(spec): spec for spec in specs}
        self._prepared: dict[str, EngineSpec] = {}
        self._pools: dict[str, EnginePool] = {}
        self._arenas: dict[frozenset[str], InstrumentedEngines] = {}
        self._reasons: list[str] = []

    def engine(self, spec: str) -> Engine:
        """A running engine. Raises CannotRun."""
        known = self._prepare(spec)
        if spec not in self._pools:
            folder = self._work / f"host-{len(self._pools)}"
            self._pools[spec] = EnginePool([known], folder, self._note)
        return self._running(spec, self._pools[spec].get(str(known)))

    def instrumented(self, specs: Sequence[str]) -> tuple[list[InstrumentedEngine], InstrumentedEngines]:
        """Running engines behind one turnstile. Raises CannotRun."""
        prepared = [self._prepare(spec) for spec in specs]
        names = frozenset(map(str, prepared))
        if names not in self._arenas:
            self._arenas[names] = InstrumentedEngines(
                {str(spec): spec for spec in prepared}, self._work / f"arenas-{len(self._arenas)}", self._note
            )
        arena = self._arenas[names]
        return [
            self._running(name, arena.get(name, place)) for name, place in placed(list(map(str, prepared)))
        ], arena

    def close(self) -> None:
        """End all hosts and turnstiles."""
        for pool in self._pools.values():
            pool.close()
        for arena in self._arenas.values():
            arena.close()
        self._pools.clear()
        self._arenas.clear()

    def _prepare(self, text: str) -> EngineSpec:
        if text not in self._prepared:
            try:
                spec = self._specs.get(text) or parse_engine(text)
                availability = prepare(spec)
            except (UnknownEngine, EnvironmentProblem) as error:
                raise CannotRun(str(error)) from error
            if not availability:
                raise CannotRun(f"{spec}: {availability.why}. {availability.cure}")
            self._prepared[text] = spec
        return self._prepared[text]

    def _note(self, event: Event) -> None:
        if isinstance(event, EngineUnavailable):
            self._reasons.append(f"{event.engine} does not start: {event.why}")
        elif isinstance(event, Note):
            self._reasons.append(event.message)

    def _running(self, spec: str, found: Found | None) -> Found:
        if found is None:
            raise CannotRun(self._reasons[-1] if self._reasons else f"{spec} can't run here")
        return found


class WorkerHosts:
    """The hosts of a worker, which has started them, and ends them."""

    def __init__(self, context: SuiteContext) -> None:
        self._context = context

    def engine(self, spec: str) -> Engine:
        """A running engine. Raises CannotRun."""
        if spec not in self._context.engine_pool.engines:
            raise CannotRun(f"{spec} takes no part in this run")
        engine = self._context.engine_pool.get(spec)
        if engine is None:
            raise CannotRun(f"{spec} does not start")
        return engine

    def instrumented(self, specs: Sequence[str]) -> tuple[list[InstrumentedEngine], InstrumentedEngines]:
        """Running engines behind the worker's turnstile. Raises CannotRun."""
        arena = self._context.instrumented_engines
        players = []
        for name, place in placed(specs):
            player = arena.get(name, place) if name in arena.specs else None
            if player is None:
                raise CannotRun(f"{name} can't be driven by the turnstile of this run")
            players.append(player)
        return players, arena

    def close(self) -> None:
        """End nothing: the worker does."""


def placed(specs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each engine with its place: twins of one engine have different places."""
    for number, spec in enumerate(specs):
        yield spec, PLACES[specs[:number].count(spec)]
