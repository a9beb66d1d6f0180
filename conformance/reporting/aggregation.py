"""The aggregation of events into results: engines, suites, claims, findings, and the run's verdict.

A `ResultAggregator` is a listener. It takes the events of one run as they come, or those of several recordings one
after the other (shards, or runs with other seeds). What two recordings have in common counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from conformance.events import types
from conformance.events.types import DeclaredClaim, Event, EvidenceThreshold, FindingFound
from conformance.reporting.claim_times import claim_seconds
from conformance.reporting.claims import Claim, ClaimSetting, EvidenceTotals, SettingEvidence, verdict_of
from conformance.reporting.exit_status import decide_exit
from conformance.reporting.participation import not_played
from conformance.reporting.results import EngineResult, Results, SuiteResult
from conformance.reporting.sightings import Sightings
from delta_adapters.engine_id import EngineId
from delta_models.requirements import BY_ID

Kind = TypeVar("Kind")


CELLS = 4  # that the plan does not reach, named in one reason


@dataclass(slots=True)
class _Suite:
    histories: dict[tuple[object, ...], types.HistoryEnded] = field(default_factory=dict)
    planned: set[tuple[object, ...]] = field(default_factory=set)
    done: set[tuple[object, ...]] = field(default_factory=set)
    seconds: dict[tuple[object, ...], float] = field(default_factory=dict)


class ResultAggregator:
    """Takes events and keeps what the results need."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._runs: list[types.RunStarted] = []
        self._homes: list[Path] = []
        self._ready: dict[str, types.EngineReady] = {}
        self._unavailable: dict[str, types.EngineUnavailable] = {}
        self._declared: dict[tuple[str, str, str, str], DeclaredClaim] = {}
        self._suites: dict[str, _Suite] = {}
        self._settings: dict[ClaimSetting, SettingEvidence] = {}
        self._sightings = Sightings()
        self._others: list[Event] = []
        self._problems: list[str] = []
        self._seconds = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether a run has emitted its header."""
        return bool(self._runs)

    def enter_run(self, home: Path) -> None:
        """Take the next events as those of the run in this folder."""
        self._home = home

    def add_problem(self, problem: str) -> None:
        """Note that a recording is not whole."""
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
                self._add_evidence(event)
            case types.FindingFound():
                self._sightings.add(event, self._home)
                self._evidence(event, event.requirement).findings.append((event, self._home))
            case types.FindingTriaged():
                self._sightings.triaged(event, self._home)
            case types.RunEnded():
                self._seconds += event.seconds
            case _ if not types.is_transient(event):
                self._others.append(event)

    def results(self, seconds: float | None = None) -> Results:
        """The results so far. Give `seconds` for a run that has not ended yet."""
        engines = tuple(self._engines())
        findings = tuple(self._sightings.findings())
        claims = tuple(self._claims())
        suites = tuple(self._suite_results())
        outcome = decide_exit(
            claims,
            tuple(finding.event for finding in findings),
            unavailable=tuple(self._unavailable.values()),
            ready=tuple(self._ready.values()),
            faults=tuple(fault.message for fault in self._all(types.HarnessFault)),
            problems=(*self._problems, *self._cells_not_reached()),
            not_played=tuple(self._not_played()),
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
            findings=findings,
            lost=tuple(self._all(types.EngineLost)),
            faults=tuple(self._all(types.HarnessFault)),
            notes=tuple(note.message for note in self._all(types.Note)),
            problems=tuple(self._problems),
            raced=tuple(self._all(types.RaceOutcome)),
            struck=tuple(self._all(types.FaultOutcome)),
            cells=tuple(self._all(types.CellsPlanned)),
        )

    # While events come

    def _begin(self, event: types.RunStarted) -> None:
        self._runs.append(event)
        self._homes.append(self._home)
        for planned in event.plan:
            numbers = planned.numbers or range(planned.chunks)
            self._suite(planned.suite).planned |= {self._key(planned.suite, number) for number in numbers}

    def _end_chunk(self, event: types.ChunkEnded) -> None:
        suite, key = self._suite(event.suite), self._key(event.suite, event.number)
        suite.planned.add(key)
        suite.seconds[key] = event.seconds
        if event.complete:
            suite.done.add(key)

    def _add_evidence(self, event: types.Evidence) -> None:
        history = self._key(event.suite, event.chunk, event.history)
        for requirement, checks in event.checks.items():
            totals = EvidenceTotals(checks, 1, event.operations, event.crash_points, event.schedules)
            self._evidence(event, requirement).add(history, totals)

    def _evidence(self, event: types.Evidence | FindingFound, requirement: str) -> SettingEvidence:
        storage = self._runs[-1].storage if self._runs else "local"
        setting = ClaimSetting(
            requirement, event.engine, event.role, tuple(sorted(event.with_engines)), tuple(sorted(event.features)),
            storage, event.processes,
        )  # fmt: skip
        return self._settings.setdefault(setting, SettingEvidence())

    def _suite(self, name: str) -> _Suite:
        return self._suites.setdefault(name, _Suite())

    def _key(self, suite: str, *numbers: int) -> tuple[object, ...]:
        """The key of a chunk or a history, which is the same in every run that contains it."""
        run = self._runs[-1] if self._runs else None
        return (run and run.profile, run and run.seed, suite, *numbers)

    # Once they have come

    def _all(self, kind: type[Kind]) -> list[Kind]:
        return [other for other in self._others if isinstance(other, kind)]

    def _not_played(self) -> Iterator[str]:
        histories = {name: suite.histories.values() for name, suite in self._suites.items()}
        return not_played(self._runs, self._ready.values(), histories, self._all(types.Note))

    def _cells_not_reached(self) -> Iterator[str]:
        """What covering plans do not bring together, though the engine claims it and no reason speaks against it."""
        for cells in self._all(types.CellsPlanned):
            if cells.missing:
                some = ", ".join(cells.missing[:CELLS])
                more = len(cells.missing) - CELLS
                yield (
                    f"{cells.engine} {cells.part}: the plan does not reach {len(cells.missing)} of {cells.wanted}"
                    f" cells: {some}{f' and {more} more' if more > 0 else ''}"
                )

    def _engines(self) -> Iterator[EngineResult]:
        operations: Counter[str] = Counter()
        seconds: dict[str, float] = {}
        for history in (history for suite in self._suites.values() for history in suite.histories.values()):
            operations.update(history.operations)
            for engine, spent in history.engine_seconds.items():
                seconds[engine] = seconds.get(engine, 0.0) + spent
        lost: Counter[str] = Counter()
        for loss in self._all(types.EngineLost):
            lost[loss.engine] += loss.times
        for engine, ready in self._ready.items():
            identity = EngineId.parse(engine)
            given_up = self._unavailable.get(engine)
            yield EngineResult(
                identity.name, identity.version, "tested",
                given_up.why if given_up else None, given_up.cure if given_up else "", operations=operations[engine],
                engine_seconds=round(seconds.get(engine, 0.0), 3), start_seconds=ready.seconds,
                compatible_with=ready.compatible_with, homepage=ready.homepage, issue_tracker=ready.issue_tracker,
                lost=lost[engine], build=ready.build,
            )  # fmt: skip
        for engine, unavailable in self._unavailable.items():
            if engine in self._ready:
                continue
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

    def _claims(self) -> Iterator[Claim]:
        core = self._core()
        claims = {
            setting: self._claim(setting, evidence, core) for setting, evidence in self._settings.items()
        }
        for declared in self._declared.values():
            if not any(_declares(declared, setting) for setting in claims):
                setting = ClaimSetting(
                    declared.requirement, declared.engine, declared.role, processes=declared.processes
                )
                claims[setting] = self._claim(setting, SettingEvidence(), core)
        for (requirement, engine), thresholds in core.items():
            for threshold in thresholds:
                settings = [
                    setting
                    for setting in claims
                    if (setting.requirement, setting.engine) == (requirement, engine)
                ]
                for setting in self._deciding(settings, threshold, claims):
                    claims[setting] = replace(claims[setting], core=True)
                if not settings:
                    setting = ClaimSetting(requirement, engine, _role(requirement))
                    claims[setting] = replace(self._claim(setting, SettingEvidence(), core), core=True)
        histories = {key: event for suite in self._suites.values() for key, event in suite.histories.items()}
        seconds = claim_seconds(self._settings, histories)
        for setting in sorted(claims):
            yield replace(claims[setting], seconds=seconds.get(setting, 0.0))

    def _core(self) -> dict[tuple[str, str], list[EvidenceThreshold]]:
        """The thresholds of each pair of requirement and engine identity, for the engines that ran."""
        core: dict[tuple[str, str], list[EvidenceThreshold]] = {}
        thresholds = dict.fromkeys(threshold for run in self._runs for threshold in run.core)
        for threshold in thresholds:
            for engine in self._ready:
                if EngineId.parse(engine).name == threshold.engine:
                    core.setdefault((threshold.requirement, engine), []).append(threshold)
        return core

    def _claim(
        self,
        setting: ClaimSetting,
        gathered: SettingEvidence,
        core: dict[tuple[str, str], list[EvidenceThreshold]],
    ) -> Claim:
        thresholds = core.get((setting.requirement, setting.engine)) or [
            EvidenceThreshold(setting.requirement, setting.engine)
        ]
        reached = [
            threshold for threshold in thresholds if gathered.totals(threshold.suite).reaches(threshold)
        ]
        threshold = (reached or thresholds)[0]
        declared = next((claim for claim in self._declared.values() if _declares(claim, setting)), None)
        findings = [self._sightings.resolved(event, home) for event, home in gathered.findings]
        return Claim(
            setting=setting,
            strength=_strength(setting.requirement, findings),
            verdict=verdict_of(findings, declared, enough=bool(reached)),
            evidence=gathered.totals(),
            threshold=threshold,
            counted=gathered.totals(threshold.suite),
            findings=tuple(dict.fromkeys(finding.fingerprint for finding in findings)),
            why=declared.why if declared else "",
        )

    def _deciding(
        self, settings: list[ClaimSetting], threshold: EvidenceThreshold, claims: dict[ClaimSetting, Claim]
    ) -> list[ClaimSetting]:
        """The settings that decide a threshold of the core: those that reach it and those with findings.

        If there is none, it is the setting with the most checks.
        """
        deciding = [
            setting for setting in settings if claims[setting].findings or self._reaches(setting, threshold)
        ]
        if deciding or not settings:
            return deciding
        return [max(settings, key=lambda setting: claims[setting].evidence.checks)]

    def _reaches(self, setting: ClaimSetting, threshold: EvidenceThreshold) -> bool:
        return setting in self._settings and self._settings[setting].totals(threshold.suite).reaches(
            threshold
        )


def _declares(declared: DeclaredClaim, setting: ClaimSetting) -> bool:
    return (declared.requirement, declared.engine, declared.role, declared.processes) == (
        setting.requirement, setting.engine, setting.role, setting.processes,
    )  # fmt: skip


def _strength(requirement: str, findings: Sequence[FindingFound]) -> str:
    known = BY_ID.get(requirement)
    if known is not None:
        return known.strength
    return findings[0].strength if findings else "unlisted"


def _role(requirement: str) -> str:
    known = BY_ID.get(requirement)
    return known.role if known else "writer"
