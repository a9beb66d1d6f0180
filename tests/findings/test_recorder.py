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


def test_a_new_finding_replaces_a_known_one_but_not_the_reverse(
    finding_context: FindingContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    recorder_of_findings, step = FindingRecorder(tmp_path), finding_context.observation.step
    for deviation, step_number, kept in (
        ("a-cause", step, (True, step)),
        ("a-cause", step + 1, (True, step)),
        (None, step + 2, (False, step + 2)),
        ("a-cause", step, (False, step + 2)),
        (None, step + 1, (False, step + 1)),
    ):
        candidates = () if deviation is None else (deviation,)
        monkeypatch.setattr(recorder, "candidate_causes", lambda *_, found=candidates: found)
        event = recorder_of_findings.record(at_step(finding_context, step_number))
        assert event.known is (deviation is not None)
        finding = load_finding(tmp_path / event.folder)
        assert (finding.known, finding.step) == kept
