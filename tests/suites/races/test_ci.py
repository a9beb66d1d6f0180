"""What the profile `ci` plays of races finds each named mutant by its own rule, whatever the seed, and no
violation of the honest twin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.events.types import Event, FindingFound, HistoryEnded
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from delta_adapters.registry import parse_engine
from tests.mutants.race_mutants import CAUGHT_AT
from tests.suites.chunks import play_chunks
from tests.suites.races.ci_mutants import HONEST, NAMED, RACE_MUTANTS

SPEC = parse_engine(f"{RACE_MUTANTS}:AnyRaceMutant")
SEEDS = (1, 2, 3)
QUICKEST = 2


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    made = InstrumentedEngines({str(SPEC): SPEC}, tmp_path_factory.mktemp("arena"), lambda _: None)
    yield made
    made.close()


def play_mutant(
    instrumented_engines: InstrumentedEngines, seed: int, folder: Path, until: str | None = None
) -> list[Event]:
    """Play chunks with the mutant that the folder names, at most until the awaited finding; return the events."""
    chunks = make_plan(load_profile("ci"), seed, engines=["delta-rs"], suites=["races"]).chunks
    return play_chunks(
        [SPEC], chunks, folder, instrumented_engines, is_over=lambda events: until in requirements(events)
    )


def requirements(events: list[Event]) -> set[str]:
    return {event.requirement for event in events if isinstance(event, FindingFound)}


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed == QUICKEST else pytest.mark.slow) for seed in SEEDS]
)
@pytest.mark.parametrize(("name", "rule"), NAMED.items())
def test_a_mutant_is_found_by_its_own_rule(
    mutants: InstrumentedEngines, name: str, rule: str, seed: int, tmp_path: Path
):
    assert rule in requirements(play_mutant(mutants, seed, tmp_path / name, rule))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_honest_twin_breaks_no_rule(mutants: InstrumentedEngines, seed: int, tmp_path: Path):
    events = play_mutant(mutants, seed, tmp_path / HONEST)
    assert requirements(events) == set()
    assert sum(event.schedules for event in events if isinstance(event, HistoryEnded)) > 50


def test_every_named_mutant_breaks_its_named_rule():
    assert set(NAMED.items()) <= {(name, rule) for name, rule, _ in CAUGHT_AT}
