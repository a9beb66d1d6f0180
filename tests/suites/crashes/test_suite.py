"""Chunks of the crash suite, as a worker plays them: their events, their evidence, and findings that replay."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.serialization import from_json, to_line
from conformance.events.types import (
    Event,
    Evidence,
    FaultOutcome,
    FindingFound,
    HistoryEnded,
    Note,
)
from conformance.fault_injection import shim_build
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.generation import TableShape
from conformance.generation.state_machine import draw
from conformance.histories import Chunk, Step
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from conformance.suites.context import SuiteContext
from conformance.suites.crashes.suite import CrashScenarios
from conformance.triage.replay import FAILS, replay
from delta_adapters.registry import parse_engine
from delta_models.operations import STORAGE_FAULTS, Operation
from tests.suites.chunks import play_chunks

EACH_POINT = Chunk("crashes", "dev", 0, 1, histories=1, table="changes")
TWICE = 1  # deltalake does not recognize its commit after a lost reply
DRAWN = Chunk("crashes", "dev", 0, 5, histories=2, steps=12)


def events_of(
    chunk: Chunk,
    instrumented_engines: InstrumentedEngines,
    folder: Path,
    engines: tuple[str, ...] = ("delta-rs",),
) -> list[Event]:
    events = play_chunks([parse_engine(engine) for engine in engines], [chunk], folder, instrumented_engines)
    assert [from_json(json.loads(to_line(event))) for event in events] == events, "a worker can't send it"
    return events


@pytest.fixture(scope="module")
def each_point(
    instrumented_engines: InstrumentedEngines, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Event], Path]:
    folder = tmp_path_factory.mktemp("each-point")
    return events_of(EACH_POINT, instrumented_engines, folder), folder


def test_each_point_of_a_committed_history_is_counted(each_point):
    events, _ = each_point
    (ended,) = [event for event in events if isinstance(event, HistoryEnded)]
    (evidence,) = [event for event in events if isinstance(event, Evidence) and event.role == "writer"]
    assert ended.crash_points == evidence.crash_points >= 20
    assert evidence.checks["crash.keeps-committed"] == ended.crash_points
    assert evidence.checks["crash.left-overs-kept"] > 0
    assert evidence.checks["crash.left-overs-removed"] > 0
    struck = [event for event in events if isinstance(event, FaultOutcome)]
    assert sum(event.points for event in struck) == ended.crash_points
    assert sum(event.before + event.after for event in struck) == ended.crash_points - TWICE
    assert struck[0].fault == "DeadTableAt"
    assert struck[0].left_over["data"] > struck[0].left_over["staging"] > 0


def test_other_engines_of_the_run_look_at_every_tenth_point(
    instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    events: list[Event] = []
    specs = [parse_engine(engine) for engine in ("delta-rs", "reference")]
    with EnginePool(specs, tmp_path / "hosts", events.append) as hosts:
        context = SuiteContext(
            hosts, FindingRecorder(tmp_path), events.append, lambda: False, instrumented_engines
        )
        CrashScenarios(context, EACH_POINT, tmp_path / "work", ["delta-rs"]).play_all()
    evidence = [event for event in events if isinstance(event, Evidence)]
    points = sum(event.crash_points for event in events if isinstance(event, HistoryEnded))
    assert {event.engine.partition("@")[0] for event in evidence if "crash.told-truly" in event.checks} == {
        "delta-rs"
    }
    read = {event.engine.partition("@")[0]: event.checks for event in evidence if event.role == "reader"}
    assert set(read) == {"delta-rs", "reference"}
    assert read["delta-rs"]["read.cold"] >= points
    assert read["reference"]["read.cold"] == points // 10


def test_the_only_finding_is_known_and_replays(each_point):
    events, folder = each_point
    findings = [event for event in events if isinstance(event, FindingFound)]
    assert {(finding.requirement, *finding.candidates) for finding in findings} == {
        ("crash.once", "delta-rs-commit-found-taken"),
        ("checksum.each-commit", "delta-rs-no-checksums"),
    }
    once = next(finding for finding in findings if finding.requirement == "crash.once")
    again = replay(folder / once.folder)
    assert again.exit == FAILS, again.text
    assert "crash.once" in again.text


def test_drawn_histories_with_faults_are_played(instrumented_engines: InstrumentedEngines, tmp_path: Path):
    events = events_of(DRAWN, instrumented_engines, tmp_path)
    assert [event for event in events if isinstance(event, FindingFound) and not event.candidates] == []
    assert sum(event.crash_points for event in events if isinstance(event, HistoryEnded)) > 0


def test_engines_that_read_each_others_tables_write_only_their_own(
    instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    events = events_of(DRAWN, instrumented_engines, tmp_path, ("delta-rs", "reference"))
    assert [
        event.detail for event in events if isinstance(event, FindingFound) and not event.candidates
    ] == []
    wrote = [event for event in events if isinstance(event, Evidence) and "crash.told-truly" in event.checks]
    assert {event.engine.partition("@")[0] for event in wrote} == {"delta-rs", "reference"}


class Listens:
    """A suite that only remembers the drawn steps."""

    def __init__(self) -> None:
        self.steps: list[Operation] = []

    def begin(self, history: int, shape: TableShape) -> None:
        pass

    def play(self, step: Step) -> None:
        self.steps.append(step.operation)

    def end(self) -> None:
        pass

    def is_over(self) -> bool:
        return False


def test_no_two_faults_are_drawn_for_one_operation():
    game = Listens()
    draw(DRAWN, game, shared=False, faulty=True)
    faults = [isinstance(step, STORAGE_FAULTS) for step in game.steps]
    assert any(faults)
    assert not faults[-1]
    assert not any(one and other for one, other in pairwise(faults))
    assert sum(not fault for fault in faults) == DRAWN.histories * DRAWN.steps


def test_examples_and_steps_hold_for_the_suite():
    plan = make_plan(
        load_profile("nightly"), 1, engines=("delta-rs",), suites=("crashes",), examples=3, steps=7
    )
    assert [(chunk.histories, chunk.steps, chunk.drawn_for) for chunk in plan.chunks] == [(3, 7, "faults")]


def test_without_a_compiler_there_is_a_note_and_no_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shim_build, "COMPILERS", ("no-such-compiler",))
    monkeypatch.setattr(shim_build, "cache_folder", lambda: tmp_path / "cache")
    notes: list[Event] = []
    instrumented_engines = InstrumentedEngines(
        {"delta-rs": parse_engine("delta-rs")}, tmp_path / "arena", notes.append
    )
    events = events_of(EACH_POINT, instrumented_engines, tmp_path)
    instrumented_engines.close()
    assert ["no C compiler" in note.message for note in notes if isinstance(note, Note)] == [True]
    assert not [event for event in events if isinstance(event, Evidence)]
