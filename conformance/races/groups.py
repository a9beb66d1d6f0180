"""Who writes at once: twins of an engine, or engines beside each other, and what may be asked of their commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.dealer import Dealer, seat_of
from conformance.events import Declared
from conformance.plan import Chunk
from conformance.races.desk import IN_TURN, SEVERAL, RaceDesk, promises
from conformance.turnstile.arena import Player
from delta_models.concurrency import SERIALIZABLE
from delta_models.requirements import BY_ID

WHY = "it promises commits of one process only on local files"
WEAKER = "write-serializable"  # in a capability document: an engine that lets a table ask for less


@dataclass(frozen=True, slots=True)
class Group:
    """Writers of one table. `processes` says how they publish: several at once, or several that take turns: then nobody
    is held between his look whether a version is free and his taking it who does not promise that this is one."""

    players: tuple[Player, ...]
    processes: str = SEVERAL

    @property
    def name(self) -> str:
        """For people."""
        return " beside ".join(each.engine.name for each in self.players)

    def desk(self, dealer: Dealer, folder: Path, tag: str) -> RaceDesk:
        """A table for them."""
        desk = RaceDesk(
            folder, [seat_of(each.engine) for each in self.players], [each.actor for each in self.players],
            dealer.arena.turnstile, tag,
        )  # fmt: skip
        desk.processes = self.processes
        return desk

    def declare(self, dealer: Dealer, rules: Iterable[str]) -> None:
        """Say of the first what it says itself: that it does not guarantee this beside other processes."""
        first = self.players[0]
        if self.processes != SEVERAL or promises(seat_of(first.engine)):
            return
        for rule in rules:
            dealer.tell(Declared(first.engine.name, rule, "not-guaranteed", WHY, BY_ID[rule].role, SEVERAL))


def groups(
    dealer: Dealer, chunk: Chunk, history: int, isolation: str = SERIALIZABLE, writers: int = 2
) -> Iterator[Group]:
    """Twins of each engine, then each engine beside another; a third writer is a twin of one that has no JVM.

    Who does not promise commits of several processes writes in turn first, and then as it is.
    """
    names = [name for name, each in dealer.hosts.specs.items() if not each.heavy or history in chunk.heavy]
    pairs = [(one, other) for at, one in enumerate(names) for other in names[at:]]
    for one, other in sorted(pairs, key=lambda pair: pair[0] != pair[1]):
        places = [(one, "A"), (other, "B" if one == other else "A")]
        third = next((each for each in (other, one) if not dealer.hosts.specs[each].heavy), None)
        if writers > len(places) and third is not None:
            places.append((third, "C" if one == other else "B"))
        players = [dealer.arena.player(*each) for each in places]
        found = tuple(each for each in players if each is not None)
        if len(found) < len(players) or not all(_lets(each, isolation) for each in found):
            continue
        # What is found of a group counts for its first: let that be the one that promises less.
        found = tuple(sorted(found, key=lambda each: promises(seat_of(each.engine))))
        if not promises(seat_of(found[0].engine)):
            yield Group(found, IN_TURN)
        yield Group(found)


def _lets(player: Player, isolation: str) -> bool:
    """Whether an engine works at this level."""
    return isolation == SERIALIZABLE or player.engine.capabilities.guarantees.get(WEAKER, False)
