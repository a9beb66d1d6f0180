"""Plays one chunk, whatever its suite.

The same code serves the command line's workers and pytest. Nothing here raises for what an engine does:
violations are recorded and told as events, and the histories go on.
"""

from __future__ import annotations

import time
from pathlib import Path

from conformance.crashes.game import DrawnCrashes, EachPoint
from conformance.crashes.groups import stories
from conformance.dealer import Dealer
from conformance.drawn import Drawn
from conformance.events import ChunkEnded, ChunkStarted
from conformance.hosts import clear
from conformance.plan import Chunk
from conformance.races.drawn import DrawnRaces
from conformance.races.game import Races
from conformance.strategies.schedules import TABLES
from conformance.worked import WorkedExamples


def play_chunk(dealer: Dealer, chunk: Chunk, work: Path) -> None:
    """All of a chunk, or as much as there is time for; what was played of it is told in any case."""
    start = time.monotonic()
    dealer.tell(ChunkStarted(chunk.suite, chunk.profile, chunk.number, chunk.seed))
    folder = work / chunk.name
    game = _game(dealer, chunk, folder)
    try:
        game.play_all()
    finally:
        clear(folder)
        seconds = round(time.monotonic() - start, 3)
        dealer.tell(ChunkEnded(chunk.suite, chunk.profile, chunk.number, game.complete, seconds))


def _game(dealer: Dealer, chunk: Chunk, folder: Path) -> Drawn | EachPoint | Races | WorkedExamples:
    match chunk.suite:
        case "examples":
            return WorkedExamples(dealer, chunk, folder)
        case "crashes":
            kind = EachPoint if stories(chunk.table) else DrawnCrashes
            return kind(dealer, chunk, folder)
        case "races":
            races = DrawnRaces if chunk.table in TABLES else Races
            return races(dealer, chunk, folder)
    return Drawn(dealer, chunk, folder)
