"""Plays one chunk, whatever its suite.

The same code serves the command line's workers and pytest. Nothing here raises for what an engine does:
violations are recorded and told as events, and the histories go on.
"""

from __future__ import annotations

import time
from pathlib import Path

from conformance.engine_pool import clear
from conformance.events.types import ChunkEnded, ChunkStarted
from conformance.generation.races import TABLES
from conformance.histories import Chunk
from conformance.suites.context import SuiteContext
from conformance.suites.crashes.scenario_groups import stories
from conformance.suites.crashes.suite import CrashScenarios, GeneratedCrashes
from conformance.suites.examples.suite import WorkedExamples
from conformance.suites.generated import GeneratedHistories
from conformance.suites.races.generated import GeneratedRaces
from conformance.suites.races.suite import RaceScenarios


def play_chunk(context: SuiteContext, chunk: Chunk, work: Path) -> None:
    """All of a chunk, or as much as there is time for; what was played of it is told in any case."""
    start = time.monotonic()
    context.tell(ChunkStarted(chunk.suite, chunk.profile, chunk.number, chunk.seed))
    folder = work / chunk.name
    game = _game(context, chunk, folder)
    try:
        game.play_all()
    finally:
        clear(folder)
        seconds = round(time.monotonic() - start, 3)
        context.tell(ChunkEnded(chunk.suite, chunk.profile, chunk.number, game.complete, seconds))


def _game(
    context: SuiteContext, chunk: Chunk, folder: Path
) -> GeneratedHistories | CrashScenarios | RaceScenarios | WorkedExamples:
    match chunk.suite:
        case "examples":
            return WorkedExamples(context, chunk, folder)
        case "crashes":
            kind = CrashScenarios if stories(chunk.table) else GeneratedCrashes
            return kind(context, chunk, folder)
        case "races":
            races = GeneratedRaces if chunk.table in TABLES else RaceScenarios
            return races(context, chunk, folder)
    return GeneratedHistories(context, chunk, folder)
