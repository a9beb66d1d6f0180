"""Plays the history of a finding again, on the engines that it was found on, and says whether it still fails."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from conformance.crashes.desk import CrashDesk
from conformance.findings.causes import known_deviation
from conformance.findings.fingerprint import engine_name, key_of
from conformance.findings.folder import Finding, FindingError, NotAFinding, load_finding
from conformance.history import History
from conformance.hosts import call_timeout, is_heavy
from conformance.player import Desk, Judged, play
from conformance.races.desk import RaceDesk
from conformance.seats import Seat
from conformance.strategies import SLOTS
from conformance.turnstile.actor import Actor
from conformance.turnstile.arena import STEPS_HELD
from conformance.turnstile.building import TurnstileProblem
from conformance.turnstile.controller import Turnstile
from delta_adapters.environments import EnvironmentProblem
from delta_adapters.losses import HostError
from delta_adapters.registry import EngineSpec, UnknownEngine, parse_engine, prepare
from delta_adapters.supervisor import Host
from delta_models.operations import Interleave

FIXED, FAILS, COULD_NOT_RUN = 0, 1, 3
CRASHES, RACES = "crashes", "races"
OVERLAP = "overlap="


@dataclass(frozen=True, slots=True)
class Replayed:
    """How a replay went: the exit code, and what to tell a person."""

    exit: int
    text: str


class CannotRun(Exception):
    """An engine of the history can't be had here."""


def replay(path: Path) -> Replayed:
    """Play a finding's history again. Raises NotAFinding for a path that is none."""
    try:
        finding = load_finding(path)
    except NotAFinding:
        raise
    except FindingError as error:
        return Replayed(COULD_NOT_RUN, f"could not run: {error}")
    name = f"{finding.fingerprint} ({finding.engine}, {finding.key.requirement})"
    try:
        specs = [_spec(each, finding) for each in _engines(finding)]
        return _told(name, finding, *_play(finding, specs))
    except (CannotRun, EnvironmentProblem) as error:
        return Replayed(COULD_NOT_RUN, f"{name} could not run: {error}")


def _engines(finding: Finding) -> tuple[str, ...]:
    """The engines at the table, in the order of its slots."""
    bound = [finding.slots[slot] for slot in SLOTS if slot in finding.slots]
    if finding.suite == RACES:
        return tuple(bound[: _writers(finding.history)])  # twins are two
    seated = [each for each in finding.versions if "@" in each]
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


def _play(finding: Finding, specs: Sequence[EngineSpec]) -> tuple[list[Judged], int]:
    """What was judged until the finding's engine broke a rule, and how many steps were played."""
    with tempfile.TemporaryDirectory(prefix="conformance-replay-") as work:
        hosts: list[Host] = []
        with ExitStack() as stack:
            stack.callback(lambda: [each.kill() for each in hosts])
            turnstile = _turnstile(finding, specs, Path(work), stack)
            actors = [turnstile.actor(str(number)) for number in range(len(specs))] if turnstile else []
            for number, spec in enumerate(specs):
                environment = actors[number].environment() if actors else None
                hosts.append(Host.start(spec, Path(work) / f"host-{number}", environment=environment))
            seats = [_seat(each, spec) for each, spec in zip(hosts, specs, strict=True)]
            return _until_it_fails(finding, _desk(finding, Path(work) / "table", seats, actors, turnstile))


def _desk(
    finding: Finding, folder: Path, seats: list[Seat], actors: list[Actor], turnstile: Turnstile | None
) -> Desk:
    tag = f"replay-{finding.fingerprint}"
    if turnstile is None:
        return Desk(folder, seats, finding.history.seed, tag)
    if finding.suite == RACES:
        desk = RaceDesk(folder, seats, actors, turnstile, tag)
        desk.processes = finding.processes
        desk.overlap = next(
            (each.removeprefix(OVERLAP) for each in finding.key.options if each.startswith(OVERLAP)), "table"
        )
        return desk
    return CrashDesk(folder, seats, actors[0], finding.history.seed, tag)


def _turnstile(
    finding: Finding, specs: Sequence[EngineSpec], work: Path, stack: ExitStack
) -> Turnstile | None:
    """For a history in which storage fails or writers race; none for any other."""
    if finding.suite not in {CRASHES, RACES}:
        return None
    try:
        longest = max(call_timeout(heavy=is_heavy(each)) for each in specs)
        return stack.enter_context(Turnstile(work / "turnstile", hold_seconds=STEPS_HELD * longest))
    except TurnstileProblem as problem:
        raise CannotRun(str(problem)) from problem


def _seat(host: Host, spec: EngineSpec) -> Seat:
    try:
        identity = str(host.identity)
    except HostError as error:
        raise CannotRun(f"{spec} does not start: {error}") from error
    heavy = is_heavy(spec)
    return Seat(identity, host, host.capabilities, call_timeout(heavy=heavy), dear=heavy)


def _until_it_fails(finding: Finding, desk: Desk) -> tuple[list[Judged], int]:
    judged = list(desk.sit_down())
    played = 0
    for step in finding.history.steps:
        if not desk.plays or any(each == finding.fingerprint for _, each in _broken(finding, judged)):
            break
        judged += [each for _, each in play([desk], step)]
        played += 1
    return judged, played


def _broken(finding: Finding, judged: Sequence[Judged]) -> Iterator[tuple[Judged, str]]:
    """The breaches by the finding's engine, whatever its version, each with its fingerprint; but for what else is known
    of it."""
    own = known_deviation(finding.key, _version(finding.engine), finding.history)
    for each in judged:
        for breach in each.breaches:
            if engine_name(each.seen.engine) != finding.key.engine:
                continue
            key = key_of(each.seen, breach)
            deviation = known_deviation(key, _version(each.seen.engine), finding.history)
            if key.fingerprint == finding.fingerprint or deviation in {None, own}:
                yield each, key.fingerprint


def _version(engine: str) -> str | None:
    return engine.partition("@")[2] or None


def _told(name: str, finding: Finding, judged: list[Judged], played: int) -> Replayed:
    broken = list(_broken(finding, judged))
    failures = [why for each in judged if each.seen.race is not None for why in each.seen.race.failures]
    if not broken and failures:
        return Replayed(
            COULD_NOT_RUN, f"{name} could not run: its schedule could not be followed: {failures[0]}"
        )
    if not broken:
        if played < len(finding.history.steps):
            return Replayed(
                COULD_NOT_RUN, f"{name} could not run to its end: the engine left after {played} steps"
            )
        return Replayed(FIXED, f"{name} is fixed: its {played} steps hold")
    same = [each for each, fingerprint in broken if fingerprint == finding.fingerprint]
    first = (same or [each for each, _ in broken])[0]
    details = "; ".join(f"{each.requirement}: {each.detail}" for each in first.breaches)
    how = "still fails" if same else "fails in another way"
    return Replayed(FAILS, f"{name} {how} at step {first.seen.step}: {details}")
