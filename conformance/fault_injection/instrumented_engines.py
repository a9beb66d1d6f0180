"""Engines behind one turnstile: each an actor in a process of its own, started when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.engine_pool import Engine, EnginePool, call_timeout, runs_on_jvm
from conformance.events.types import Event, Note
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.instrumented_process import InstrumentedProcess, NotInstrumented
from conformance.fault_injection.shim_build import TurnstileProblem
from delta_adapters.registry import EngineSpec
from delta_models.operations import Operation

STEPS_PAUSED = (
    8  # how many steps of others, each as long as an engine may take over a call, one may stand parked
)


@dataclass(frozen=True, slots=True)
class InstrumentedEngine:
    """An engine that runs, and the actor that it is to the turnstile."""

    engine: Engine
    instrumented_process: InstrumentedProcess


@dataclass(slots=True)
class InstrumentedEngines:
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
    _hosts: dict[str, EnginePool] = field(default_factory=dict)
    _actors: dict[str, InstrumentedProcess] = field(default_factory=dict)
    _blind: set[str] = field(default_factory=set)

    @property
    def turnstile(self) -> Turnstile:
        """The one turnstile of this worker. Raises TurnstileProblem where none can be made."""
        if self._turnstile is None:
            longest = max(call_timeout(on_jvm=runs_on_jvm(spec)) for spec in self.specs.values())
            self._turnstile = Turnstile(self.work / "turnstile", hold_seconds=STEPS_PAUSED * longest)
        return self._turnstile

    def get(self, name: str, place: str = "A") -> InstrumentedEngine | None:
        """An engine of the run by what was asked for; `place` tells twins of one apart. None if it can't play."""
        engine_session = f"{name}-{place}"
        if engine_session in self._blind:
            return None
        try:
            if engine_session not in self._hosts:
                self._start(name, place, engine_session)
            engine = self._hosts[engine_session].get(str(self.specs[name]))
            if engine is None:
                return None
            instrumented_process = self._actors[engine_session]
            if not instrumented_process.busy:
                instrumented_process.check_instrumented()
        except TurnstileProblem as problem:
            self._give_up(engine_session, name, problem)
            return None
        return InstrumentedEngine(engine, instrumented_process)

    def check(self, player: InstrumentedEngine) -> None:
        """After an operation: one that changed the table unseen can't be driven, and is not given out again."""
        engine_session = next(
            each
            for each, instrumented_process in self._actors.items()
            if instrumented_process is player.instrumented_process
        )
        try:
            if engine_session not in self._blind:
                player.instrumented_process.check_instrumented()
        except NotInstrumented as problem:
            self._give_up(engine_session, str(player.engine.spec), problem)

    def _give_up(self, engine_session: str, name: str, problem: TurnstileProblem) -> None:
        self._blind.add(engine_session)
        kind = "" if isinstance(problem, NotInstrumented) else "there are no faults and no schedules: "
        self.tell(Note(f"{name}: {kind}{problem}"))

    def close(self) -> None:
        """End all engines, then the turnstile."""
        for host in self._hosts.values():
            host.__exit__(None, None, None)
        self._hosts.clear()
        if self._turnstile is not None:
            self._turnstile.close()
            self._turnstile = None

    def _start(self, name: str, place: str, engine_session: str) -> None:
        instrumented_process = self.turnstile.add_process(f"{len(self._actors)}{place}")
        self._actors[engine_session] = instrumented_process
        self._hosts[engine_session] = EnginePool(
            [self.specs[name]],
            self.work / f"arena-{len(self._actors)}",
            self.tell,
            instrumented_process.environment(),
        )
