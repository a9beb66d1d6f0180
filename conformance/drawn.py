"""Plays the histories that a machine draws, in *lockstep* or on a *shared* table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance import machine
from conformance.accounts import Account, features_of
from conformance.dealer import Dealer, seat_of
from conformance.findings import FindingError
from conformance.history import Step
from conformance.hosts import Engine, clear
from conformance.plan import Chunk
from conformance.player import Desk, Judged, play
from conformance.strategies import Shape

SHARED = "shared"
CRASHES = "crashes"
RACES = "races"


class Drawn:
    """The histories that a machine draws: see `machine.Game`."""

    def __init__(self, dealer: Dealer, chunk: Chunk, work: Path) -> None:
        self._dealer = dealer
        self._chunk = chunk
        self._work = work
        self._ended = 0
        self._folder = work
        self._desks: list[Desk] = []
        self._account: Account | None = None
        self._failure: Exception | None = None

    @property
    def complete(self) -> bool:
        """Whether every history came to its end."""
        return self._ended == self._chunk.histories

    def play_all(self) -> None:
        """Have the machine draw, and play what it draws. Raises what makes it useless to go on: storage that fails."""
        suite = self._chunk.suite
        machine.draw(
            self._chunk, self, shared=suite == SHARED, faulty=suite == CRASHES, racing=suite == RACES
        )
        if self._failure is not None:
            raise self._failure

    def is_over(self) -> bool:
        """Whether nothing more is wanted."""
        return self._failure is not None or self._dealer.is_over()

    def begin(self, history: int, shape: Shape) -> None:
        """Seat the engines that take part."""
        self._account = Account(
            self._chunk,
            history,
            self._dealer.keeper,
            self._dealer.tell,
            features=features_of(shape.properties),
        )
        self._folder = self._work / str(history)
        self._desks = self._seated(history, shape, f"{self._chunk.name}-{history}")
        for desk in self._desks:
            self._account.take(desk, desk.sit_down())

    def _seated(self, history: int, shape: Shape, tag: str) -> list[Desk]:
        """The tables of a history."""
        seats = [seat_of(each) for each in self._players(history, shape)]
        if self._chunk.suite == SHARED:
            turn = history % len(seats) if seats else 0
            tables = [seats[turn:] + seats[:turn]] if seats else []
        else:
            tables = [[each] for each in seats]
        return [
            Desk(self._folder / f"{number}" / "table", each, self._chunk.seed, tag)
            for number, each in enumerate(tables)
        ]

    def play(self, step: Step) -> None:
        """The next command, at every desk that still plays."""
        assert self._account is not None  # noqa: S101 - `begin` has set it
        self._account.begin_step(step)
        playing = [each for each in self._desks if each.plays]
        if not playing:
            return
        engines = [seat.engine for desk in playing for seat in desk.seats if seat.plays]
        try:
            for desk, judged in self._played(playing, step):
                self._account.take(desk, (judged,))
            self._account.played(engines)
        except (FindingError, OSError) as error:
            self._failure = error  # not here: Hypothesis would play the history again
        except Exception:  # noqa: BLE001 - whatever it is, it says nothing of the engines, and other histories go on
            self._account.harness_failed(self._desks)

    def _played(self, playing: Sequence[Desk], step: Step) -> Iterator[tuple[Desk, Judged]]:
        """A command at the desks that still play: side by side."""
        return play(playing, step)

    def end(self) -> None:
        """Close the account, and clear the table away."""
        assert self._account is not None  # noqa: S101 - `begin` has set it
        self._ended += len(self._account.steps) >= self._chunk.steps
        self._account.close(self._desks)
        for desk in self._desks:
            if desk.not_asked is not None:
                engines = ", ".join(each.engine for each in desk.seats)
                self._dealer.note(f"{engines}: {desk.not_asked}; later steps of such histories are not asked")
        clear(self._folder)
        self._desks = []

    def _players(self, history: int, shape: Shape) -> Iterator[Engine]:
        for engine in self._dealer.playing(self._chunk, history):
            reason = engine.capabilities.covers_table(
                shape.schema, shape.partition_by, dict(shape.properties)
            )
            if reason is None:
                yield engine
            else:
                self._dealer.note(f"{engine.name} {reason}: not asked in such histories")
