"""The recorder keeps the shortest history of a finding, and a new finding rather than a known one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.types import FindingFound
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings import load_finding, recorder
from conformance.findings.recorder import FindingContext, FindingRecorder
from conformance.histories import Chunk
from conformance.suites.context import SuiteContext
from conformance.suites.generated import GeneratedHistories
from delta_adapters.registry import parse_engine
from delta_models.operations import Reopen
from tests.command_runs import ENGINES


class Remembers(FindingRecorder):
    """Remembers the context of the last finding."""

    def record(self, context: FindingContext) -> FindingFound:
        self.given = context
        return super().record(context)


@pytest.fixture(scope="module")
def finding_context(tmp_path_factory: pytest.TempPathFactory) -> FindingContext:
    """A finding about an engine that says it appended."""
    folder = tmp_path_factory.mktemp("finding")
    remembers = Remembers(folder)
    with EnginePool([parse_engine(f"{ENGINES}:Lies")], folder / "hosts", lambda _: None) as hosts:
        instrumented_engines = InstrumentedEngines({}, folder, lambda _: None)
        context = SuiteContext(hosts, remembers, lambda _: None, lambda: False, instrumented_engines)
        GeneratedHistories(context, Chunk("lockstep", "dev", 0, 6, 1, 12), folder / "work").play_all()
    remembers.given.observation.folder.mkdir(parents=True, exist_ok=True)  # the table is cleared away
    return remembers.given


def at_step(context: FindingContext, step: int) -> FindingContext:
    return replace(context, observation=replace(context.observation, step=step))


def test_violations_that_are_alike_are_one_sighting_with_the_shortest_history(
    finding_context: FindingContext, tmp_path: Path
):
    recorder_of_findings, step = FindingRecorder(tmp_path), finding_context.observation.step
    events = []
    for step_number, kept in ((step + 1, step + 1), (step + 2, step + 1), (step, step), (step + 1, step)):
        events.append(recorder_of_findings.record(at_step(finding_context, step_number)))
        assert load_finding(tmp_path / events[-1].folder).step == kept
    assert len({event.fingerprint for event in events}) == 1
    assert [path.name for path in (tmp_path / "sightings").iterdir()] == [events[0].fingerprint]
    assert not (tmp_path / "findings").exists()


def test_what_other_causes_predict_is_another_sighting(
    finding_context: FindingContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    recorder_of_findings = FindingRecorder(tmp_path)
    alone = recorder_of_findings.record(finding_context)
    monkeypatch.setattr(recorder, "candidate_causes", lambda *_: ("a-cause",))
    predicted = recorder_of_findings.record(finding_context)
    assert (alone.candidates, predicted.candidates) == ((), ("a-cause",))
    assert alone.fingerprint != predicted.fingerprint
    assert {event.state for event in (alone, predicted)} == {"unexplained"}
    assert not predicted.known, "a candidate explains nothing until its history was played"


@pytest.mark.parametrize(
    ("cause", "sightings"), (("delta-rs-no-checksums", 1), ("delta-rs-nan-left-out-of-bounds", 2))
)
def test_what_a_prediction_alone_decides_is_one_sighting_whatever_the_types_and_options(
    cause: str,
    sightings: int,
    finding_context: FindingContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    recorder_of_findings = FindingRecorder(tmp_path)
    monkeypatch.setattr(recorder, "candidate_causes", lambda *_: (cause,))
    reopened = replace(finding_context.observation, operation=Reopen())
    contexts = (finding_context, replace(at_step(finding_context, 0), observation=replace(reopened, step=0)))
    events = [recorder_of_findings.record(context) for context in contexts]
    assert len({event.fingerprint for event in events}) == sightings
    kept = [load_finding(folder) for folder in (tmp_path / "sightings").iterdir()]
    assert {finding.sighting for finding in kept} == {event.fingerprint for event in events}


def test_each_version_of_an_engine_has_sightings_of_its_own(finding_context: FindingContext, tmp_path: Path):
    recorder_of_findings = FindingRecorder(tmp_path)
    newer = replace(finding_context, observation=replace(finding_context.observation, engine="lies@2.0"))
    events = [recorder_of_findings.record(context) for context in (finding_context, newer)]
    assert len({event.fingerprint for event in events}) == 2
