"""Hosts for a replayer whose engines answer in this process: no process is started, so a play takes milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.engine_pool import Engine
from conformance.execution.step_result import StepResult
from conformance.findings.fingerprint import key_of
from conformance.findings.storage import Finding
from conformance.histories import History, Step
from conformance.triage.hosts import CannotRun
from conformance.triage.replayer import Replayer, Setup
from delta_adapters.capabilities import Capabilities
from delta_adapters.contract import Adapter
from delta_adapters.reference import Reference
from delta_adapters.registry import parse_engine
from delta_models.operations import Operation
from delta_models.requirements import BY_ID, Violation
from tests.mutants.stage import InProcess

NAME = "reference@1.0"


class LastingHost(InProcess):
    """A host client of an adapter in this process, with what a replayer asks of one."""

    alive, busy = True, False

    def __init__(self, adapter: Adapter) -> None:
        super().__init__(adapter)
        self.spec = parse_engine("reference")
        self.identity = NAME
        self.capabilities = Capabilities.validated(adapter.capabilities, NAME)

    def stderr_tail(self) -> str:
        return ""


class InProcessHosts:
    """Engines of this process, by the text that a setup gives them."""

    def __init__(self, adapters: Mapping[str, Callable[[], Any]]) -> None:
        self.engines: dict[str, Engine] = {}
        for name, make in adapters.items():
            host: Any = LastingHost(make())
            host.identity = name
            self.engines[name] = Engine(parse_engine("reference"), False, host, ready=True)

    def engine(self, spec: str) -> Engine:
        try:
            return self.engines[spec]
        except KeyError as error:
            raise CannotRun(f"there is no {spec}") from error

    def instrumented(self, specs: Sequence[str]) -> Any:
        raise CannotRun("there is no turnstile in this process")

    def close(self) -> None:
        """Nothing was started."""


def replayer_of(mutant: Callable[[], Reference], *more: Callable[[], Reference]) -> Replayer:
    """A replayer whose engines are these: the first is `reference@1.0`, further ones `other-1@1.0` and so on."""
    names = [NAME, *(f"other-{number}@1.0" for number in range(1, 1 + len(more)))]
    return Replayer(hosts=InProcessHosts(dict(zip(names, (mutant, *more), strict=True))))


def history_of(*operations: Operation | Step, suite: str = "lockstep", seed: int = 1) -> History:
    """A history of these operations."""
    steps = (operation if isinstance(operation, Step) else Step(operation) for operation in operations)
    return History(suite, "dev", 3, seed, tuple(steps))


def find(replayer: Replayer, history: History, requirement: str, engines: Sequence[str] = (NAME,)) -> Finding:
    """The finding of a requirement that a history violates."""
    setup = Setup(history.suite, tuple(engines), {engine: engine for engine in engines})

    def wanted(_: StepResult, violation: Violation) -> bool:
        return violation.requirement == requirement

    playthrough = replayer.play(history, setup, until=wanted)
    step_result, violation = next(
        (result, violation)
        for result in playthrough.results
        for violation in result.violations
        if violation.requirement == requirement
    )
    return finding_of(history, step_result, violation, engines)


def finding_of(
    history: History, step_result: StepResult, violation: Violation, engines: Sequence[str]
) -> Finding:
    """The finding of a violation, as a run records it."""
    observation, rule = step_result.observation, BY_ID[violation.requirement]
    slots = {slot: engines[number % len(engines)] for number, slot in enumerate("ABC")}
    return Finding(
        key=key_of(observation, violation),
        strength=rule.strength,
        engine=observation.engine,
        role=rule.role,
        step=observation.step,
        action=type(observation.operation).__name__,
        detail=violation.detail,
        history=history,
        where=violation.where,
        slots=slots if len(engines) > 1 else {},
        versions={"harness": "0", **{engine: engine for engine in engines}},
        look=violation.read,
    )
