"""Replay the history of a finding on the engines of its run, and decide whether it still fails."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from conformance.engine_pool import call_timeout, runs_on_jvm
from conformance.execution.engine_session import EngineSession
from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.instrumented_engines import STEPS_PAUSED
from conformance.fault_injection.instrumented_process import InstrumentedProcess
from conformance.fault_injection.shim_build import TurnstileProblem
from conformance.findings.candidates import candidate_causes
from conformance.findings.fingerprint import key_of
from conformance.findings.storage import Finding, FindingError, NotAFinding, load_finding
from conformance.generation import SLOTS
from conformance.histories import History
from conformance.suites.crashes.session import CrashTableSession
from conformance.suites.races.session import RaceTableSession
from delta_adapters.deviations import all_causes
from delta_adapters.engine_id import EngineId
from delta_adapters.environments import EnvironmentProblem
from delta_adapters.host_client import HostClient
from delta_adapters.host_errors import HostError
from delta_adapters.registry import EngineSpec, UnknownEngine, parse_engine, prepare
from delta_models.operations import Interleave

FIXED, FAILS, COULD_NOT_RUN = 0, 1, 3
CRASHES, RACES = "crashes", "races"
OVERLAP = "overlap="


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of a replay: the exit code, and a text for people."""

    exit: int
    text: str


class CannotRun(Exception):
    """An engine of the history can't run here."""


def replay(path: Path) -> ReplayResult:
    """Play a finding's history again. Raises NotAFinding if the path is not the folder of a finding."""
    try:
        finding = load_finding(path)
    except NotAFinding:
        raise
    except FindingError as error:
        return ReplayResult(COULD_NOT_RUN, f"could not run: {error}")
    name = f"{finding.fingerprint} ({finding.engine}, {finding.key.requirement})"
    try:
        specs = [_spec(engine, finding) for engine in _engines(finding)]
        return _result(name, finding, *_play(finding, specs))
    except (CannotRun, EnvironmentProblem) as error:
        return ReplayResult(COULD_NOT_RUN, f"{name} could not run: {error}")


def _engines(finding: Finding) -> tuple[str, ...]:
    """The engines at the table, in the order of its slots."""
    bound = [finding.slots[slot] for slot in SLOTS if slot in finding.slots]
    if finding.suite == RACES:
        return tuple(bound[: _writers(finding.history)])  # twins are two
    seated = [engine for engine in finding.versions if EngineId.parse(engine).version]
    return tuple(dict.fromkeys((*bound, *seated, finding.engine)))


def _writers(history: History) -> int:
    """How many writers take part in its races."""
    races = (step.operation for step in history.steps if isinstance(step.operation, Interleave))
    return 1 + max((owner for race in races for owner in race.owners), default=1)


def _spec(engine: str, finding: Finding) -> EngineSpec:
    try:
        spec = parse_engine(finding.versions.get(engine, engine))
    except UnknownEngine as error:
        raise CannotRun(str(error)) from error
    availability = prepare(spec)
    if not availability:
        raise CannotRun(f"{spec}: {availability.why}. {availability.cure}")
    return spec


def _play(finding: Finding, specs: Sequence[EngineSpec]) -> tuple[list[StepResult], int]:
    """The results of the steps until the finding's engine violated a requirement, and the number of steps."""
    with tempfile.TemporaryDirectory(prefix="conformance-replay-") as work:
        hosts: list[HostClient] = []
        with ExitStack() as stack:
            stack.callback(lambda: [host.kill() for host in hosts])
            turnstile = _turnstile(finding, specs, Path(work), stack)
            instrumented_processes = (
                [turnstile.add_process(str(number)) for number in range(len(specs))] if turnstile else []
            )
            for number, spec in enumerate(specs):
                environment = instrumented_processes[number].environment() if instrumented_processes else None
                hosts.append(HostClient.start(spec, Path(work) / f"host-{number}", environment=environment))
            engine_sessions = [_engine_session(host, spec) for host, spec in zip(hosts, specs, strict=True)]
            return _until_it_fails(
                finding,
                _table_session(
                    finding, Path(work) / "table", engine_sessions, instrumented_processes, turnstile
                ),
            )


