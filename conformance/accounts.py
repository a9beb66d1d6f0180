"""The account of one history: what engines were held to and what was found, told as events."""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.crashes.narrowing import AFTER, BEFORE
from conformance.events import EngineLost, Event, Evidence, HarnessFault, HistoryEnded, Progress, Struck
from conformance.history import History, Step
from conformance.keeper import Found, Keeper
from conformance.observation import Observation, Trouble
from conformance.plan import Chunk
from conformance.player import Desk, Judged
from conformance.seats import ANSWERS, LIVES, SPEAKS, Seat
from conformance.strategies import SLOTS
from delta_models.operations import Properties
from delta_models.requirements import BY_ID, Breach
from delta_models.wire_names import name_of

FEATURES = {
    "delta.enableDeletionVectors": "deletionVectors",
    "delta.enableChangeDataFeed": "changeDataFeed",
    "delta.appendOnly": "appendOnly",
    "delta.columnMapping.mode": "columnMapping",
    "delta.enableRowTracking": "rowTracking",
    "delta.enableInCommitTimestamps": "inCommitTimestamp",
    "delta.enableTypeWidening": "typeWidening",
    "delta.isolationLevel": "writeSerializable, unconfirmed",  # judged from the rules: nobody else has it
}
OFF = ("false", "none", "serializable")
HOW_LOST = {LIVES: "died", ANSWERS: "hung", SPEAKS: "spoke nonsense"}

Tell = Callable[[Event], None]


@dataclass(slots=True)
class Tally:
    """What one engine was held to in one history, by role."""

    checks: dict[str, Counter[str]] = field(default_factory=dict)
    wrote: bool = False

    def add(self, evidence: Mapping[str, int]) -> None:
        """Checks by requirement; the requirement knows whose duty it is."""
        for requirement, count in evidence.items():
            if count:
                self.checks.setdefault(BY_ID[requirement].role, Counter())[requirement] += count


@dataclass(slots=True)
class _Strikes:
    """What faults of one kind did to one operation of one engine."""

    points: int = 0
    states: Counter[str] = field(default_factory=Counter)
    left_over: Counter[str] = field(default_factory=Counter)


