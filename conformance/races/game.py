"""Plays pairs of operations at once: in all orders of their gates, or in some that are drawn.

One race is judged while the engines read after the next, also where that is another pair's. All begin from one table,
which each group makes once a chunk; a table that is judged is made good and used again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from conformance.accounts import Account
from conformance.dealer import Dealer
from conformance.findings import FindingError
from conformance.history import Step
from conformance.plan import HISTORIES, Chunk
from conformance.player import Judged, play
from conformance.races.ahead import Ahead
from conformance.races.desk import RaceDesk
from conformance.races.drawn import tell_failures
from conformance.races.groups import Group, groups
from conformance.races.match import Match
from conformance.races.pairs import BEFORE, PAIRS, Pair
from conformance.races.witness import Witnesses
from conformance.spares import Spares
from conformance.strategies.dice import RandomDice
from conformance.turnstile.schedules import schedules
from delta_models.operations import Interleave, Operation
from delta_models.requirements import races

EVERY_ORDER = {
    "orders": PAIRS[:HISTORIES],
    "more-orders": PAIRS[HISTORIES:],
}  # by the name in a profile's plan


@dataclass(frozen=True, slots=True)
class _Turn:
    """A race that is to be played at a table of its own."""

    match: Match
    race: Interleave
    desk: RaceDesk


_orders = functools.cache(lambda *gates: tuple(schedules(gates)))
Closing = Callable[[], None]  # what is to be done once all turns before it are judged


class Races:
    """A chunk: a pair a history, each in so many orders as the chunk has steps, or in all."""

    def __init__(self, dealer: Dealer, chunk: Chunk, work: Path) -> None:
        self._dealer = dealer
        self._chunk = chunk
        self._work = work
        self._ended = 0
        self._dice = RandomDice(chunk.seed)
        self._witnesses = Witnesses(dealer, work / "again")
        self._tables: dict[tuple[str, ...], RaceDesk] = {}
        self._spares = Spares()
        self._laid = 0
        self._every = chunk.table in EVERY_ORDER
        some = EVERY_ORDER.get(chunk.table) or self._dice.some(PAIRS, chunk.histories)
        self._pairs = tuple(some)[: chunk.histories]

    @property
    def complete(self) -> bool:
        """Whether every pair was played."""
        return self._ended == len(self._pairs)

    def play_all(self) -> None:
        """One pair after another."""
        self._play(self._of_all())

    def play_pair(self, account: Account, stand: RaceDesk, pair: Pair, group: Group) -> bool:
        """Play a pair by a group; whether its engines can."""
        if not self._can(group, pair):
            return False
        self._play(self._of_pair(Match(account, group, stand, pair)))
        return True

    # What there is to play, made as it is asked for

    def _of_all(self) -> Iterator[_Turn | Closing]:
        for number, pair in enumerate(self._pairs):
            if self._dealer.is_over():
                return
            account = Account(self._chunk, number, self._dealer.keeper, self._dealer.tell)
            stands = []
            for at, group in enumerate(groups(self._dealer, self._chunk, number)):
                tag = f"{self._chunk.name}-{number}"
                stand = group.desk(self._dealer, self._work / f"{number}-{at}" / "table", tag)
                if self._can(group, pair):
                    stands.append(stand)
                    yield from self._of_pair(Match(account, group, stand, pair))
            yield partial(self._close, account, stands)

    def _close(self, account: Account, stands: Sequence[RaceDesk]) -> None:
        account.close(stands)
        self._ended += not self._dealer.is_over()

    def _of_pair(self, match: Match) -> Iterator[_Turn | Closing]:
        group, stand, pair = match.group, match.stand, match.pair
        group.declare(self._dealer, [rule.id for rule in races.REQUIREMENTS])
        stand.overlap = pair.overlap
        match.account.steps = []
        self._lay(match.account, group, stand)
        if not stand.plays:
            return
        gates = [
            self._gates(match.account, stand, place, operation)
            for place, operation in enumerate((pair.first, pair.second))
        ]
        orders = list(_orders(*gates))
        if not self._every:
            orders = self._dice.some(orders, self._chunk.steps)
        match.prelude = tuple(match.account.steps)
        for order in orders:
            if self._dealer.is_over():
                break
            yield _Turn(match, Interleave((pair.first, pair.second), order), self._table(stand))
        yield partial(self._tell, match)

    def _table(self, stand: RaceDesk) -> RaceDesk:
        """A table of its own for a race."""
        self._laid += 1
        # Straight into one folder: one of its own for each would cost half a millisecond.
        folder = self._work / "orders" / f"table-{self._laid}"
        self._spares.lay(stand.folder, folder)
        return stand.copy(folder)

    def _tell(self, match: Match) -> None:
        self._dealer.tell(match.raced())
        match.group.declare(self._dealer, match.broken)

    def _can(self, group: Group, pair: Pair) -> bool:
        missing = [
            reason
            for player, operation in zip(group.players, (pair.first, pair.second), strict=True)
            for reason in map(player.engine.capabilities.covers, (*BEFORE, operation))
            if reason is not None
        ]
        if missing:
            self._dealer.note(f"{group.name}: {missing[0]}: not asked")
        return not missing

    # Before a pair: mostly known already; else the engines are waited for

    def _lay(self, account: Account, group: Group, stand: RaceDesk) -> None:
        """Have the table from which all pairs begin: it is made once, and copied for others."""
        key = (*(each.actor.name for each in group.players), group.processes)
        known = self._tables.get(key)
        if known is not None:
            account.steps += map(Step, BEFORE)
            stand.folder = known.folder
            stand.begin_as(known)
            return
        self._wait()
        account.take(stand, stand.sit_down())
        for operation in BEFORE:
            self._step(account, group, stand, operation)
        if stand.plays:
            self._tables[key] = stand

    def _gates(self, account: Account, stand: RaceDesk, place: int, operation: Operation) -> int:
        """Through how many gates an operation goes alone: found once for all pairs, which begin from the same table."""
        known = self._dealer.arena.gates
        key = (stand.sitting[place].engine, stand.processes, operation)
        if key not in known:
            self._wait()
            alone = self._table(stand)
            account.take(alone, alone.sit_down())
            known[key] = alone.gates(place, operation)
            stand.count(alone)
        return known[key]

    def _wait(self) -> None:
        if self._witnesses.racing is not None:
            self._witnesses.racing.wait()

    # Playing

    def _play(self, turns: Iterable[_Turn | Closing]) -> None:
        """Each race before the last one is judged."""
        coming: tuple[_Turn, Ahead[list[Judged]]] | None = None
        closing: list[Closing] = []
        for each in turns:
            if not isinstance(each, _Turn):
                closing.append(each)
                continue
            if coming is not None:
                coming[1].wait()
                for player in coming[0].match.group.players:
                    self._dealer.arena.check(player)
            done, coming = coming, (each, Ahead(partial(each.desk.begin, each.race)))
            self._witnesses.racing = coming[1]
            coming[1].wait_until_eased()
            self._judge(done, closing)
        self._judge(coming, closing)

    def _judge(self, done: tuple[_Turn, Ahead[list[Judged]]] | None, closing: list[Closing]) -> None:
        if done is not None:
            turn, ahead = done
            match, desk = turn.match, turn.desk
            match.account.steps = list(match.prelude)
            match.account.take(desk, ahead.result())
            match.count(desk, self._step(match.account, match.group, desk, turn.race))
            for each in desk.raced:
                tell_failures(self._dealer, desk, each)
            self._spares.give_back(match.stand.folder, desk.folder)
        for close in closing:
            close()
        closing.clear()

    def _step(self, account: Account, group: Group, desk: RaceDesk, operation: Operation) -> list[Judged]:
        step = Step(operation)
        account.begin_step(step)
        found = []
        try:
            for _, judged in play([desk], step):
                found.append(judged)
                self._witnesses.take(account, group, desk, judged)
            account.played([each.engine for each in desk.seats])
        except (FindingError, OSError):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it says nothing of the engines
            account.harness_failed([desk])
        return found
