"""What is kept of a finding: the shortest history, and one that is news before one that is known."""

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
    """Keeps what it is given as well."""

    def record(self, found: FindingContext) -> FindingFound:
        self.given = found
        return super().record(found)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> FindingContext:
    """A finding about an engine that says it appended."""
    folder = tmp_path_factory.mktemp("found")
    remembers = Remembers(folder)
    with EnginePool([parse_engine(f"{ENGINES}:Lies")], folder / "hosts", lambda _: None) as hosts:
        instrumented_engines = InstrumentedEngines({}, folder, lambda _: None)
        context = SuiteContext(hosts, remembers, lambda _: None, lambda: False, instrumented_engines)
        GeneratedHistories(context, Chunk("lockstep", "dev", 0, 6, 1, 12), folder / "work").play_all()
    remembers.given.observation.folder.mkdir(parents=True, exist_ok=True)  # the table is cleared away
    return remembers.given


def at_step(found: FindingContext, step: int) -> FindingContext:
    return replace(found, observation=replace(found.observation, step=step))


def test_news_replaces_what_is_known_and_what_is_known_replaces_no_news(
    found: FindingContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    recorder_of_findings, step = FindingRecorder(tmp_path), found.observation.step
    for deviation, at, kept in (
        ("a-cause", step, (True, step)),
        ("a-cause", step + 1, (True, step)),
        (None, step + 2, (False, step + 2)),
        ("a-cause", step, (False, step + 2)),
        (None, step + 1, (False, step + 1)),
    ):
        monkeypatch.setattr(recorder, "known_deviation", lambda *_, name=deviation: name)
        told = recorder_of_findings.record(at_step(found, at))
        assert told.known is (deviation is not None)
        finding = load_finding(tmp_path / told.folder)
        assert (finding.known, finding.step) == kept
