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
from conformance.findings import load_finding
from conformance.findings.recorder import FindingRecorder
from conformance.generation.races import TABLES, WEAKER
from conformance.generation.table_features import features_of
from conformance.histories import Chunk, Step
from conformance.suites.context import SuiteContext
from conformance.suites.races.shrinking import shrink
from conformance.suites.races.writer_groups import WEAKER as PROMISE
from conformance.suites.races.writer_groups import WriterGroup
from conformance.triage.replay import FAILS, replay
from delta_adapters.registry import parse_engine
from delta_models.concurrency import ANOMALIES
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, Create, Delete, Interleave
from delta_models.schema import LONG, struct
from delta_models.table import ModelHistory
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


def test_a_finding_keeps_the_smallest_race_that_shows_it(mutant_run: tuple[Path, list[Event]]):
    folder, events = mutant_run
    findings = [event for event in events if isinstance(event, FindingFound)]
    assert findings
    for event in findings:
        finding = load_finding(folder / event.folder)
        race = finding.history.steps[-1].operation
        assert isinstance(race, Interleave)
        assert len(race.operations) == 2
        assert len(finding.history.steps) <= 4
        assert len(finding.timeline) >= len(race.schedule)


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


def test_a_history_shrinks_as_long_as_it_still_fails():
    race = Interleave(
        (Append(rows(7)), Delete(None), Append(rows(8))), (0, 1, 0, 1, 2, 2, 0, 1, 1, 0), (0, 1, 2)
    )
    steps = (Step(Create(SCHEMA)), Step(Append(rows(1, 2))), Step(Append(rows(3))), Step(race))
    model_history = ModelHistory()
    for step in steps[:-1]:
        model_history = model_history.after(step.operation)
    tried = []

    def attempt(candidate):
        """Fail if a delete races with an append, gets at least two turns, and row 3 exists."""
        tried.append(candidate)
        kinds = [type(operation) for operation in candidate[-1].operation.operations]
        its_turns = candidate[-1].operation.owners[kinds.index(Delete)] if Delete in kinds else None
        ids = [
            row[0]
            for step in candidate[:-1]
            if isinstance(step.operation, Append)
            for row in step.operation.rows.rows
        ]
        shows = Append in kinds and candidate[-1].operation.schedule.count(its_turns) >= 2 and 3 in ids
        return object() if shows else None

    shrunk = shrink(attempt, steps, model_history.table, 200)
    assert shrunk is not None
    assert [step.operation for step in shrunk[:-1]] == [Create(SCHEMA), Append(rows(3))]
    last = shrunk[-1].operation
    assert sorted(name_of(operation) for operation in last.operations) == ["Append", "Delete"]
    assert len(last.schedule) == 2
    assert len(tried) < 200


def test_a_race_that_does_not_fail_again_is_left_unchanged():
    race = Step(Interleave((Append(rows(1)), Append(rows(2))), (0, 1)))
    assert (
        shrink(lambda _: None, (Step(Create(SCHEMA)), race), ModelHistory().after(Create(SCHEMA)).table, 10)
        is None
    )
