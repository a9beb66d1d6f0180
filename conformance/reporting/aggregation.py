"""The fold of events into results: engines, suites, claims, findings, and the run's verdict.

A `ResultAggregator` is a listener. It may hear one run while it goes on, or several recordings one
after the other (shards, or
runs with other seeds); what two of them have in common counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from conformance.events import types
from conformance.events.types import DeclaredClaim, Event, EvidenceThreshold, FindingFound
from conformance.reporting.claims import Claim, ClaimSetting, EvidenceTotals, SettingEvidence, verdict_of
from conformance.reporting.exit_status import judge
from conformance.reporting.results import EngineResult, FindingResult, Results, SuiteResult
from delta_adapters.engine_id import EngineId
from delta_models.requirements import BY_ID

Kind = TypeVar("Kind")


@dataclass(slots=True)
class _Suite:
    histories: dict[tuple[object, ...], types.HistoryEnded] = field(default_factory=dict)
    planned: set[tuple[object, ...]] = field(default_factory=set)
    done: set[tuple[object, ...]] = field(default_factory=set)
    seconds: dict[tuple[object, ...], float] = field(default_factory=dict)


class ResultAggregator:
    """Hears events and keeps what the results need of them."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._runs: list[types.RunStarted] = []
        self._homes: list[Path] = []
        self._ready: dict[str, types.EngineReady] = {}
        self._unavailable: dict[str, types.EngineUnavailable] = {}
        self._declared: dict[tuple[str, str, str, str], DeclaredClaim] = {}
        self._suites: dict[str, _Suite] = {}
        self._cells: dict[ClaimSetting, SettingEvidence] = {}
        self._findings: dict[tuple[str, str], tuple[FindingFound, Path]] = {}
        self._times: Counter[tuple[str, str]] = Counter()
        self._others: list[Event] = []
        self._problems: list[str] = []
        self._seconds = 0.0

    @property
    def heard(self) -> bool:
        """Whether a run has begun."""
        return bool(self._runs)

    def at(self, home: Path) -> None:
        """The events that come now are of the run in this folder."""
        self._home = home

    def missing(self, problem: str) -> None:
        """A recording is not whole."""
        self._problems.append(problem)

    def __call__(self, event: Event) -> None:
        """Take an event into account."""
        match event:
            case types.RunStarted():
                self._begin(event)
            case types.EngineReady():
                self._ready.setdefault(event.engine, event)
            case types.EngineUnavailable():
                self._unavailable.setdefault(event.engine, event)
            case types.DeclaredClaim():
                self._declared[event.engine, event.requirement, event.role, event.processes] = event
            case types.ChunkEnded():
                self._end_chunk(event)
            case types.HistoryEnded():
                self._suite(event.suite).histories[self._key(event.suite, event.chunk, event.history)] = event
            case types.Evidence():
                self._weigh(event)
            case types.FindingFound():
                self._find(event)
            case types.RunEnded():
                self._seconds += event.seconds
            case _ if not types.is_transient(event):
                self._others.append(event)

    def results(self, seconds: float | None = None) -> Results:
        """What it all comes to; `seconds` for a run that has not ended yet."""
        engines = tuple(self._engines())
        claims = tuple(self._claims())
        suites = tuple(self._suite_results())
        outcome = judge(
            claims,
            tuple(event for event, _ in self._findings.values()),
            unavailable=tuple(self._unavailable.values()),
            ready=tuple(self._ready.values()),
            faults=tuple(each.message for each in self._all(types.HarnessFault)),
            problems=tuple(self._problems),
            budget_spent=bool(self._all(types.BudgetSpent)),
            interrupted=bool(self._all(types.Interrupted)),
        )
        return Results(
            runs=tuple(self._runs),
            homes=tuple(self._homes),
            outcome=outcome,
            seconds=self._seconds if seconds is None else seconds,
            engines=engines,
            suites=suites,
            claims=claims,
            findings=tuple(self._finding_results()),
            lost=tuple(self._all(types.EngineLost)),
            faults=tuple(self._all(types.HarnessFault)),
            notes=tuple(each.message for each in self._all(types.Note)),
            problems=tuple(self._problems),
            raced=tuple(self._all(types.RaceOutcome)),
            struck=tuple(self._all(types.FaultOutcome)),
        )

    # While it listens

    def _begin(self, event: types.RunStarted) -> None:
        self._runs.append(event)
        self._homes.append(self._home)
        for each in event.plan:
            suite = self._suite(each.suite)
            suite.planned |= {self._key(each.suite, number) for number in each.numbers or range(each.chunks)}

    def _end_chunk(self, event: types.ChunkEnded) -> None:
        suite, key = self._suite(event.suite), self._key(event.suite, event.number)
        suite.planned.add(key)
        suite.seconds[key] = event.seconds
        if event.complete:
            suite.done.add(key)

    def _weigh(self, event: types.Evidence) -> None:
        history = self._key(event.suite, event.chunk, event.history)
        for requirement, checks in event.checks.items():
            weight = EvidenceTotals(checks, 1, event.operations, event.crash_points, event.schedules)
            self._seen(event, requirement).add(history, weight)

    def _find(self, event: FindingFound) -> None:
        key = (event.fingerprint, event.engine)
        self._times[key] += 1
        if key not in self._findings or (event.fresh and not self._findings[key][0].fresh):
            self._findings[key] = (event, self._home)
        self._seen(event, event.requirement).findings.append(event)

    def _seen(self, event: types.Evidence | FindingFound, requirement: str) -> SettingEvidence:
        storage = self._runs[-1].storage if self._runs else "local"
        cell = ClaimSetting(
            requirement, event.engine, event.role, tuple(sorted(event.with_engines)), tuple(sorted(event.features)),
            storage, event.processes,
        )  # fmt: skip
        return self._cells.setdefault(cell, SettingEvidence())

    def _suite(self, name: str) -> _Suite:
        return self._suites.setdefault(name, _Suite())

    def _key(self, suite: str, *numbers: int) -> tuple[object, ...]:
        """What names a chunk or a history in every run that contains it."""
        run = self._runs[-1] if self._runs else None
        return (run and run.profile, run and run.seed, suite, *numbers)

    # Afterwards

    def _all(self, kind: type[Kind]) -> list[Kind]:
        return [other for other in self._others if isinstance(other, kind)]

    def _engines(self) -> Iterator[EngineResult]:
        operations: Counter[str] = Counter()
        seconds: dict[str, float] = {}
        for history in (each for suite in self._suites.values() for each in suite.histories.values()):
            operations.update(history.operations)
            for engine, spent in history.engine_seconds.items():
                seconds[engine] = seconds.get(engine, 0.0) + spent
        lost = Counter(each.engine for each in self._all(types.EngineLost))
        for engine, ready in self._ready.items():
            identity = EngineId.parse(engine)
            yield EngineResult(
                identity.name, identity.version, "tested", operations=operations[engine],
                engine_seconds=round(seconds.get(engine, 0.0), 3), start_seconds=ready.seconds,
                compatible_with=ready.compatible_with, homepage=ready.homepage, issue_tracker=ready.issue_tracker,
                lost=lost[engine],
            )  # fmt: skip
        for engine, unavailable in self._unavailable.items():
            identity = EngineId.parse(engine)
            yield EngineResult(
                identity.name, identity.version, "unavailable", unavailable.why, unavailable.cure
            )

    def _suite_results(self) -> Iterator[SuiteResult]:
        for name, suite in self._suites.items():
            histories = suite.histories.values()
            seconds = sum(suite.seconds.values()) or sum(history.seconds for history in histories)
            yield SuiteResult(
                name=name,
                histories=len(histories),
                steps=sum(history.steps for history in histories),
                crash_points=sum(history.crash_points for history in histories),
                schedules=sum(history.schedules for history in histories),
                seconds=round(seconds, 3),
                complete=bool(suite.done) and suite.done >= suite.planned,
            )

    def _finding_results(self) -> Iterator[FindingResult]:
        for key, (event, home) in self._findings.items():
            yield FindingResult(event, self._times[key], home)

    def _claims(self) -> Iterator[Claim]:
        core = self._core()
        claims = {cell: self._claim(cell, seen, core) for cell, seen in self._cells.items()}
        for declared in self._declared.values():
            if not any(_declares(declared, cell) for cell in claims):
                cell = ClaimSetting(
                    declared.requirement, declared.engine, declared.role, processes=declared.processes
                )
                claims[cell] = self._claim(cell, SettingEvidence(), core)
        for (requirement, engine), floors in core.items():
            for floor in floors:
                cells = [cell for cell in claims if (cell.requirement, cell.engine) == (requirement, engine)]
                for cell in self._bearing(cells, floor, claims):
                    claims[cell] = replace(claims[cell], core=True)
                if not cells:
                    cell = ClaimSetting(requirement, engine, _role(requirement))
                    claims[cell] = replace(self._claim(cell, SettingEvidence(), core), core=True)
        yield from (claims[cell] for cell in sorted(claims))

    def _core(self) -> dict[tuple[str, str], list[EvidenceThreshold]]:
        """The floors of each pair (requirement, engine@version), for the engines that were there."""
        found: dict[tuple[str, str], list[EvidenceThreshold]] = {}
        floors = dict.fromkeys(floor for run in self._runs for floor in run.core)
        for floor in floors:
            for engine in self._ready:
                if EngineId.parse(engine).name == floor.engine:
                    found.setdefault((floor.requirement, engine), []).append(floor)
        return found

    def _claim(
        self, cell: ClaimSetting, seen: SettingEvidence, core: dict[tuple[str, str], list[EvidenceThreshold]]
    ) -> Claim:
        floors = core.get((cell.requirement, cell.engine)) or [
            EvidenceThreshold(cell.requirement, cell.engine)
        ]
        reached = [floor for floor in floors if seen.weight(floor.suite).reaches(floor)]
        floor = (reached or floors)[0]
        declared = next((each for each in self._declared.values() if _declares(each, cell)), None)
        return Claim(
            cell=cell,
            strength=_strength(cell.requirement, seen),
            verdict=verdict_of(seen.findings, declared, enough=bool(reached)),
            weight=seen.weight(),
            floor=floor,
            counted=seen.weight(floor.suite),
            findings=tuple(dict.fromkeys(finding.fingerprint for finding in seen.findings)),
            why=declared.why if declared else "",
        )

    def _bearing(
        self, cells: list[ClaimSetting], floor: EvidenceThreshold, claims: dict[ClaimSetting, Claim]
    ) -> list[ClaimSetting]:
        """The cells on which a pair of the core rests: those that reach its floor or were decided against; if there are
        none, the one that came nearest."""
        bearing = [cell for cell in cells if claims[cell].findings or self._reaches(cell, floor)]
        if bearing or not cells:
            return bearing
        return [max(cells, key=lambda cell: claims[cell].weight.checks)]

    def _reaches(self, cell: ClaimSetting, floor: EvidenceThreshold) -> bool:
        return cell in self._cells and self._cells[cell].weight(floor.suite).reaches(floor)


def _declares(declared: DeclaredClaim, cell: ClaimSetting) -> bool:
    return (declared.requirement, declared.engine, declared.role, declared.processes) == (
        cell.requirement, cell.engine, cell.role, cell.processes,
    )  # fmt: skip


def _strength(requirement: str, seen: SettingEvidence) -> str:
    known = BY_ID.get(requirement)
    if known is not None:
        return known.strength
    return seen.findings[0].strength if seen.findings else "unlisted"


def _role(requirement: str) -> str:
    known = BY_ID.get(requirement)
    return known.role if known else "writer"