def _table_session(
    finding: Finding,
    folder: Path,
    engine_sessions: list[EngineSession],
    instrumented_processes: list[InstrumentedProcess],
    turnstile: Turnstile | None,
) -> TableSession:
    tag = f"replay-{finding.fingerprint}"
    if turnstile is None:
        return TableSession(folder, engine_sessions, finding.history.seed, tag)
    if finding.suite == RACES:
        overlaps = (
            option.removeprefix(OVERLAP) for option in finding.key.options if option.startswith(OVERLAP)
        )
        return RaceTableSession(
            folder,
            engine_sessions,
            instrumented_processes,
            turnstile,
            tag,
            processes=finding.processes,
            overlap=next(overlaps, "table"),
        )
    return CrashTableSession(folder, engine_sessions, instrumented_processes[0], finding.history.seed, tag)


def _turnstile(
    finding: Finding, specs: Sequence[EngineSpec], work: Path, stack: ExitStack
) -> Turnstile | None:
    """The turnstile of a history with faults or races; None for any other history."""
    if finding.suite not in {CRASHES, RACES}:
        return None
    try:
        longest = max(call_timeout(on_jvm=runs_on_jvm(spec)) for spec in specs)
        return stack.enter_context(Turnstile(work / "turnstile", hold_seconds=STEPS_PAUSED * longest))
    except TurnstileProblem as problem:
        raise CannotRun(str(problem)) from problem


def _engine_session(host: HostClient, spec: EngineSpec) -> EngineSession:
    try:
        identity = str(host.identity)
    except HostError as error:
        raise CannotRun(f"{spec} does not start: {error}") from error
    heavy = runs_on_jvm(spec)
    return EngineSession(identity, host, host.capabilities, call_timeout(on_jvm=heavy), runs_on_jvm=heavy)


def _until_it_fails(finding: Finding, table_session: TableSession) -> tuple[list[StepResult], int]:
    result = table_session.open_all()
    played = 0
    for step in finding.history.steps:
        if not table_session.plays or any(
            fingerprint == finding.fingerprint for _, fingerprint in _violations(finding, result)
        ):
            break
        result += table_session.execute(step)
        played += 1
    return result, played


def _violations(finding: Finding, result: Sequence[StepResult]) -> Iterator[tuple[StepResult, str]]:
    """The violations by the finding's engine, in any version, with their fingerprints.

    Violations that another cause may explain are left out.
    """
    for step_result in result:
        for violation in step_result.violations:
            if EngineId.parse(step_result.observation.engine).name != finding.key.engine:
                continue
            key = key_of(step_result.observation, violation)
            if key.fingerprint == finding.fingerprint or not candidate_causes(
                step_result.observation, violation, finding.history, all_causes()
            ):
                yield step_result, key.fingerprint


def _result(name: str, finding: Finding, result: list[StepResult], played: int) -> ReplayResult:
    broken = list(_violations(finding, result))
    failures = [
        why
        for step_result in result
        if step_result.observation.race is not None
        for why in step_result.observation.race.failures
    ]
    if not broken and failures:
        return ReplayResult(
            COULD_NOT_RUN, f"{name} could not run: its schedule could not be followed: {failures[0]}"
        )
    if not broken:
        if played < len(finding.history.steps):
            return ReplayResult(
                COULD_NOT_RUN, f"{name} could not run to its end: the engine left after {played} steps"
            )
        return ReplayResult(FIXED, f"{name} is fixed: its {played} steps hold")
    same = [step_result for step_result, fingerprint in broken if fingerprint == finding.fingerprint]
    first = (same or [step_result for step_result, _ in broken])[0]
    details = "; ".join(f"{violation.requirement}: {violation.detail}" for violation in first.violations)
    how = "still fails" if same else "fails in another way"
    return ReplayResult(FAILS, f"{name} {how} at step {first.observation.step}: {details}")
