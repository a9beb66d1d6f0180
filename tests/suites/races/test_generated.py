"""Drawn races: each group of writers has its own table, and findings are shrunk and replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import delta_adapters
from conformance.engine_pool import EnginePool
from conformance.events.serialization import from_json, to_line
from conformance.events.types import (
    Event,
    Evidence,
    FindingFound,
    HistoryEnded,
    RaceOutcome,
)
from conformance.execution.history_recorder import HistoryRecorder
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings import Finding, load_finding
from conformance.findings.recorder import FindingRecorder
from conformance.generation.races import TABLES, WEAKER
from conformance.generation.table_features import features_of
from conformance.histories import Chunk, Step
from conformance.suites.context import SuiteContext
from conformance.suites.races.writer_groups import WEAKER as PROMISE
from conformance.suites.races.writer_groups import WriterGroup
from conformance.triage.replay import FAILS, replay
from conformance.triage.replayer import Replayer
from conformance.triage.shrink_command import shrink_finding
from delta_adapters.registry import parse_engine
from delta_models.concurrency import ANOMALIES
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, Create, Delete, Interleave
from delta_models.schema import LONG, struct
from delta_models.values import Rows
from delta_models.wire_names import name_of
from tests.suites.chunks import play_chunks

ADAPTERS = Path(delta_adapters.__file__).parent
RACE_MUTANTS = Path(__file__).parents[2] / "mutants" / "race_mutants.py"
SCHEMA = struct(("id", LONG))


def play_races(folder: Path, chunk: Chunk, *specs: str) -> list[Event]:
    """Play one chunk and return its events."""
    return play_chunks([parse_engine(spec) for spec in specs], [chunk], folder)


@pytest.fixture(scope="module")
def mutant_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event]]:
    folder = tmp_path_factory.mktemp("mutant")
    chunk = Chunk("races", "dev", 0, 3, histories=1, steps=12, table="drawn")
    return folder, play_races(folder, chunk, f"{RACE_MUTANTS}:ChecksNoConflict")


def sightings(run: tuple[Path, list[Event]]) -> dict[str, Finding]:
    folder, events = run
    found = {event.folder: event for event in events if isinstance(event, FindingFound)}
    return {name: load_finding(folder / name) for name in found}


def test_a_sighting_of_a_race_keeps_the_steps_as_they_were_played(mutant_run: tuple[Path, list[Event]]):
    kept = sorted(sightings(mutant_run).values(), key=lambda finding: finding.step)
    assert kept
    longest = kept[-1].history.steps
    for finding in kept:
        race = finding.history.steps[-1].operation
        assert isinstance(race, Interleave)
        assert finding.history.steps == longest[: finding.step + 1]
        assert finding.timeline


def test_the_sighting_of_a_race_shrinks_to_two_operations_at_once(mutant_run: tuple[Path, list[Event]]):
    folder, _ = mutant_run
    found = sightings(mutant_run)
    lost = {name: one for name, one in found.items() if one.key.requirement in ANOMALIES}
    largest = max(lost, key=lambda name: len(lost[name].history.steps))
    with Replayer() as replayer:
        result = shrink_finding(folder / largest, replayer, seconds=300)
    assert result.shrunk.reproduced, result.text
    assert result.shrunk.complete, result.text
    *before, race = [step.operation for step in result.shrunk.history.steps]
    assert [name_of(operation) for operation in before] in (["Create"], ["Create", "Append"])
    assert isinstance(race, Interleave)
    assert len(race.operations) == 2
    assert load_finding(folder / largest).minimal == result.shrunk.history


def test_a_worker_can_send_the_events_of_races(tmp_path: Path):
    events = play_races(
        tmp_path, Chunk("races", "dev", 0, 3, histories=3, steps=9, table="drawn"), "reference"
    )
    assert any(isinstance(event, RaceOutcome) for event in events)
    assert [from_json(json.loads(to_line(event))) for event in events] == events


def test_a_finding_of_a_race_replays(mutant_run: tuple[Path, list[Event]]):
    folder, events = mutant_run
    finding_event = next(event for event in events if isinstance(event, FindingFound))
    assert replay(folder / finding_event.folder).exit == FAILS


def test_a_race_of_three_writers_replays(tmp_path: Path):
    name = f"{RACE_MUTANTS}:ChecksNoConflict"
    events: list[Event] = []
    instrumented_engines = InstrumentedEngines({name: parse_engine(name)}, tmp_path / "arena", events.append)
    try:
        context = SuiteContext(
            EnginePool([], tmp_path / "hosts", events.append),
            FindingRecorder(tmp_path),
            events.append,
            bool,
            instrumented_engines,
        )
        writers = [player for place in "ABC" if (player := instrumented_engines.get(name, place)) is not None]
        table_session = WriterGroup(tuple(writers)).table_session(context, tmp_path / "table", "three")
        history_recorder = HistoryRecorder(
            Chunk("races", "dev", 0, 1), 0, context.finding_recorder, events.append
        )
        history_recorder.take(table_session, table_session.open_all())
        race = Interleave(tuple(_deletes(row) for row in (1, 2, 3)), (2, 0, 1, 1, 0, 2, 0, 2, 1))
        for operation in (Create(SCHEMA), Append(rows(1, 2, 3, 4)), race):
            history_recorder.begin_step(Step(operation))
            history_recorder.take(table_session, table_session.execute(Step(operation)))
    finally:
        instrumented_engines.close()
    findings = [event for event in events if isinstance(event, FindingFound)]
    assert {finding.requirement for finding in findings} & set(ANOMALIES), events
    finding = load_finding(tmp_path / findings[0].folder)
    assert finding.history.steps[-1].operation == race
    assert {line.split()[0] for line in finding.timeline} == {"A", "B", "C"}
    assert replay(tmp_path / findings[0].folder).exit == FAILS


def _deletes(number: int) -> Delete:
    return Delete(Compare("=", Column(("id",)), Literal(LONG, number)))


def test_every_group_has_its_own_table_and_honest_engines_break_nothing(tmp_path: Path):
    chunk = Chunk("races", "dev", 0, 2, histories=1, steps=7, table="drawn")
    events = play_races(tmp_path, chunk, f"{RACE_MUTANTS}:Honest", "delta-rs")
    assert [
        event.detail for event in events if isinstance(event, FindingFound) and not event.candidates
    ] == []
    writers = [
        event for event in events if isinstance(event, Evidence) and "race.all-acknowledged" in event.checks
    ]
    assert {event.engine.partition("@")[0] for event in writers} == {"reference", "delta-rs"}
    assert any(event.with_engines for event in writers)
    assert sum(event.schedules for event in events if isinstance(event, HistoryEnded)) >= 5


def test_cells_of_a_weaker_isolation_say_that_nothing_confirms_them():
    assert features_of(TABLES[WEAKER]) == ("writeSerializable, unconfirmed",)
    assert features_of((("delta.isolationLevel", "Serializable"),)) == ()


def test_only_engines_that_promise_a_weaker_isolation_are_tested_for_it():
    promised = {
        name: json.loads((ADAPTERS / name / "capabilities.json").read_text())["guarantees"].get(
            PROMISE, False
        )
        for name in ("delta_rs", "delta_spark", "pyspark_engine")
    }
    assert promised == {"delta_rs": False, "delta_spark": False, "pyspark_engine": True}


def rows(*ids: int) -> Rows:
    return Rows(SCHEMA, tuple((identity,) for identity in ids))
