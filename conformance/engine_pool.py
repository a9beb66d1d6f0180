"""The engines of one worker, a host process each: started once, checked once, restarted when lost.

The hosts are reused from history to history.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from conformance.events.types import EngineReady, EngineUnavailable, Event
from delta_adapters.capabilities import Capabilities
from delta_adapters.environments import EnvironmentProblem
from delta_adapters.host_errors import AdapterBug, HostError
from delta_adapters.registry import KNOWN, EngineSpec, prepare
from delta_adapters.smoke import TABLE, TIMEOUT_VARIABLE, SmokeFailure, smoke

if TYPE_CHECKING:
    from delta_adapters.host_client import HostClient

NATIVE_TIMEOUT = 60.0
JVM_TIMEOUT = 180.0
MOST_DEATHS_IN_A_ROW = 3  # restarts after which an engine has performed nothing; then it is given up
MOST_DEATHS = 40  # restarts in all, in one worker


@dataclass(slots=True)
class Engine:
    """An engine of the run. `host` is None if it can't run on this machine."""

    spec: EngineSpec
    runs_on_jvm: bool
    host: HostClient | None = None
    ready: bool = False  # it has been checked, or given up
    began: float = field(default_factory=time.monotonic)
    deaths: int = 0
    deaths_in_a_row: int = 0

    @property
    def name(self) -> str:
        """Its identity as soon as it runs, before that the name that the user gave it."""
        return str(self.host.identity) if self.host is not None and self.ready else str(self.spec)

    @property
    def capabilities(self) -> Capabilities:
        """What the engine claims to do."""
        assert self.host is not None  # noqa: S101 - only engines that run are asked
        return self.host.capabilities

    @property
    def timeout(self) -> float:
        """How many seconds it may take for one call."""
        return call_timeout(on_jvm=self.runs_on_jvm)


class EnginePool:
    """The host processes of all engines of one worker.

    If `smoke_test` is set, an engine that fails the smoke test is one that can't run.
    """

    def __init__(
        self,
        specs: Sequence[EngineSpec],
        work: Path,
        emit: Callable[[Event], None],
        environment: Mapping[str, str] | None = None,
        *,
        smoke_test: bool = False,
    ) -> None:
        self._environment = environment
        self._smoke_test = smoke_test
        self._work = work
        self._emit = emit
        self._engines = {str(spec): Engine(spec, runs_on_jvm(spec)) for spec in specs}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            for host in self._hosts():
                host.kill()

    def close(self) -> None:
        """End all hosts."""
        for host in self._hosts():
            host.close()

    @property
    def engines(self) -> Mapping[str, Engine]:
        """All engines by the names that the user gave them, whether they can run or not."""
        return self._engines

    def start(self, *, on_jvm: bool) -> None:
        """Start the hosts that run on a JVM, or those that do not, without waiting for them."""
        for engine in self._engines.values():
            if engine.runs_on_jvm is on_jvm and engine.host is None and not engine.ready:
                self._start(engine)

    def get(self, name: str) -> Engine | None:
        """Return an engine that runs, or None if it can't. Then an event has said so once.

        Raises KeyError if the run has no engine of this name.
        """
        engine = self._engines[name]
        if not engine.ready:
            if engine.host is None:
                self._start(engine)
            self._await(engine)
        elif engine.host is not None and not engine.host.alive:
            self._restart(engine)
        return engine if engine.host is not None else None

    def _hosts(self) -> list[HostClient]:
        return [engine.host for engine in self._engines.values() if engine.host is not None]

    def _start(self, engine: Engine) -> None:
        from delta_adapters.host_client import HostClient  # noqa: PLC0415 - loads pyarrow; a coordinator starts none

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
            if self._smoke_test:
                self._smoke(engine.host)
        except (HostError, SmokeFailure) as error:
            self._give_up(engine, _why(error), broken=True)
            return
        engine.ready = True
        self._emit(
            EngineReady(
                str(identity), identity.homepage, identity.issue_tracker, identity.compatible_with,
                round(time.monotonic() - engine.began, 3), str(engine.spec),
            )
        )  # fmt: skip

    def _smoke(self, host: HostClient) -> None:
        folder = self._work / "smoke" / host.work.name
        folder.mkdir(parents=True, exist_ok=True)
        try:
            smoke(host, folder / TABLE)
        finally:
            clear(folder)

    def _restart(self, engine: Engine) -> None:
        assert engine.host is not None  # noqa: S101 - the caller checked
        engine.deaths += 1
        engine.deaths_in_a_row = 1 if engine.host.answered else engine.deaths_in_a_row + 1
        if engine.deaths_in_a_row >= MOST_DEATHS_IN_A_ROW or engine.deaths >= MOST_DEATHS:
            often = f"its host ended {engine.deaths} times"
            if engine.deaths_in_a_row >= MOST_DEATHS_IN_A_ROW:
                often += f", the last {engine.deaths_in_a_row} times before it performed anything"
            self._give_up(engine, f"{often}; the last time it {engine.host.last_end}")
            return
        try:
            engine.host.restart().ready()
        except HostError as error:
            self._give_up(engine, f"it does not start again: {_why(error)}")

    def _give_up(self, engine: Engine, why: str, *, broken: bool = False) -> None:
        name = engine.name
        if engine.host is not None:
            engine.host.kill()
        engine.host, engine.ready = None, True
        cure = "`conformance doctor --smoke` starts each engine, and says what is missing on this machine."
        if broken:
            cure = f"`python -m delta_adapters.smoke {shlex.quote(str(engine.spec))}` repeats the test alone."
        self._emit(EngineUnavailable(name, why, cure, broken=broken))


def _why(error: HostError | SmokeFailure) -> str:
    """What is wrong with an engine that does not start, or that fails the smoke test."""
    match error:
        case AdapterBug():
            return f"asked to {error.last_operation}, its adapter raises {error.type}: {error.message}"
        case HostError():
            said = " ".join(error.stderr_tail.split()[-40:])
            tail = f". Its stderr ends with: {said}" if said else ", and its stderr is empty"
            return f"asked to {error.last_operation}, its host {error.what}{tail}"
    return str(error)


def available_engines(
    specs: Sequence[EngineSpec], emit: Callable[[Event], None], *, asked: bool = False
) -> list[EngineSpec]:
    """Return the engines that can run on this machine; emit an event for each that can't.

    `asked` says that the user named these engines. Then none is returned if one of them can't run.
    """
    available = []
    for spec in specs:
        availability = prepare(spec)
        if availability:
            available.append(spec)
        else:
            broken = availability.broken
            emit(EngineUnavailable(str(spec), availability.why, availability.cure, asked, broken))
    return available if len(available) == len(specs) or not asked else []


def call_timeout(*, on_jvm: bool) -> float:
    """Return how many seconds an engine may take for one call.

    On a very slow machine, `CONFORMANCE_CALL_TIMEOUT` in the environment replaces it.
    """
    configured = os.environ.get(TIMEOUT_VARIABLE)
    if configured:
        return float(configured)
    return JVM_TIMEOUT if on_jvm else NATIVE_TIMEOUT


def runs_on_jvm(spec: EngineSpec) -> bool:
    """Whether an engine's steps are expensive: it runs on Spark's JVM, or it has said that they take long."""
    known = KNOWN.get(spec.name)
    return spec.heavy or (known is not None and known.java)


def clear(folder: Path) -> None:
    """Remove a folder with all that is in it, if it exists."""
    shutil.rmtree(folder, ignore_errors=True)