class Account:
    """One history of a chunk, from its first step to its last."""

    def __init__(
        self,
        chunk: Chunk,
        number: int,
        keeper: Keeper,
        tell: Tell,
        *,
        features: Sequence[str] = (),
    ) -> None:
        self.steps: list[Step] = []
        self._chunk = chunk
        self._number = number
        self._keeper = keeper
        self._tell = tell
        self._dear = number in chunk.heavy
        self._features = tuple(features)
        self._began = time.monotonic()
        self._played = 0
        self._tallies: dict[tuple[str, ...], Tally] = {}
        self._schedules: Counter[tuple[str, ...]] = Counter()
        self._crash_points: Counter[str] = Counter()
        self._struck: dict[tuple[str, str, str], _Strikes] = {}

    def begin_step(self, step: Step) -> None:
        """A command is about to be played."""
        self.steps.append(step)

    def played(self, engines: Iterable[str]) -> None:
        """The last command was played by these engines."""
        self._played += 1
        at = len(self.steps) - 1
        chunk = self._chunk
        self._tell(Progress(chunk.suite, chunk.number, self._number, at, tuple(engines), self._dear))

    def take(self, desk: Desk, judged: Iterable[Judged]) -> None:
        """Verdicts, as they come in."""
        for each in judged:
            if desk.handed_to is not None:
                self.steps[-1] = replace(self.steps[-1], by=desk.handed_to)
            tally = self._tallies.setdefault(_place(desk, each.seat.engine), Tally())
            tally.add(each.evidence)
            tally.wrote = tally.wrote or each.seen.wrote
            if each.seen.wrote and each.seen.trouble is not None and each.seen.trouble.fault is not None:
                self._crash_points[each.seat.engine] += 1
                self._count(each.seat.engine, each.seen, each.seen.trouble)
            for fault in each.faults:
                self._tell(HarnessFault(f"{self._where(each.seen.step)}: {fault.splitlines()[0]}", fault))
            for breach in each.breaches:
                self._tell(self._keeper.keep(self._found(desk, each, breach)))
                if breach.requirement in HOW_LOST:
                    tail = each.seat.host.stderr_tail()
                    how = HOW_LOST[breach.requirement]
                    self._tell(EngineLost(each.seat.engine, how, breach.where, tail, restarted=True))

    def followed(self, desk: Desk, schedules: int) -> None:
        """So many orders were played at a table as they were scheduled."""
        self._schedules[_place(desk)] += schedules

    def harness_failed(self, desks: Iterable[Desk]) -> None:
        """Something of ours raised while a step was played: the tables are not to be trusted any more."""
        error = sys.exc_info()[1]
        where = self._where(len(self.steps) - 1)
        self._tell(HarnessFault(f"{where}: {type(error).__name__}: {error}", traceback.format_exc()))
        for desk in desks:
            desk.left = "the harness failed"

    def close(self, desks: Sequence[Desk]) -> None:
        """Tell what the history showed."""
        seats = [(desk, seat) for desk in desks for seat in desk.seats]
        operations: dict[str, int] = {}
        seconds: dict[str, float] = {}
        for _, seat in seats:
            operations[seat.engine] = operations.get(seat.engine, 0) + seat.operations
            seconds[seat.engine] = seconds.get(seat.engine, 0.0) + seat.seconds
        if self._played:
            self._tell(
                HistoryEnded(
                    self._chunk.suite,
                    self._chunk.number,
                    self._number,
                    steps=self._played,
                    operations=dict(operations),
                    engine_seconds={engine: round(each, 4) for engine, each in seconds.items()},
                    crash_points=self._crash_points.total(),
                    schedules=self._schedules.total(),
                    seconds=round(time.monotonic() - self._began, 3),
                    dear=self._dear,
                )
            )
        for desk, seat in seats:
            self._tell_evidence(desk, seat)
        for (engine, operation, fault), each in sorted(self._struck.items()):
            states, left = each.states, dict(sorted(each.left_over.items()))
            self._tell(Struck(engine, operation, fault, each.points, states[BEFORE], states[AFTER], left))

    def _count(self, engine: str, seen: Observation, trouble: Trouble) -> None:
        """What one fault did to the table."""
        key = (engine, name_of(seen.operation), name_of(trouble.fault))
        strikes = self._struck.setdefault(key, _Strikes())
        strikes.points += 1
        strikes.states[trouble.found.state if trouble.found else ""] += 1
        strikes.left_over.update(trouble.lying)

    def _tell_evidence(self, desk: Desk, seat: Seat) -> None:
        tally = self._tallies.get(_place(desk, seat.engine), Tally())
        for role, checks in sorted(tally.checks.items()):
            self._tell(
                Evidence(
                    self._chunk.suite,
                    self._chunk.number,
                    self._number,
                    seat.engine,
                    role,
                    dict(checks),
                    with_engines=self._others(desk, seat.engine),
                    features=self._features,
                    operations=seat.operations,
                    crash_points=self._crash_points[seat.engine],
                    schedules=self._schedules[_place(desk)],
                    processes=desk.processes,
                )
            )

    def _found(self, desk: Desk, judged: Judged, breach: Breach) -> Found:
        chunk = self._chunk
        return Found(
            history=History(chunk.suite, chunk.profile, chunk.number, chunk.seed, tuple(self.steps)),
            number=self._number,
            seen=judged.seen,
            breach=breach,
            slots=_bound(desk) if len(desk.sitting) > 1 else {},
            specs={each.engine: str(each.host.spec) for each in desk.sitting},
            with_engines=self._others(desk, judged.seat.engine),
            features=self._features,
            processes=desk.processes,
            promised=desk.promised(judged.seat),
        )

    def _others(self, desk: Desk, engine: str) -> tuple[str, ...]:
        """Who else wrote to the table; in races all do."""
        wrote = {
            each.engine
            for each in desk.sitting
            if desk.processes != "one" or self._tallies.get(_place(desk, each.engine), Tally()).wrote
        }
        return tuple(sorted(wrote - {engine}))

    def _where(self, step: int) -> str:
        return f"{self._chunk.name}, history {self._number}, step {step}"


def _place(desk: Desk, *engine: str) -> tuple[str, ...]:
    """At which table of a history an engine is held to what it does: by who sits there, and how they publish."""
    return (*engine, desk.processes, *(each.engine for each in desk.sitting))


def features_of(properties: Properties) -> tuple[str, ...]:
    """The table features that properties switch on."""
    return tuple(
        sorted(FEATURES[key] for key, value in properties if key in FEATURES and value.lower() not in OFF)
    )


def _bound(desk: Desk) -> dict[str, str]:
    """Which engine sits in which slot of a shared table."""
    return {slot: desk.sitting[at % len(desk.sitting)].engine for at, slot in enumerate(SLOTS)}
