"""What an engine does not promise is no violation: its cells say so, whatever is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.types import DeclaredClaim, Event, FindingFound, HarnessFault, RaceOutcome
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings import load_finding
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.reporting.aggregation import ResultAggregator
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext
from conformance.suites.races.scenarios import BEFORE
from conformance.suites.races.session import IN_TURN, SEVERAL
from conformance.triage.replay import FAILS, replay
from delta_adapters.registry import parse_engine
from delta_models.requirements import races
from tests.reporting.samples import HEADER

LIARS = Path(__file__).parents[2] / "mutants" / "race_mutants.py"


def told_by(adapter: str, folder: Path) -> list[Event]:
    told: list[Event] = []
    spec = parse_engine(f"{LIARS}:{adapter}")
    instrumented_engines = InstrumentedEngines({str(spec): spec}, folder / "arena", told.append)
    try:
        context = SuiteContext(
            EnginePool([spec], folder / "hosts", told.append),
            FindingRecorder(folder),
            told.append,
            lambda: False,
            instrumented_engines,
        )
        work = folder / "ChecksNoConflict"  # the engine that is played
        play_chunk(context, Chunk("races", "dev", 0, 1, histories=6, steps=3), work)
    finally:
        instrumented_engines.close()
    assert [each for each in told if isinstance(each, HarnessFault)] == []
    return told


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("told")


@pytest.fixture(scope="module")
def told(kept: Path) -> list[Event]:
    return told_by("PromisesNothing", kept)


def test_a_declared_lack_of_a_guarantee_stands_above_what_is_found(told: list[Event], tmp_path: Path):
    declared = [each for each in told if isinstance(each, DeclaredClaim)]
    assert {each.requirement for each in declared} >= {requirement.id for requirement in races.REQUIREMENTS}
    assert {each.processes for each in declared} == {"several"}
    ledger = ResultAggregator(tmp_path)
    for each in (HEADER, *told):
        ledger(each)
    claims = {
        claim.setting.requirement: claim.verdict
        for claim in ledger.results(1.0).claims
        if claim.setting.processes == "several"
    }
    assert claims["log.remove-names-live-file"] == "not-guaranteed"
    assert claims["race.no-write-skew"] == "not-guaranteed"
    assert claims["race.all-acknowledged"] == "not-guaranteed"


def test_what_is_found_where_nothing_is_promised_is_marked_so_and_not_made_smaller(told: list[Event]):
    found = [each for each in told if isinstance(each, FindingFound)]
    assert {(each.processes, each.promised) for each in found} == {(SEVERAL, False), (IN_TURN, True)}
    assert {each.kind for each in found if not each.promised} == {"not guaranteed"}
    assert {each.fresh for each in found if not each.promised} == {False}
    assert {each.steps for each in found if not each.promised} == {len(BEFORE) + 1}
    assert min(each.steps for each in found if each.promised) < len(BEFORE) + 1


def test_what_is_not_promised_at_once_is_held_to_where_the_writers_take_turns(
    told: list[Event], tmp_path: Path
):
    ledger = ResultAggregator(tmp_path)
    for each in (HEADER, *told):
        ledger(each)
    results = ledger.results(1.0)
    assert {claim.setting.processes for claim in results.claims if claim.verdict == "violated"} == {IN_TURN}
    assert results.outcome.exit == 1
    assert {each.processes for each in told if isinstance(each, RaceOutcome)} == {SEVERAL, IN_TURN}


def test_what_is_found_in_turn_replays_in_turn(told: list[Event], kept: Path):
    found = next(each for each in told if isinstance(each, FindingFound) and each.processes == IN_TURN)
    finding = load_finding(kept / found.folder)
    assert finding.processes == IN_TURN
    assert replay(kept / found.folder).exit == FAILS
