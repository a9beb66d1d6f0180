"""Plays histories with faults: those that a machine draws, and the committed small ones at each of their events."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from conformance.accounts import Account, features_of
from conformance.copies import copies
from conformance.crashes.desk import CrashDesk
from conformance.crashes.groups import KILLED, stories
from conformance.crashes.stories import Story, faults_of
from conformance.dealer import Dealer, seat_of
from conformance.drawn import Drawn
from conformance.findings import FindingError
from conformance.history import Step
from conformance.hosts import Engine, clear
from conformance.plan import Chunk
from conformance.player import Desk, Judged, play
from conformance.seats import Seat
from conformance.strategies import Shape
from conformance.turnstile.actor import NotSeen
from conformance.turnstile.arena import Player
from delta_models.operations import STORAGE_FAULTS, AdvanceClock, Append, Create, Operation, Pour, ReadChanges
from delta_models.outcomes import Committed, NoChange
from delta_models.wire_names import name_of, text_of

SWEEPS_EVERY = 12  # points after which an engine on a JVM vacuums what is left over


class DrawnCrashes(Drawn):
    """Histories that a machine draws, with a fault before some of their operations.

    Who writes to one table reads the others', so tables are played one after another, everybody back at his own.
    """

    def __init__(self, dealer: Dealer, chunk: Chunk, work: Path) -> None:
        super().__init__(dealer, chunk, work)
        self._at: Desk | None = None  # whose table the engines address

    def _played(self, playing: Sequence[Desk], step: Step) -> Iterator[tuple[Desk, Judged]]:
        for desk in playing:
            if self._at is not desk and isinstance(desk, CrashDesk):
                yield from ((desk, judged) for judged in desk.come_back())
            self._at = desk
            yield from play([desk], step)

    def _seated(self, history: int, shape: Shape, tag: str) -> list[Desk]:
        desks: list[Desk] = []
        for at, (player, readers) in enumerate(_players(self._dealer, self._chunk, history)):
            reason = player.engine.capabilities.covers_table(
                shape.schema, shape.partition_by, dict(shape.properties)
            )
            if reason is None:
                folder = self._folder / f"{at}" / "table"
                desks.append(_desk(folder, player, readers, self._chunk, tag))
            else:
                self._dealer.note(f"{player.engine.name} {reason}: not asked in such histories")
        self._at = desks[-1] if desks else None  # who sits down last
        return desks


class EachPoint:
    """Committed histories: whatever may happen to an operation happens to it, each on a copy of one table.

    `writers` are those engines of the run that play, without it all that can; the others read.
    """

    def __init__(
        self, dealer: Dealer, chunk: Chunk, work: Path, writers: Collection[str] | None = None
    ) -> None:
        self._dealer = dealer
        self._chunk = chunk
        self._work = work
        self._ended = 0
        self._stories = stories(chunk.table)[: chunk.histories]
        self._writers = writers
        self._kill = chunk.table.startswith(KILLED)

    @property
    def complete(self) -> bool:
        """Whether every story was played to its end."""
        return self._ended == len(self._stories)

    def play_all(self) -> None:
        """One story after the other."""
        for number, story in enumerate(self._stories):
            if self._dealer.is_over():
                return
            self._play(number, story)
            self._ended += not self._dealer.is_over()

    def _play(self, number: int, story: Story) -> None:
        asked = [
            each
            for each in (*story.before, story.operation)
            if not isinstance(each, (AdvanceClock, *STORAGE_FAULTS))
        ]
        create = next((each for each in asked if isinstance(each, Create)), None)
        account = Account(
            self._chunk,
            number,
            self._dealer.keeper,
            self._dealer.tell,
            features=features_of(create.properties if create else ()),
        )
        told: list[Desk] = []
        for at, (player, readers) in enumerate(_players(self._dealer, self._chunk, number)):
            if self._writers is not None and str(player.engine.spec) not in self._writers:
                continue
            missing = next(filter(None, map(player.engine.capabilities.covers, asked)), None)
            if missing is not None:
                self._dealer.note(f"{player.engine.name} {missing}: not asked in such histories")
                continue
            folder = self._work / str(number) / str(at)
            stand = _desk(folder / "table", player, readers, self._chunk, self._chunk.name)
            told.append(stand)
            self._cut(account, stand, story)
        account.close(told)
        clear(self._work / str(number))

    def _cut(self, account: Account, stand: CrashDesk, story: Story) -> None:
        """All that may happen to the story's operation at one engine."""
        account.take(stand, stand.sit_down())
        for each in story.before:
            self._step(account, stand, each)
        if not stand.plays:
            return
        whole = stand.copy(stand.folder.parent / "whole" / "table")
        account.take(whole, whole.sit_down())
        outcome, record = whole.record(story.operation)
        try:
            whole.actor.check_seen(alone=True)
        except NotSeen:
            self._dealer.arena.player(str(stand.seats[0].host.spec))  # the arena says so, and has it no more
            return
        if not isinstance(outcome, Committed | NoChange):
            self._dealer.note(
                f"{stand.seats[0].engine}: {name_of(story.operation)} fails by itself, {text_of(outcome)}"
            )
            return
        prelude = list(account.steps)
        faults = list(faults_of(record, kill=self._kill))
        points = copies(stand, stand.folder.parent / "points", len(faults))
        for at, (desk, fault) in enumerate(zip(points, faults, strict=True)):
            if self._dealer.is_over():
                return
            account.steps = list(prelude)
            desk.earlier = stand.struck
            account.take(desk, desk.sit_down())
            sweeps = not desk.seats[0].dear or at % SWEEPS_EVERY == SWEEPS_EVERY - 1
            for each in (fault, story.operation, *(story.afterwards if sweeps else _briefly(story))):
                if desk.plays:
                    self._step(account, desk, each)
            stand.struck += desk.struck
            stand.seats[0].operations += desk.seats[0].operations
            stand.seats[0].seconds += desk.seats[0].seconds
        account.steps = prelude

    @staticmethod
    def _step(account: Account, desk: Desk, operation: Operation) -> None:
        step = Step(operation)
        account.begin_step(step)
        try:
            for _, judged in play([desk], step):
                account.take(desk, (judged,))
            account.played([desk.seats[0].engine])
        except (FindingError, OSError):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it says nothing of the engines
            account.harness_failed([desk])


def _briefly(story: Story) -> tuple[Operation, ...]:
    """What an engine on a JVM does afterwards, mostly: until it has written once, and what changes it tells of."""
    after = story.afterwards
    until = next((at for at, each in enumerate(after, 1) if isinstance(each, Append | Pour)), 1)
    return (*after[:until], *(each for each in after[until:] if isinstance(each, ReadChanges)))


def _desk(folder: Path, player: Player, readers: list[Seat], chunk: Chunk, tag: str) -> CrashDesk:
    return CrashDesk(folder, [seat_of(player.engine), *readers], player.actor, chunk.seed, tag)


def _players(dealer: Dealer, chunk: Chunk, history: int) -> Iterator[tuple[Player, list[Seat]]]:
    """The engines that take part in a history, each with the others, which read."""
    names = [
        name for name, engine in dealer.hosts.specs.items() if not engine.heavy or history in chunk.heavy
    ]
    for name in names:
        player = dealer.arena.player(name)
        if player is not None:
            yield player, [seat_of(each) for each in _others(dealer, names, name)]


def _others(dealer: Dealer, names: list[str], name: str) -> Iterator[Engine]:
    for other in names:
        player = dealer.arena.player(other) if other != name else None
        if player is not None:
            yield player.engine
