"""Who writes at once: twins of an engine, or engines beside each other, and what may be asked of their commits."""

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
    """Writers of one table. `processes` says how they publish: several at once, or several that take turns: then nobody
    is held between his look whether a version is free and his taking it who does not promise that this is one."""

    players: tuple[InstrumentedEngine, ...]
    processes: str = SEVERAL

    @property
    def name(self) -> str:
        """For people."""
        return " beside ".join(player.engine.name for player in self.players)

    def table_session(self, context: SuiteContext, folder: Path, tag: str) -> RaceTableSession:
        """A table for them."""
        table_session = RaceTableSession(
            folder, [engine_session_of(player.engine) for player in self.players],
            [player.instrumented_process for player in self.players],
            context.instrumented_engines.turnstile, tag,
        )  # fmt: skip
        table_session.processes = self.processes
        return table_session

    def declare(self, context: SuiteContext, rules: Iterable[str]) -> None:
        """Say of the first what it says itself: that it does not guarantee this beside other processes."""
        first = self.players[0]
        if self.processes != SEVERAL or promises(engine_session_of(first.engine)):
            return
        for rule in rules:
            context.tell(
                DeclaredClaim(first.engine.name, rule, "not-guaranteed", WHY, BY_ID[rule].role, SEVERAL)
            )


def groups(
    context: SuiteContext, chunk: Chunk, history: int, isolation: str = SERIALIZABLE, writers: int = 2
) -> Iterator[WriterGroup]:
    """Twins of each engine, then each engine beside another; a third writer is a twin of one that has no JVM.

    Who does not promise commits of several processes writes in turn first, and then as it is.
    """
    names = [
        name for name, spec in context.hosts.engines.items() if not spec.runs_on_jvm or history in chunk.heavy
    ]
    pairs = [(one, other) for at, one in enumerate(names) for other in names[at:]]
    for one, other in sorted(pairs, key=lambda pair: pair[0] != pair[1]):
        places = [(one, "A"), (other, "B" if one == other else "A")]
        third = next((each for each in (other, one) if not context.hosts.engines[each].runs_on_jvm), None)
        if writers > len(places) and third is not None:
            places.append((third, "C" if one == other else "B"))
        players = [context.instrumented_engines.get(*place) for place in places]
        found = tuple(player for player in players if player is not None)
        if len(found) < len(players) or not all(_lets(each, isolation) for each in found):
            continue
        # What is found of a group counts for its first: let that be the one that promises less.
        found = tuple(sorted(found, key=lambda each: promises(engine_session_of(each.engine))))
        if not promises(engine_session_of(found[0].engine)):
            yield WriterGroup(found, IN_TURN)
        yield WriterGroup(found)


def _lets(player: InstrumentedEngine, isolation: str) -> bool:
    """Whether an engine works at this level."""
    return isolation == SERIALIZABLE or player.engine.capabilities.guarantees.get(WEAKER, False)
