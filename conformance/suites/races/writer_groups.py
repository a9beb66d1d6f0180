"""Which engines write at once: twins of one engine or two engines, and how they publish their commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.events.types import DeclaredClaim
from conformance.fault_injection.instrumented_engines import InstrumentedEngine
from conformance.histories import Chunk
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.races.session import IN_TURN, SEVERAL, RaceTableSession, promises
from delta_models.concurrency import SERIALIZABLE
from delta_models.requirements import BY_ID

WHY = "it promises commits of one process only on local files"
WEAKER = "write-serializable"  # in a capability document: an engine that lets a table ask for less


@dataclass(frozen=True, slots=True)
class WriterGroup:
    """Writers of one table.

    `processes` says how they publish: several at once, or several that take turns. An engine that does not promise that
    finding a version free and taking it is one action is then not held between the two.
    """

    players: tuple[InstrumentedEngine, ...]
    processes: str = SEVERAL

    @property
    def name(self) -> str:
        """For people."""
        return " beside ".join(player.engine.name for player in self.players)

    def table_session(self, context: SuiteContext, folder: Path, tag: str) -> RaceTableSession:
        """A table for these writers."""
        return RaceTableSession(
            folder,
            [engine_session_of(player.engine) for player in self.players],
            [player.instrumented_process for player in self.players],
            context.instrumented_engines.turnstile,
            tag,
            processes=self.processes,
        )

    def declare(self, context: SuiteContext, requirements: Iterable[str]) -> None:
        """Report that the first engine does not guarantee this beside other processes, if it says so itself."""
        first = self.players[0]
        if self.processes != SEVERAL or promises(engine_session_of(first.engine)):
            return
        for requirement in requirements:
            role = BY_ID[requirement].role
            context.emit(DeclaredClaim(first.engine.name, requirement, "not-guaranteed", WHY, role, SEVERAL))


def writer_groups_of(
    context: SuiteContext, chunk: Chunk, history: int, isolation: str = SERIALIZABLE, writers: int = 2
) -> Iterator[WriterGroup]:
    """Twins of each engine, then each engine beside another; a third writer is a twin of one that has no JVM.

    Engines that do not promise commits of several processes write in turn first, and then as they are.
    """
    names = context.engines_of(chunk, history)
    engines = context.engine_pool.engines
    pairs = [(one, other) for position, one in enumerate(names) for other in names[position:]]
    for one, other in sorted(pairs, key=lambda pair: pair[0] != pair[1]):
        places = [(one, "A"), (other, "B" if one == other else "A")]
        third = next((name for name in (other, one) if not engines[name].runs_on_jvm), None)
        if writers > len(places) and third is not None:
            places.append((third, "C" if one == other else "B"))
        found = [context.instrumented_engines.get(*place) for place in places]
        players = [player for player in found if player is not None]
        if len(players) < len(places) or not all(_offers(player, isolation) for player in players):
            continue
        # Findings of a group count for its first engine: let that be the one that promises less.
        players.sort(key=lambda player: promises(engine_session_of(player.engine)))
        if not promises(engine_session_of(players[0].engine)):
            yield WriterGroup(tuple(players), IN_TURN)
        yield WriterGroup(tuple(players))


def _offers(player: InstrumentedEngine, isolation: str) -> bool:
    """Whether an engine works at this level."""
    return isolation == SERIALIZABLE or player.engine.capabilities.guarantees.get(WEAKER, False)
