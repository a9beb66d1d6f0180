"""Plays one chunk of histories, whatever its suite.

Nothing here raises for what an engine does: violations are
recorded and reported as events, and the histories go on.
"""

from __future__ import annotations

import time
from pathlib import Path

from conformance.engine_pool import clear
from conformance.events.types import ChunkEnded, ChunkStarted
from conformance.generation.races import TABLES
from conformance.histories import REGRESSIONS, Chunk
from conformance.suites.base import Suite
from conformance.suites.context import SuiteContext
from conformance.suites.crashes.scenarios import scenarios_of
from conformance.suites.crashes.suite import CrashScenarios, GeneratedCrashes
from conformance.suites.examples.suite import WorkedExamples
from conformance.suites.generated import GeneratedHistories
from conformance.suites.given import given_histories
from conformance.suites.races.generated import GeneratedRaces
from conformance.suites.races.suite import RaceScenarios
from conformance.suites.regressions import KeptHistories


def play_chunk(context: SuiteContext, chunk: Chunk, work: Path) -> None:
    """Play a chunk, or as much of it as there is time for; its end is reported in any case."""
    start = time.monotonic()
    context.emit(ChunkStarted(chunk.suite, chunk.profile, chunk.number, chunk.seed))
    folder = work / chunk.name
    suite = suite_of(context, chunk, folder)
    try:
        suite.play_all()
    finally:
        clear(folder)
        seconds = round(time.monotonic() - start, 3)
        context.emit(ChunkEnded(chunk.suite, chunk.profile, chunk.number, suite.complete, seconds))


def suite_of(context: SuiteContext, chunk: Chunk, folder: Path) -> Suite:
    """The suite that plays a chunk."""
    if chunk.given:
        return given_histories(context, chunk, folder)
    match chunk.suite:
        case suite if suite == REGRESSIONS:
            return KeptHistories(context, chunk, folder)
        case "examples":
            return WorkedExamples(context, chunk, folder)
        case "crashes" if scenarios_of(chunk.table):
            return CrashScenarios(context, chunk, folder)
        case "crashes":
            return GeneratedCrashes(context, chunk, folder)
        case "races" if chunk.table in TABLES:
            return GeneratedRaces(context, chunk, folder)
        case "races":
            return RaceScenarios(context, chunk, folder)
    return GeneratedHistories(context, chunk, folder)
