"""Plays one chunk: deals its histories to engines, counts what they were held to, and keeps what was found.

The same code serves the command line's workers and pytest. Nothing here raises for what an engine does:
violations are recorded and told as events, and the histories go on.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance import machine
from conformance.events import (
    ChunkEnded,
    ChunkStarted,
    EngineLost,
    Event,
    Evidence,
    HarnessFault,
    HistoryEnded,
    Note,
    Progress,
)  # fmt: skip
from conformance.history import History, Step
from conformance.hosts import Engine, Hosts, clear
from conformance.keeper import Found, Keeper
from conformance.plan import Chunk
from conformance.player import SLOTS, Desk, Judged, play
from conformance.seats import ANSWERS, LIVES, SPEAKS, Seat
from conformance.strategies import Shape
from delta_models.operations import Properties
from delta_models.requirements import BY_ID, Breach

SHARED = "shared"
FEATURES = {
    "delta.enableDeletionVectors": "deletionVectors",
    "delta.enableChangeDataFeed": "changeDataFeed",
    "delta.appendOnly": "appendOnly",
    "delta.columnMapping.mode": "columnMapping",
    "delta.enableRowTracking": "rowTracking",
    "delta.enableInCommitTimestamps": "inCommitTimestamp",
    "delta.enableTypeWidening": "typeWidening",
}
OFF = ("false", "none")

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


class Chunks:
    """A worker's way to play chunks, with the engines that it has."""

    def __init__(
        self, hosts: Hosts, work: Path, keeper: Keeper, tell: Tell, is_over: Callable[[], bool]
    ) -> None:
        self._hosts = hosts
        self._work = work
        self._keeper = keeper
        self._tell = tell
        self._is_over = is_over

    def play(self, chunk: Chunk) -> None:
        """All of a chunk, or as much as there is time for."""
        start = time.monotonic()
        self._tell(ChunkStarted(chunk.suite, chunk.profile, chunk.number, chunk.seed))
        table = Table(
            chunk, self._hosts, self._work / chunk.name, self._keeper, self._tell, is_over=self._is_over
        )
        try:
            machine.draw(chunk, table, shared=chunk.suite == SHARED)
        finally:
            clear(self._work / chunk.name)
        seconds = round(time.monotonic() - start, 3)
        self._tell(ChunkEnded(chunk.suite, chunk.profile, chunk.number, table.complete, seconds))


