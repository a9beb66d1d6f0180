"""A broken rule that an engine does not promise is no violation, and its claims say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.events.types import DeclaredClaim, Event, FindingFound, RaceOutcome
from conformance.findings import load_finding
from conformance.histories import Chunk
from conformance.reporting.aggregation import ResultAggregator
from conformance.suites.races.scenarios import BEFORE
from conformance.suites.races.session import IN_TURN, SEVERAL
from conformance.triage.replay import FAILS, replay
from delta_adapters.registry import parse_engine
from delta_models.requirements import races
from tests.reporting.samples import HEADER
from tests.suites.chunks import play_chunks

RACE_MUTANTS = Path(__file__).parents[2] / "mutants" / "race_mutants.py"


def play_races(adapter: str, folder: Path) -> list[Event]:
    """Play races of a mutant and return their events."""
    work = folder / "ChecksNoConflict"  # the mutant that plays
    chunk = Chunk("races", "dev", 0, 1, histories=6, steps=3)
    return play_chunks([parse_engine(f"{RACE_MUTANTS}:{adapter}")], [chunk], folder, work=work)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("findings")


@pytest.fixture(scope="module")
def events(kept: Path) -> list[Event]:
    return play_races("PromisesNothing", kept)


def test_a_declared_lack_of_guarantee_outranks_findings(events: list[Event], tmp_path: Path):
    declared = [event for event in events if isinstance(event, DeclaredClaim)]
    assert {event.requirement for event in declared} >= {requirement.id for requirement in races.REQUIREMENTS}
    assert {event.processes for event in declared} == {"several"}
    aggregator = ResultAggregator(tmp_path)
    for event in (HEADER, *events):
        aggregator(event)
    claims = {
        claim.setting.requirement: claim.verdict
        for claim in aggregator.results(1.0).claims
        if claim.setting.processes == "several"
    }
    assert claims["log.remove-names-live-file"] == "not-guaranteed"
    assert claims["race.no-write-skew"] == "not-guaranteed"
    assert claims["race.all-acknowledged"] == "not-guaranteed"


def test_a_finding_without_a_promise_is_marked_so_and_leaves_nothing_to_triage(events: list[Event]):
    findings = [event for event in events if isinstance(event, FindingFound)]
    assert {(finding.processes, finding.promised) for finding in findings} == {
        (SEVERAL, False),
        (IN_TURN, True),
    }
    assert {finding.kind for finding in findings if not finding.promised} == {"not guaranteed"}
    assert {finding.fresh for finding in findings if not finding.promised} == {False}
    assert any(finding.fresh for finding in findings if finding.promised)
    assert {finding.steps for finding in findings} == {len(BEFORE) + 1}


def test_rules_not_promised_in_parallel_are_required_of_serialized_writers(
    events: list[Event], tmp_path: Path
):
    aggregator = ResultAggregator(tmp_path)
    for event in (HEADER, *events):
        aggregator(event)
    results = aggregator.results(1.0)
    assert {claim.setting.processes for claim in results.claims if claim.verdict == "violated"} == {IN_TURN}
    assert results.outcome.exit == 1
    assert {event.processes for event in events if isinstance(event, RaceOutcome)} == {SEVERAL, IN_TURN}


def test_a_finding_of_serialized_writers_replays_serialized(events: list[Event], kept: Path):
    finding_event = next(
        event for event in events if isinstance(event, FindingFound) and event.processes == IN_TURN
    )
    finding = load_finding(kept / finding_event.folder)
    assert finding.processes == IN_TURN
    assert replay(kept / finding_event.folder).exit == FAILS
