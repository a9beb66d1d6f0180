"""Two deltalakes at one table: what is known of them, what orders come to, and that they come to it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.serialization import from_json, to_line
from conformance.events.types import (
    Event,
    Evidence,
    FindingFound,
    HarnessFault,
    HistoryEnded,
    RaceOutcome,
)
from conformance.execution.step_result import StepResult
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings import key_of
from conformance.findings.known_deviations import known_deviation
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk, History, Step
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.races.session import RaceTableSession
from conformance.triage.replay import FAILS, replay
from delta_adapters.deviations import Deviation, all_deviations
from delta_adapters.registry import parse_engine
from delta_models.operations import Operation
from tests.mutants.stage import ALWAYS_KNOWN

KNOWN = [deviation for deviation in all_deviations() if deviation.history["suite"] == "races"]


@pytest.fixture(scope="module")
def instrumented_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    made = InstrumentedEngines(
        {"delta-rs": parse_engine("delta-rs")}, tmp_path_factory.mktemp("arena"), lambda _: None
    )
    yield made
    made.close()


def played(
    instrumented_engines: InstrumentedEngines, folder: Path, *operations: Operation
) -> list[StepResult]:
    players = [each for each in (instrumented_engines.get("delta-rs", place) for place in "AB") if each]
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


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry.name)
def test_its_smallest_history_still_shows_it(
    instrumented_engines: InstrumentedEngines, entry: Deviation, tmp_path: Path
):
    history = History.from_json(entry.history)
    result = played(instrumented_engines, tmp_path, *(step.operation for step in history.steps))
    keys = [key_of(each.observation, violation) for each in result for violation in each.violations]
    assert set(entry.fingerprints) <= {key.fingerprint for key in keys}, keys
    assert {known_deviation(key, history=history) for key in keys} | ALWAYS_KNOWN == {
        entry.name
    } | ALWAYS_KNOWN, keys


def test_a_chunk_tells_of_orders_and_conflicts_and_its_findings_replay(
    instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    told: list[Event] = []
    with EnginePool([parse_engine("delta-rs")], tmp_path / "hosts", told.append) as hosts:
        context = SuiteContext(
            hosts, FindingRecorder(tmp_path), told.append, lambda: False, instrumented_engines
        )
        play_chunk(context, Chunk("races", "dev", 0, 2, histories=15, steps=3), tmp_path / "work")
    assert [each for each in told if isinstance(each, HarnessFault)] == []
    assert [each.detail for each in told if isinstance(each, FindingFound) and not each.known] == []
    raced = [each for each in told if isinstance(each, RaceOutcome)]
    assert len(raced) == 15
    assert sum(each.schedules for each in raced) >= 40
    assert not any(each.conflicts for each in raced if each.documented == "cannot conflict")
    assert any(each.conflicts for each in raced)
    assert sum(each.schedules for each in told if isinstance(each, HistoryEnded)) >= 40
    assert {each.processes for each in told if isinstance(each, Evidence)} == {"several"}
    assert [from_json(json.loads(to_line(each))) for each in told] == told, "a worker can't send it"
    found = [each for each in told if isinstance(each, FindingFound)]
    expected = {"delta-rs-optimizes-double-rows", "delta-rs-append-refused-after-removal", *ALWAYS_KNOWN}
    assert {each.deviation for each in found} == expected
    assert replay(tmp_path / found[0].folder).exit == FAILS