class Table:
    """The game that a chunk's machine plays: see `machine.Game`."""

    def __init__(
        self,
        chunk: Chunk,
        hosts: Hosts,
        work: Path,
        keeper: Keeper,
        tell: Tell,
        *,
        is_over: Callable[[], bool],
    ) -> None:
        self._chunk = chunk
        self._hosts = hosts
        self._work = work
        self._keeper = keeper
        self._tell = tell
        self._is_over = is_over
        self._ended = 0
        self._number = 0
        self._shape: Shape | None = None
        self._steps: list[Step] = []
        self._played = 0
        self._desks: list[Desk] = []
        self._tallies: dict[str, Tally] = {}
        self._began = 0.0
        self._told: set[str] = set()

    @property
    def complete(self) -> bool:
        """Whether every history came to its end."""
        return self._ended == self._chunk.histories

    def is_over(self) -> bool:
        """Whether nothing more is wanted."""
        return self._is_over()

    def begin(self, history: int, shape: Shape) -> None:
        """Seat the engines that take part."""
        self._began = time.monotonic()
        self._number, self._shape, self._steps, self._played = history, shape, [], 0
        self._tallies = {}
        folder = self._work / str(history)
        seats = [self._seat(each) for each in self._players(history, shape)]
        if self._chunk.suite == SHARED:
            turn = history % len(seats) if seats else 0
            self._desks = [self._desk(folder / "table", seats[turn:] + seats[:turn])] if seats else []
        else:
            self._desks = [
                self._desk(folder / f"{number}" / "table", [seat]) for number, seat in enumerate(seats)
            ]
        for desk in self._desks:
            self._take(desk, desk.sit_down())

    def play(self, step: Step) -> None:
        """The next command, at every desk that still plays."""
        self._steps.append(step)
        playing = [each for each in self._desks if each.plays]
        if not playing:
            return
        number = len(self._steps) - 1
        engines = tuple(seat.engine for desk in playing for seat in desk.seats if seat.plays)
        for desk, judged in play(playing, step):
            self._take(desk, (judged,))
        self._played += 1
        self._tell(Progress(self._chunk.suite, self._chunk.number, self._number, number, engines))

    def end(self) -> None:
        """Tell what the history showed."""
        self._ended += not self._is_over() or len(self._steps) >= self._chunk.steps
        seats = [seat for desk in self._desks for seat in desk.seats]
        place = (self._chunk.suite, self._chunk.number, self._number)
        if self._played:
            self._tell(
                HistoryEnded(
                    *place,
                    steps=self._played,
                    operations={each.engine: each.operations for each in seats},
                    engine_seconds={each.engine: round(each.seconds, 4) for each in seats},
                    seconds=round(time.monotonic() - self._began, 3),
                )
            )
        for desk in self._desks:
            for seat in desk.seats:
                self._tell_evidence(desk, seat)
        clear(self._work / str(self._number))
        self._desks = []

    # Who plays

    def _players(self, history: int, shape: Shape) -> Iterable[Engine]:
        for name, engine in self._hosts.specs.items():
            if engine.heavy and history not in self._chunk.heavy:
                continue
            running = self._hosts.get(name)
            if running is None:
                continue
            reason = running.capabilities.covers_table(
                shape.schema, shape.partition_by, dict(shape.properties)
            )
            if reason is None:
                yield running
            elif (words := f"{running.name} {reason}") not in self._told:
                self._told.add(words)
                self._tell(Note(f"{words}: not asked in such histories"))

    @staticmethod
    def _seat(engine: Engine) -> Seat:
        assert engine.host is not None  # noqa: S101 - only engines that run are dealt to
        return Seat(engine.name, engine.host, engine.capabilities, engine.timeout)

    def _desk(self, folder: Path, seats: list[Seat]) -> Desk:
        tag = f"{self._chunk.name}-{self._number}"
        return Desk(folder, seats, self._chunk.seed + self._number, tag)

    # What they showed

    def _take(self, desk: Desk, judged: Iterable[Judged]) -> None:
        for each in judged:
            tally = self._tallies.setdefault(each.seat.engine, Tally())
            tally.add(each.evidence)
            tally.wrote = tally.wrote or each.seen.wrote
            for fault in each.faults:
                self._tell(HarnessFault(f"{self._where(each.seen.step)}: {fault.splitlines()[0]}", fault))
            for breach in each.breaches:
                self._tell(self._keeper.keep(self._found(desk, each, breach)))
                if breach.requirement in {LIVES, ANSWERS, SPEAKS}:
                    tail = each.seat.host.stderr_tail()
                    self._tell(
                        EngineLost(each.seat.engine, breach.requirement, breach.where, tail, restarted=True)
                    )

    def _found(self, desk: Desk, judged: Judged, breach: Breach) -> Found:
        return Found(
            history=self._history(), number=self._number, seen=judged.seen, breach=breach, slots=self._bound(desk),
            with_engines=self._others(desk, judged.seat.engine), features=self._features,
        )  # fmt: skip

    def _tell_evidence(self, desk: Desk, seat: Seat) -> None:
        tally = self._tallies.get(seat.engine)
        if tally is None:
            return
        for role, checks in sorted(tally.checks.items()):
            self._tell(
                Evidence(
                    self._chunk.suite, self._chunk.number, self._number, seat.engine, role, dict(checks),
                    with_engines=self._others(desk, seat.engine), features=self._features, operations=seat.operations,
                )
            )  # fmt: skip

    def _others(self, desk: Desk, engine: str) -> tuple[str, ...]:
        wrote = (seat.engine for seat in desk.seats if self._tallies.get(seat.engine, Tally()).wrote)
        return tuple(sorted(each for each in wrote if each != engine))

    @property
    def _features(self) -> tuple[str, ...]:
        return features_of(self._shape.properties) if self._shape else ()

    def _bound(self, desk: Desk) -> dict[str, str]:
        """Which engine sits in which slot of a shared table."""
        if self._chunk.suite != SHARED:
            return {}
        return {slot: desk.seats[at % len(desk.seats)].engine for at, slot in enumerate(SLOTS)}

    def _history(self) -> History:
        chunk = self._chunk
        return History(chunk.suite, chunk.profile, chunk.number, chunk.seed, tuple(self._steps))

    def _where(self, step: int) -> str:
        return f"{self._chunk.name}, history {self._number}, step {step}"


def features_of(properties: Properties) -> tuple[str, ...]:
    """The table features that a shape's properties switch on."""
    return tuple(
        sorted(FEATURES[key] for key, value in properties if key in FEATURES and value.lower() not in OFF)
    )
