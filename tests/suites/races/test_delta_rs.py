"""Two deltalakes race at one table: the causes of it are still live, and findings replay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.events.serialization import from_json, to_line
from conformance.events.types import (
    Evidence,
    FindingFound,
    HistoryEnded,
    RaceOutcome,
)
from conformance.execution.step_result import StepResult
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.histories import Chunk, History, Step
from conformance.suites.context import engine_session_of
from conformance.suites.races.session import RaceTableSession
from conformance.triage.replay import FAILS, replay
from delta_adapters.deviations import Cause, all_causes
from delta_adapters.registry import parse_engine
from delta_models.operations import Operation
from tests.adapters.deviations.shown import assert_shown
from tests.mutants.stage import ALWAYS_KNOWN
from tests.suites.chunks import play_chunks

KNOWN = [cause for cause in all_causes() if cause.history["suite"] == "races"]


@pytest.fixture(scope="module")
def instrumented_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    made = InstrumentedEngines(
        {"delta-rs": parse_engine("delta-rs")}, tmp_path_factory.mktemp("arena"), lambda _: None
    )
    yield made
    made.close()


def play_steps(
    instrumented_engines: InstrumentedEngines, folder: Path, *operations: Operation
) -> list[StepResult]:
    players = [player for player in (instrumented_engines.get("delta-rs", place) for place in "AB") if player]
    engine_sessions, instrumented_processes = (
        [engine_session_of(player.engine) for player in players],
        [player.instrumented_process for player in players],
    )
    table_session = RaceTableSession(
        folder / "table", engine_sessions, instrumented_processes, instrumented_engines.turnstile, "t"
    )
    result = table_session.open_all()
    for operation in operations:
        result += table_session.execute(Step(operation))
    return result


@pytest.mark.parametrize("cause", KNOWN, ids=lambda cause: cause.id)
def test_the_minimal_history_of_a_cause_still_shows_it(
    instrumented_engines: InstrumentedEngines, cause: Cause, tmp_path: Path
):
    history = History.from_json(cause.history)
    result = play_steps(instrumented_engines, tmp_path, *(step.operation for step in history.steps))
    assert_shown(cause, result)


def test_a_chunk_emits_orders_and_conflicts_and_its_findings_replay(
    instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    chunk = Chunk("races", "dev", 0, 2, histories=15, steps=3)
    events = play_chunks([parse_engine("delta-rs")], [chunk], tmp_path, instrumented_engines)
    assert [
        event.detail for event in events if isinstance(event, FindingFound) and not event.candidates
    ] == []
    raced = [event for event in events if isinstance(event, RaceOutcome)]
    assert len(raced) == 15
    assert sum(event.schedules for event in raced) >= 40
    assert not any(event.conflicts for event in raced if event.documented == "cannot conflict")
    assert any(event.conflicts for event in raced)
    assert sum(event.schedules for event in events if isinstance(event, HistoryEnded)) >= 40
    assert {event.processes for event in events if isinstance(event, Evidence)} == {"several"}
    assert [from_json(json.loads(to_line(event))) for event in events] == events, "a worker can't send it"
    findings = [event for event in events if isinstance(event, FindingFound)]
    expected = {"delta-rs-optimizes-double-rows", "delta-rs-append-refused-after-removal", *ALWAYS_KNOWN}
    assert {cause for finding in findings for cause in finding.candidates} == expected
    assert replay(tmp_path / findings[0].folder).exit == FAILS
