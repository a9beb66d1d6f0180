"""Plays one chunk, whatever its suite.

The same code serves the command line's workers and pytest. Nothing here raises for what an engine does:
violations are recorded and told as events, and the histories go on.
"""

from __future__ import annotations

import time
from pathlib import Path

from conformance.dealer import Dealer
from conformance.drawn import Drawn
from conformance.events import ChunkEnded, ChunkStarted
from conformance.hosts import clear
from conformance.plan import Chunk
from conformance.worked import WorkedExamples

EXAMPLES = "examples"


def play_chunk(dealer: Dealer, chunk: Chunk, work: Path) -> None:
    """All of a chunk, or as much as there is time for; what was played of it is told in any case."""
    start = time.monotonic()
    dealer.tell(ChunkStarted(chunk.suite, chunk.profile, chunk.number, chunk.seed))
    folder = work / chunk.name
    game = WorkedExamples(dealer, chunk, folder) if chunk.suite == EXAMPLES else Drawn(dealer, chunk, folder)
    try:
        game.play_all()
    finally:
        clear(folder)
        seconds = round(time.monotonic() - start, 3)
        dealer.tell(ChunkEnded(chunk.suite, chunk.profile, chunk.number, game.complete, seconds))
