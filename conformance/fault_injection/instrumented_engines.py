"""The engines of a worker that run behind one turnstile, each in a process of its own, started when first needed."""

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

# For how many steps of other writers a call may stay paused; each may take as long as an engine has for one call.
STEPS_PAUSED = 8


@dataclass(frozen=True, slots=True)
class InstrumentedEngine:
    """An engine that runs, and its process behind the turnstile."""

    engine: Engine
    instrumented_process: InstrumentedProcess


@dataclass(slots=True)
class _Slot:
    """One instance of an engine: twins of an engine have a slot each."""

    spec: EngineSpec
    instrumented_process: InstrumentedProcess
    pool: EnginePool


@dataclass(slots=True)
class InstrumentedEngines:
    """All engines of a worker that play with faults and schedules. None is started before it is needed.

    If an engine can't be driven here, a note says so once, and the engine is no evidence. `gates` are those that
    operations of the committed pairs go through alone, by engine, ways of publishing and operation.
    """

    specs: Mapping[str, EngineSpec]
    work: Path
    emit: Callable[[Event], None]
    gates: dict[tuple[str, str, Operation], int] = field(default_factory=dict)
    _turnstile: Turnstile | None = None
    _slots: dict[str, _Slot] = field(default_factory=dict)
    _excluded: set[str] = field(default_factory=set)

    @property
    def turnstile(self) -> Turnstile:
        """The one turnstile of this worker. Raises TurnstileProblem if this machine can have none."""
        if self._turnstile is None:
            longest = max(call_timeout(on_jvm=runs_on_jvm(spec)) for spec in self.specs.values())
            self._turnstile = Turnstile(self.work / "turnstile", hold_seconds=STEPS_PAUSED * longest)
        return self._turnstile

    def get(self, name: str, place: str = "A") -> InstrumentedEngine | None:
        """Return an engine of the run by the name that the user gave it, or None if it can't be driven.

        `place` tells several instances of one engine apart.
        """
        slot_name = f"{name}-{place}"
        if slot_name in self._excluded:
            return None
        try:
            if slot_name not in self._slots:
                self._slots[slot_name] = self._new_slot(name, place)
            slot = self._slots[slot_name]
            engine = slot.pool.get(str(slot.spec))
            if engine is None:
                return None
            if not slot.instrumented_process.busy:
                slot.instrumented_process.check_instrumented()
        except TurnstileProblem as problem:
            self._exclude(slot_name, name, problem)
            return None
        return InstrumentedEngine(engine, slot.instrumented_process)

    def check(self, engine: InstrumentedEngine) -> None:
        """Exclude an engine whose last operation changed the table while the turnstile saw nothing."""
        slot_name = next(
            name
            for name, slot in self._slots.items()
            if slot.instrumented_process is engine.instrumented_process
        )
        try:
            if slot_name not in self._excluded:
                engine.instrumented_process.check_instrumented()
        except NotInstrumented as problem:
            self._exclude(slot_name, str(engine.engine.spec), problem)

    def close(self) -> None:
        """End all engines, then the turnstile."""
        for slot in self._slots.values():
            slot.pool.close()
        self._slots.clear()
        if self._turnstile is not None:
            self._turnstile.close()
            self._turnstile = None

    def _exclude(self, slot_name: str, engine: str, problem: TurnstileProblem) -> None:
        self._excluded.add(slot_name)
        kind = "" if isinstance(problem, NotInstrumented) else "there are no faults and no schedules: "
        self.emit(Note(f"{engine}: {kind}{problem}"))

    def _new_slot(self, name: str, place: str) -> _Slot:
        number = len(self._slots)
        instrumented_process = self.turnstile.add_process(f"{number}{place}")
        pool = EnginePool(
            [self.specs[name]],
            self.work / f"arena-{number + 1}",
            self.emit,
            instrumented_process.environment(),
        )
        return _Slot(self.specs[name], instrumented_process, pool)
