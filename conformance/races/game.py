"""Plays pairs of operations at once: in all orders of their gates, or in some that are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from conformance.accounts import Account
from conformance.copies import copies
from conformance.dealer import Dealer
from conformance.events import Raced
from conformance.findings import FindingError
from conformance.history import Step
from conformance.hosts import clear
from conformance.plan import HISTORIES, Chunk
from conformance.player import Judged, play
from conformance.races.ahead import Ahead
from conformance.races.desk import RaceDesk
from conformance.races.drawn import not_done, tell_failures
from conformance.races.groups import Group, groups
from conformance.races.pairs import BEFORE, PAIRS, Pair
from conformance.races.witness import Witnesses
from conformance.strategies.dice import RandomDice
from conformance.turnstile.schedules import schedules
from delta_models.concurrency import documented, isolation_of
from delta_models.operations import Interleave, Operation
from delta_models.requirements import races

EVERY_ORDER = {
    "orders": PAIRS[:HISTORIES],
    "more-orders": PAIRS[HISTORIES:],
}  # by the name in a profile's plan


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
        self._every = chunk.table in EVERY_ORDER
        some = EVERY_ORDER.get(chunk.table) or self._dice.some(PAIRS, chunk.histories)
        self._pairs = tuple(some)[: chunk.histories]

    @property
    def complete(self) -> bool:
        """Whether every pair was played."""
        return self._ended == len(self._pairs)

    def play_all(self) -> None:
        """One pair after another; what the one before has left is cleared away meanwhile."""
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="clearing") as aside:
            self._play_all(aside)
            for each in self._tables.values():
                aside.submit(clear, each.folder.parent)

    def _play_all(self, aside: ThreadPoolExecutor) -> None:
        for number, pair in enumerate(self._pairs):
            if self._dealer.is_over():
                return
            account = Account(self._chunk, number, self._dealer.keeper, self._dealer.tell)
            stands = []
            for at, group in enumerate(groups(self._dealer, self._chunk, number)):
                account.steps = []
                tag = f"{self._chunk.name}-{number}"
                stand = group.desk(self._dealer, self._work / f"{number}-{at}" / "table", tag)
                if self.play_pair(account, stand, pair, group):
                    stands.append(stand)
                aside.submit(clear, stand.folder.parent)
            account.close(stands)
            self._ended += not self._dealer.is_over()

    def play_pair(self, account: Account, stand: RaceDesk, pair: Pair, group: Group) -> bool:
        """Play a pair by a group; whether its engines can."""
        missing = [
            reason
            for player, operation in zip(group.players, (pair.first, pair.second), strict=True)
            for reason in map(player.engine.capabilities.covers, (*BEFORE, operation))
            if reason is not None
        ]
        if missing:
            self._dealer.note(f"{group.name}: {missing[0]}: not asked")
            return False
        group.declare(self._dealer, [rule.id for rule in races.REQUIREMENTS])
        stand.overlap = pair.overlap
        self._lay(account, group, stand)
        if stand.plays:
            group.declare(self._dealer, self._orders(account, group, stand, pair))
        return True

    def _lay(self, account: Account, group: Group, stand: RaceDesk) -> None:
        """Have the table from which all pairs begin; by an engine on a JVM it is made once, and copied for others."""
        key = (*(each.actor.name for each in group.players), group.processes)
        known = self._tables.get(key)
        if known is not None:
            account.steps += map(Step, BEFORE)
            stand.begin_as(known)
            return
        account.take(stand, stand.sit_down())
        for operation in BEFORE:
            self._step(account, group, stand, operation)
        if stand.plays and any(each.engine.heavy for each in group.players):
            self._tables[key] = stand.copy(self._work / f"table-{len(self._tables)}" / "table")

    def _orders(self, account: Account, group: Group, stand: RaceDesk, pair: Pair) -> set[str]:
        """Play the orders; which rules were broken."""
        folder = stand.folder.parent
        gates = [
            self._gates(account, stand, place, operation)
            for place, operation in enumerate((pair.first, pair.second))
        ]
        orders = list(schedules(gates))
        if not self._every:
            orders = self._dice.some(orders, self._chunk.steps)
        prelude, told, both = list(account.steps), Counter[str](), 0
        broken: set[str] = set()
        followed = asked = 0
        at_once = [Interleave((pair.first, pair.second), order) for order in orders]
        tables = copies(stand, folder / "orders", len(orders), kept=1)
        for scheduled, desk, lost in self._ahead(at_once, tables):
            account.steps = list(prelude)
            account.take(desk, lost)
            judged = self._step(account, group, desk, scheduled)
            stand.count(desk)
            broken |= {breach.requirement for each in judged for breach in each.breaches}
            race = next((each.seen.race for each in judged if each.seen.race is not None), None)
            refused = [] if race is None else not_done(race)
            told.update(refused)
            both += race is not None and not refused
            followed += desk.followed
            asked += desk.asked
            for each in desk.raced:
                tell_failures(self._dealer, desk, each)
        account.steps = prelude
        account.followed(stand, followed)
        self._dealer.tell(
            Raced(
                engines=tuple(each.engine for each in stand.sitting),
                operations=tuple(type(each).__name__ for each in (pair.first, pair.second)),
                overlap=pair.overlap, schedules=followed, both=both, conflicts=dict(told),
                documented=documented(pair.first, pair.second, pair.overlap, isolation_of(stand.world.table)),
                isolation=isolation_of(stand.world.table), unfollowed=asked - followed,
                processes=stand.processes,
            )
        )  # fmt: skip
        return broken

    def _ahead(
        self, races: Sequence[Interleave], desks: Iterable[RaceDesk]
    ) -> Iterator[tuple[Interleave, RaceDesk, list[Judged]]]:
        """Races that engines are through with, each while they are at the next, and who was lost before it began."""
        coming: tuple[Interleave, RaceDesk, Ahead[list[Judged]]] | None = None
        for race, desk in zip(races, desks, strict=True):
            if self._dealer.is_over():
                break
            if coming is not None:
                coming[2].wait()
            done, coming = coming, (race, desk, Ahead(partial(desk.begin, race)))
            self._witnesses.racing = coming[2]
            if done is not None:
                yield done[0], done[1], done[2].result()
        if coming is not None:
            yield coming[0], coming[1], coming[2].result()

    def _gates(self, account: Account, stand: RaceDesk, place: int, operation: Operation) -> int:
        """Through how many gates an operation goes alone: found once for all pairs, which begin from the same table."""
        known = self._dealer.arena.gates
        key = (stand.sitting[place].engine, stand.processes, operation)
        if key not in known:
            alone = stand.copy(stand.folder.parent / f"alone-{place}" / "table")
            account.take(alone, alone.sit_down())
            known[key] = alone.gates(place, operation)
            stand.count(alone)
        return known[key]

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
