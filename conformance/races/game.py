"""Plays pairs of operations at once: in all orders of their gates, or in some that are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from conformance.accounts import Account
from conformance.dealer import Dealer, seat_of
from conformance.events import Declared, Raced
from conformance.findings import FindingError
from conformance.history import Step
from conformance.hosts import clear
from conformance.plan import HISTORIES, Chunk
from conformance.player import Judged, play
from conformance.races.desk import RaceDesk, promises
from conformance.races.pairs import BEFORE, PAIRS, Pair
from conformance.strategies.dice import RandomDice
from conformance.turnstile.arena import Player
from conformance.turnstile.schedules import schedules
from delta_models.concurrency import documented, isolation_of
from delta_models.operations import Interleave, Operation
from delta_models.outcomes import Rejected
from delta_models.requirements import BY_ID, races

EVERY_ORDER = {
    "orders": PAIRS[:HISTORIES],
    "more-orders": PAIRS[HISTORIES:],
}  # by the name in a profile's plan
WHY = "it promises commits of one process only on local files"


class Races:
    """A chunk: a pair a history, each in so many orders as the chunk has steps, or in all."""

    def __init__(self, dealer: Dealer, chunk: Chunk, work: Path) -> None:
        self._dealer = dealer
        self._chunk = chunk
        self._work = work
        self._ended = 0
        self._dice = RandomDice(chunk.seed)
        self._every = chunk.table in EVERY_ORDER
        some = EVERY_ORDER.get(chunk.table) or self._dice.some(PAIRS, chunk.histories)
        self._pairs = tuple(some)[: chunk.histories]

    @property
    def complete(self) -> bool:
        """Whether every pair was played."""
        return self._ended == len(self._pairs)

    def play_all(self) -> None:
        """One pair after another."""
        for number, pair in enumerate(self._pairs):
            if self._dealer.is_over():
                return
            for at, players in enumerate(self._players(number)):
                self._play(number, pair, players, self._work / f"{number}-{at}")
            self._ended += not self._dealer.is_over()

    def _players(self, history: int) -> Iterator[tuple[Player, Player]]:
        """Twins of each engine, then each engine beside another."""
        names = [
            name
            for name, each in self._dealer.hosts.specs.items()
            if not each.heavy or history in self._chunk.heavy
        ]
        pairs = [(name, name) for name in names if not self._dealer.hosts.specs[name].heavy]
        pairs += [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]]
        for one, other in pairs:
            first = self._dealer.arena.player(one)
            second = self._dealer.arena.player(other, "B" if one == other else "A")
            if first is not None and second is not None:
                # What is found of a pair counts for its first: let that be the one that promises less.
                yield (first, second) if _promises(second) or not _promises(first) else (second, first)

    def _play(self, number: int, pair: Pair, players: tuple[Player, Player], folder: Path) -> None:
        missing = [
            reason
            for player, operation in zip(players, (pair.first, pair.second), strict=True)
            for reason in map(player.engine.capabilities.covers, (*BEFORE, operation))
            if reason is not None
        ]
        if missing:
            self._dealer.note(
                f"{players[0].engine.name} beside {players[1].engine.name}: {missing[0]}: not asked"
            )
            return
        self._declare(players, [rule.id for rule in races.REQUIREMENTS])
        account = Account(self._chunk, number, self._dealer.keeper, self._dealer.tell, processes="several")
        stand = RaceDesk(
            folder / "table", [seat_of(each.engine) for each in players], [each.actor for each in players],
            self._dealer.arena.turnstile, f"{self._chunk.name}-{number}",
        )  # fmt: skip
        stand.overlap = pair.overlap
        account.take(stand, stand.sit_down())
        for operation in BEFORE:
            self._step(account, stand, operation)
        if stand.plays:
            self._declare(players, self._orders(account, stand, pair, folder))
        account.close([stand])
        clear(folder)

    def _declare(self, players: Sequence[Player], rules: Iterable[str]) -> None:
        """Say of the first engine what it says itself: that it does not guarantee this beside other processes."""
        engine = players[0].engine
        if not _promises(players[0]):
            for rule in rules:
                self._dealer.tell(
                    Declared(engine.name, rule, "not-guaranteed", WHY, BY_ID[rule].role, "several")
                )

    def _orders(self, account: Account, stand: RaceDesk, pair: Pair, folder: Path) -> set[str]:
        """Play the orders; which rules were broken."""
        gates = []
        for place, operation in enumerate((pair.first, pair.second)):
            alone = stand.copy(folder / f"alone-{place}" / "table")
            account.take(alone, alone.sit_down())
            gates.append(alone.gates(place, operation))
        orders = list(schedules(gates))
        if not self._every:
            orders = self._dice.some(orders, self._chunk.steps)
        prelude, told, both = list(account.steps), Counter[str](), 0
        broken: set[str] = set()
        for at, order in enumerate(orders):
            if self._dealer.is_over():
                break
            account.steps = list(prelude)
            desk = stand.copy(folder / f"order-{at}" / "table")
            account.take(desk, desk.sit_down())
            judged = self._step(account, desk, Interleave((pair.first, pair.second), order))
            broken |= {breach.requirement for each in judged for breach in each.breaches}
            race = next((each.seen.race for each in judged if each.seen.race is not None), None)
            refused = [each.kind for each in race.outcomes if isinstance(each, Rejected)] if race else []
            told.update(refused)
            both += race is not None and not refused
            account.schedules += desk.followed
            clear(desk.folder.parent)
        account.steps = prelude
        self._dealer.tell(
            Raced(
                engines=tuple(each.engine for each in stand.sitting),
                operations=tuple(type(each).__name__ for each in (pair.first, pair.second)),
                overlap=pair.overlap, schedules=account.schedules, both=both, conflicts=dict(told),
                documented=documented(pair.first, pair.second, pair.overlap, isolation_of(stand.world.table)),
                isolation=isolation_of(stand.world.table),
            )
        )  # fmt: skip
        return broken

    @staticmethod
    def _step(account: Account, desk: RaceDesk, operation: Operation) -> list[Judged]:
        step = Step(operation)
        account.begin_step(step)
        found = []
        try:
            for _, judged in play([desk], step):
                found.append(judged)
                account.take(desk, (judged,))
            account.played([each.engine for each in desk.seats])
        except (FindingError, OSError):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it says nothing of the engines
            account.harness_failed([desk])
        return found


def _promises(player: Player) -> bool:
    return promises(seat_of(player.engine))
