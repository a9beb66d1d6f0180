"""Drawn races: each group of writers at its own table, findings kept by their smallest witness, which replay."""

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
    HarnessFault,
    HistoryEnded,
    RaceOutcome,
)
from conformance.execution.history_recorder import HistoryRecorder, features_of
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings import load_finding
from conformance.findings.recorder import FindingRecorder
from conformance.generation.races import TABLES, WEAKER
from conformance.histories import Chunk, Step
from conformance.runner.chunk import play_chunk
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

ADAPTERS = Path(delta_adapters.__file__).parent
LIARS = Path(__file__).parents[2] / "mutants" / "race_mutants.py"
SCHEMA = struct(("id", LONG))


def told_by(folder: Path, chunk: Chunk, *specs: str) -> list[Event]:
    """What a chunk tells."""
    told: list[Event] = []
    parsed = [parse_engine(spec) for spec in specs]
    instrumented_engines = InstrumentedEngines(
        {str(each): each for each in parsed}, folder / "arena", told.append
    )
    try:
        hosts = EnginePool(parsed, folder / "hosts", told.append)
        play_chunk(
            SuiteContext(hosts, FindingRecorder(folder), told.append, lambda: False, instrumented_engines),
            chunk,
            folder / "work",
        )
    finally:
        instrumented_engines.close()
    assert [each.detail for each in told if isinstance(each, HarnessFault)] == []
    return told


@pytest.fixture(scope="module")
def liar(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event]]:
    folder = tmp_path_factory.mktemp("liar")
    chunk = Chunk("races", "dev", 0, 3, histories=1, steps=12, table="drawn")
    return folder, told_by(folder, chunk, f"{LIARS}:ChecksNoConflict")


def test_what_is_found_is_kept_by_its_smallest_witness(liar: tuple[Path, list[Event]]):
    folder, told = liar
    found = [each for each in told if isinstance(each, FindingFound)]
    assert found
    for each in found:
        finding = load_finding(folder / each.folder)
        race = finding.history.steps[-1].operation
        assert isinstance(race, Interleave)
        assert len(race.operations) == 2
        assert len(finding.history.steps) <= 4
        assert len(finding.timeline) >= len(race.schedule)


def test_what_is_told_of_races_can_be_sent_by_a_worker(tmp_path: Path):
    told = told_by(tmp_path, Chunk("races", "dev", 0, 3, histories=3, steps=9, table="drawn"), "reference")
    assert any(isinstance(each, RaceOutcome) for each in told)
    assert [from_json(json.loads(to_line(each))) for each in told] == told


def test_it_replays(liar: tuple[Path, list[Event]]):
    folder, told = liar
    found = next(each for each in told if isinstance(each, FindingFound))
    assert replay(folder / found.folder).exit == FAILS


def test_a_race_of_three_writers_replays(tmp_path: Path):
    name = f"{LIARS}:ChecksNoConflict"
    told: list[Event] = []
    instrumented_engines = InstrumentedEngines({name: parse_engine(name)}, tmp_path / "arena", told.append)
    try:
        context = SuiteContext(
            EnginePool([], tmp_path / "hosts", told.append),
            FindingRecorder(tmp_path),
            told.append,
            bool,
            instrumented_engines,
        )
        writers = [player for place in "ABC" if (player := instrumented_engines.get(name, place)) is not None]
        table_session = WriterGroup(tuple(writers)).table_session(context, tmp_path / "table", "three")
        history_recorder = HistoryRecorder(
            Chunk("races", "dev", 0, 1), 0, context.finding_recorder, told.append
        )
        history_recorder.take(table_session, table_session.open_all())
        race = Interleave(tuple(_deletes(each) for each in (1, 2, 3)), (2, 0, 1, 1, 0, 2, 0, 2, 1))
        for operation in (Create(SCHEMA), Append(rows(1, 2, 3, 4)), race):
            history_recorder.begin_step(Step(operation))
            history_recorder.take(table_session, table_session.execute(Step(operation)))
    finally:
        instrumented_engines.close()
    found = [each for each in told if isinstance(each, FindingFound)]
    assert {each.requirement for each in found} & set(ANOMALIES), told
    finding = load_finding(tmp_path / found[0].folder)
    assert finding.history.steps[-1].operation == race
    assert {line.split()[0] for line in finding.timeline} == {"A", "B", "C"}
    assert replay(tmp_path / found[0].folder).exit == FAILS


def _deletes(number: int) -> Delete:
    return Delete(Compare("=", Column(("id",)), Literal(LONG, number)))


def test_every_group_plays_at_a_table_of_its_own_and_the_honest_are_not_heard(tmp_path: Path):
    chunk = Chunk("races", "dev", 0, 2, histories=1, steps=7, table="drawn")
    told = told_by(tmp_path, chunk, f"{LIARS}:Honest", "delta-rs")
    assert [each.detail for each in told if isinstance(each, FindingFound) and not each.known] == []
    played = [each for each in told if isinstance(each, Evidence) and "race.all-acknowledged" in each.checks]
    assert {each.engine.partition("@")[0] for each in played} == {"reference", "delta-rs"}
    assert any(each.with_engines for each in played)
    assert sum(each.schedules for each in told if isinstance(each, HistoryEnded)) >= 5


def test_cells_of_a_weaker_isolation_say_that_nothing_confirms_them():
    assert features_of(TABLES[WEAKER]) == ("writeSerializable, unconfirmed",)
    assert features_of((("delta.isolationLevel", "Serializable"),)) == ()


def test_only_who_promises_a_weaker_isolation_is_asked_for_it():
    promised = {
        name: json.loads((ADAPTERS / name / "capabilities.json").read_text())["guarantees"].get(
            PROMISE, False
        )
        for name in ("delta_rs", "delta_spark", "pyspark_engine")
    }
    assert promised == {"delta_rs": False, "delta_spark": False, "pyspark_engine": True}


def rows(*ids: int) -> Rows:
    return Rows(SCHEMA, tuple((identity,) for identity in ids))


def test_a_history_is_made_smaller_for_as_long_as_it_still_shows_it():
    race = Interleave(
        (Append(rows(7)), Delete(None), Append(rows(8))), (0, 1, 0, 1, 2, 2, 0, 1, 1, 0), (0, 1, 2)
    )
    steps = (Step(Create(SCHEMA)), Step(Append(rows(1, 2))), Step(Append(rows(3))), Step(race))
    model_history = ModelHistory()
    for each in steps[:-1]:
        model_history = model_history.after(each.operation)
    tried = []

    def attempt(candidate):
        """Shows where a delete of one writer is beside an append, is let through twice, and there is a row."""
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

    found = shrink(attempt, steps, model_history.table, 200)
    assert found is not None
    assert [step.operation for step in found[:-1]] == [Create(SCHEMA), Append(rows(3))]
    last = found[-1].operation
    assert sorted(name_of(operation) for operation in last.operations) == ["Append", "Delete"]
    assert len(last.schedule) == 2
    assert len(tried) < 200


def test_what_does_not_show_again_is_left_as_it_is():
    race = Step(Interleave((Append(rows(1)), Append(rows(2))), (0, 1)))
    assert (
        shrink(lambda _: None, (Step(Create(SCHEMA)), race), ModelHistory().after(Create(SCHEMA)).table, 10)
        is None
    )
