"""The reserve is played for evidence that did not come, and for nothing else."""

from __future__ import annotations

from pathlib import Path

from conformance.events.types import EngineReady, Event, Evidence, EvidenceThreshold, FindingFound, Note
from conformance.histories import Chunk
from conformance.options import RunOptions
from conformance.planning.plan import Plan
from conformance.planning.profile import load_profile
from conformance.planning.top_up import ReservedChunk
from conformance.reporting.recorder import Recorder
from conformance.runner.coordinator import run_plan
from conformance.runner.reserve import IN_VAIN, Reserve
from delta_adapters.registry import parse_engine

ENGINE = "reference@1"
APPENDS = EvidenceThreshold("contents.append", "reference", "lockstep", checks=4, histories=2)
REFUSALS = EvidenceThreshold("outcome.classified", "reference", "lockstep", checks=1, histories=1)


def chunk(number: int, focus: str, steps: int = 6) -> Chunk:
    return Chunk("lockstep", "ci", number, number, 1, steps, (), focus)


def reserved(number: int, focus: str) -> ReservedChunk:
    return ReservedChunk(focus, chunk(number, focus))


def plan(*core: EvidenceThreshold, reserve: tuple[ReservedChunk, ...] = ()) -> Plan:
    return Plan(load_profile("ci"), 1, ("lockstep",), (chunk(0, "appends", 2),), core, reserve)


def evidence(requirement: str, history: int, checks: int = 2) -> Evidence:
    return Evidence("lockstep", 0, history, ENGINE, "writer", {requirement: checks})


def reserve_of(*core: EvidenceThreshold, events: tuple[Event, ...] = ()) -> Reserve:
    held = (reserved(1, "appends"), reserved(2, "appends"), reserved(3, "appends"), reserved(4, "refusals"))
    reserve = Reserve(plan(*core, reserve=held), [parse_engine("reference")])
    for event in (EngineReady(ENGINE), *events):
        reserve.take(event)
    return reserve


class TestWhatIsPlayed:
    def test_nothing_where_the_evidence_has_come(self):
        events = (evidence("contents.append", 0), evidence("contents.append", 1))
        assert reserve_of(APPENDS, events=events).next_chunks() == []

    def test_the_next_chunk_of_what_each_missing_threshold_needs(self):
        reserve = reserve_of(APPENDS, REFUSALS)
        assert reserve.next_chunks() == [chunk(1, "appends"), chunk(4, "refusals")]

    def test_no_more_once_the_evidence_has_come(self):
        reserve = reserve_of(APPENDS, events=(evidence("contents.append", 0),))
        assert reserve.next_chunks() == [chunk(1, "appends")]
        reserve.take(evidence("contents.append", 1))
        assert reserve.next_chunks() == []

    def test_evidence_in_two_settings_is_not_added_up(self):
        other = Evidence("lockstep", 0, 1, ENGINE, "writer", {"contents.append": 2}, features=("appendOnly",))
        reserve = reserve_of(APPENDS, events=(evidence("contents.append", 0), other))
        assert reserve.next_chunks()

    def test_nothing_for_a_threshold_that_a_finding_decides(self):
        finding = FindingFound("f", "contents.append", "must", ENGINE, "writer", "lockstep", "", 3)
        assert reserve_of(APPENDS, events=(finding,)).next_chunks() == []

    def test_nothing_for_an_engine_that_does_not_run(self):
        held = (reserved(1, "appends"),)
        assert Reserve(plan(APPENDS, reserve=held), [parse_engine("reference")]).next_chunks() == []

    def test_no_more_than_two_chunks_in_vain(self):
        reserve = reserve_of(APPENDS)
        given = [reserve.next_chunks() for _ in range(4)]
        assert [len(chunks) for chunks in given] == [1, *[1] * (IN_VAIN - 1), *[0] * (3 - (IN_VAIN - 1))]


class TestRuns:
    def play(self, folder: Path, the_plan: Plan) -> tuple[list[Event], Recorder]:
        options = RunOptions(folder, engines=("reference",), suites=("lockstep",), seed=1, jobs=2)
        recorder = Recorder(folder)
        events: list[Event] = []
        recorder.bus.add(events.append)
        run_plan(options, the_plan, recorder.bus)
        return events, recorder

    def test_a_run_plays_its_reserve_until_the_evidence_is_there_and_ends_conclusive(self, tmp_path):
        held = tuple(reserved(number, "appends") for number in range(1, 6))
        events, recorder = self.play(tmp_path, plan(APPENDS, reserve=held))
        played = {event.chunk for event in events if isinstance(event, Evidence)}
        assert {0, 1} <= played < set(range(6))
        notes = [event.message for event in events if isinstance(event, Note)]
        assert any("contents.append for reference" in note and "reserve" in note for note in notes)
        results = recorder.finish()
        assert results.outcome.exit == 0, results.outcome.reasons
        assert [suite.complete for suite in results.suites] == [True]

    def test_a_run_whose_evidence_has_come_leaves_its_reserve_alone(self, tmp_path):
        enough = EvidenceThreshold("host.lives", "reference", "lockstep", checks=1, histories=1)
        events, recorder = self.play(tmp_path, plan(enough, reserve=(reserved(1, "appends"),)))
        assert {event.chunk for event in events if isinstance(event, Evidence)} == {0}
        assert recorder.finish().outcome.exit == 0
