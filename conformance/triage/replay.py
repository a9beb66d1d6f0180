"""Plays the history of a finding again, on the engines that it was found on, and says whether it still fails."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from conformance.engine_pool import call_timeout, is_heavy
from conformance.execution.engine_session import EngineSession
from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.instrumented_engines import STEPS_HELD
from conformance.fault_injection.instrumented_process import InstrumentedProcess
from conformance.fault_injection.shim_build import TurnstileProblem
from conformance.findings.fingerprint import engine_name, key_of
from conformance.findings.known_deviations import known_deviation
from conformance.findings.storage import Finding, FindingError, NotAFinding, load_finding
from conformance.generation import SLOTS
from conformance.histories import History
from conformance.suites.crashes.session import CrashTableSession
from conformance.suites.races.session import RaceTableSession
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
    """How a replay went: the exit code, and what to tell a person."""

    exit: int
    text: str


class CannotRun(Exception):
    """An engine of the history can't be had here."""


def replay(path: Path) -> ReplayResult:
    """Play a finding's history again. Raises NotAFinding for a path that is none."""
    try:
        finding = load_finding(path)
    except NotAFinding:
        raise
    except FindingError as error:
        return ReplayResult(COULD_NOT_RUN, f"could not run: {error}")
    name = f"{finding.fingerprint} ({finding.engine}, {finding.key.requirement})"
    try:
        specs = [_spec(engine, finding) for engine in _engines(finding)]
        return _told(name, finding, *_play(finding, specs))
    except (CannotRun, EnvironmentProblem) as error:
        return ReplayResult(COULD_NOT_RUN, f"{name} could not run: {error}")


def _engines(finding: Finding) -> tuple[str, ...]:
    """The engines at the table, in the order of its slots."""
    bound = [finding.slots[slot] for slot in SLOTS if slot in finding.slots]
    if finding.suite == RACES:
        return tuple(bound[: _writers(finding.history)])  # twins are two
    seated = [version for version in finding.versions if "@" in version]
    return tuple(dict.fromkeys((*bound, *seated, finding.engine)))


def _writers(history: History) -> int:
    """How many take part in its races."""
    races = (step.operation for step in history.steps if isinstance(step.operation, Interleave))
    return 1 + max((owner for race in races for owner in race.owners), default=1)


def _spec(engine: str, finding: Finding) -> EngineSpec:
    try:
        spec = parse_engine(finding.versions.get(engine, engine))
    except UnknownEngine as error:
        raise CannotRun(str(error)) from error
    found = prepare(spec)
    if not found:
        raise CannotRun(f"{spec}: {found.why}. {found.cure}")
    return spec


def _play(finding: Finding, specs: Sequence[EngineSpec]) -> tuple[list[StepResult], int]:
    """What was judged until the finding's engine broke a rule, and how many steps were played."""
    with tempfile.TemporaryDirectory(prefix="conformance-replay-") as work:
        hosts: list[HostClient] = []
        with ExitStack() as stack:
            stack.callback(lambda: [host.kill() for host in hosts])
            turnstile = _turnstile(finding, specs, Path(work), stack)
            instrumented_processes = (
                [turnstile.instrumented_process(str(number)) for number in range(len(specs))]
                if turnstile
                else []
            )
            for number, spec in enumerate(specs):
                environment = instrumented_processes[number].environment() if instrumented_processes else None
                hosts.append(HostClient.start(spec, Path(work) / f"host-{number}", environment=environment))
            engine_sessions = [_seat(host, spec) for host, spec in zip(hosts, specs, strict=True)]
            return _until_it_fails(
                finding,
                _desk(finding, Path(work) / "table", engine_sessions, instrumented_processes, turnstile),
            )


def _desk(
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
    """For a history in which storage fails or writers race; none for any other."""
    if finding.suite not in {CRASHES, RACES}:
        return None
    try:
        longest = max(call_timeout(heavy=is_heavy(spec)) for spec in specs)
        return stack.enter_context(Turnstile(work / "turnstile", hold_seconds=STEPS_HELD * longest))
    except TurnstileProblem as problem:
        raise CannotRun(str(problem)) from problem


def _seat(host: HostClient, spec: EngineSpec) -> EngineSession:
    try:
        identity = str(host.identity)
    except HostError as error:
        raise CannotRun(f"{spec} does not start: {error}") from error
    heavy = is_heavy(spec)
    return EngineSession(identity, host, host.capabilities, call_timeout(heavy=heavy), runs_on_jvm=heavy)


def _until_it_fails(finding: Finding, table_session: TableSession) -> tuple[list[StepResult], int]:
    result = table_session.open_all()
    played = 0
    for step in finding.history.steps:
        if not table_session.plays or any(
            each == finding.fingerprint for _, each in _broken(finding, result)
        ):
            break
        result += table_session.execute(step)
        played += 1
    return result, played


def _broken(finding: Finding, result: Sequence[StepResult]) -> Iterator[tuple[StepResult, str]]:
    """The breaches by the finding's engine, whatever its version, each with its fingerprint; but for what else is known
    of it."""
    own = known_deviation(finding.key, _version(finding.engine), finding.history)
    for each in result:
        for violation in each.violations:
            if engine_name(each.observation.engine) != finding.key.engine:
                continue
            key = key_of(each.observation, violation)
            deviation = known_deviation(key, _version(each.observation.engine), finding.history)
            if key.fingerprint == finding.fingerprint or deviation in {None, own}:
                yield each, key.fingerprint


def _version(engine: str) -> str | None:
    return engine.partition("@")[2] or None


def _told(name: str, finding: Finding, result: list[StepResult], played: int) -> ReplayResult:
    broken = list(_broken(finding, result))
    failures = [
        why for each in result if each.observation.race is not None for why in each.observation.race.failures
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
    same = [each for each, fingerprint in broken if fingerprint == finding.fingerprint]
    first = (same or [each for each, _ in broken])[0]
    details = "; ".join(f"{violation.requirement}: {violation.detail}" for violation in first.violations)
    how = "still fails" if same else "fails in another way"
    return ReplayResult(FAILS, f"{name} {how} at step {first.observation.step}: {details}")
