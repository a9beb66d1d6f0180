"""The engine pool: the engines of one process, each in a host of its own.

The pool starts and checks a host once, reuses it from history to history, and restarts it when it is lost.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from conformance.events.types import EngineReady, EngineUnavailable, Event
from delta_adapters.capabilities import Capabilities
from delta_adapters.environments import EnvironmentProblem
from delta_adapters.host_client import HostClient
from delta_adapters.host_errors import HostError
from delta_adapters.registry import KNOWN, EngineSpec, prepare

LIGHT_TIMEOUT = 60.0
HEAVY_TIMEOUT = 180.0
TIMEOUT = "CONFORMANCE_CALL_TIMEOUT"


@dataclass(slots=True)
class Engine:
    """One engine of the run. `host` is None if the engine can't run here. A `heavy` engine runs on a JVM."""

    spec: EngineSpec
    heavy: bool
    host: HostClient | None = None
    ready: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def name(self) -> str:
        """The engine's identity as soon as it runs; before that its spec."""
        return str(self.host.identity) if self.host is not None and self.ready else str(self.spec)

    @property
    def capabilities(self) -> Capabilities:
        """What the engine claims."""
        assert self.host is not None  # noqa: S101 - the pool hands out engines that run
        return self.host.capabilities

    @property
    def timeout(self) -> float:
        """Seconds that the engine may take over one call."""
        return call_timeout(heavy=self.heavy)


class EnginePool:
    """All engines of one process."""

    def __init__(
        self,
        specs: Sequence[EngineSpec],
        work: Path,
        emit: Callable[[Event], None],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._environment = environment
        self._work = work
        self._emit = emit
        self._engines = {str(spec): Engine(spec, is_heavy(spec)) for spec in specs}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for engine in self._engines.values():
            if engine.host is not None:
                engine.host.kill() if kind else engine.host.close()

    @property
    def specs(self) -> Mapping[str, Engine]:
        """All engines by their spec, whether they can run or not."""
        return self._engines

    def begin(self, *, heavy: bool) -> None:
        """Start the hosts of heavy or of all other engines, without waiting for them."""
        for engine in self._engines.values():
            if engine.heavy is heavy and engine.host is None and not engine.ready:
                self._start(engine)

    def get(self, name: str) -> Engine | None:
        """The engine, running; None if it can't run, which the pool reports once."""
        engine = self._engines[name]
        if not engine.ready:
            if engine.host is None:
                self._start(engine)
            self._await(engine)
        elif engine.host is not None and not engine.host.alive:
            self._restart(engine)
        return engine if engine.host is not None else None

    def _start(self, engine: Engine) -> None:
        engine.began = time.monotonic()
        folder = self._work / re.sub(r"[^\w.@-]+", "_", str(engine.spec))[-60:]
        try:
            engine.host = HostClient.start(engine.spec, folder, environment=self._environment)
        except (EnvironmentProblem, HostError, OSError) as error:
            self._give_up(engine, str(error))

    def _await(self, engine: Engine) -> None:
        if engine.host is None:
            return
        try:
            identity = engine.host.identity
        except HostError as error:
            self._give_up(engine, str(error))
            return
        engine.ready = True
        self._emit(
            EngineReady(
                str(identity), identity.homepage, identity.issue_tracker, identity.compatible_with,
                round(time.monotonic() - engine.began, 3),
            )
        )  # fmt: skip

    def _restart(self, engine: Engine) -> None:
        assert engine.host is not None  # noqa: S101 - the caller checked
        try:
            engine.host.restart().ready()
        except HostError as error:
            self._give_up(engine, f"it does not start again: {error}")

    def _give_up(self, engine: Engine, why: str) -> None:
        name = engine.name
        if engine.host is not None:
            engine.host.kill()
        engine.host, engine.ready = None, True
        cure = "`conformance doctor` says what is missing on this machine."
        self._emit(EngineUnavailable(name, why, cure))


def available_engines(specs: Sequence[EngineSpec], emit: Callable[[Event], None]) -> list[EngineSpec]:
    """The engines that can run on this machine; emits an event for each that can't."""
    available = []
    for spec in specs:
        availability = prepare(spec)
        if availability:
            available.append(spec)
        else:
            emit(EngineUnavailable(str(spec), availability.why, availability.cure))
    return available


def call_timeout(*, heavy: bool) -> float:
    """Seconds that an engine may take over one call. `CONFORMANCE_CALL_TIMEOUT` overrides it on a slow machine."""
    override = os.environ.get(TIMEOUT)
    if override:
        return float(override)
    return HEAVY_TIMEOUT if heavy else LIGHT_TIMEOUT


def is_heavy(spec: EngineSpec) -> bool:
    """Whether an engine runs on a JVM, so that its steps are slow."""
    known = KNOWN.get(spec.name)
    return known is not None and known.java


def clear(folder: Path) -> None:
    """Delete a folder with its content; nothing happens if it does not exist."""
    shutil.rmtree(folder, ignore_errors=True)
