"""What the profile `ci` plays of crashes finds each mutant, whatever the seed, and no violation of the honest twin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.events.types import Event, FindingFound, HistoryEnded
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.histories import Chunk
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from delta_adapters.registry import parse_engine
from tests.mutants.crash_mutants import CAUGHT_AT
from tests.suites.chunks import play_chunks

SPEC = parse_engine(f"{Path(__file__).parents[2] / 'mutants' / 'crash_mutants.py'}:AnyCrashMutant")
SEEDS = (1, 2, 3)
QUICKEST = 2
CRASHES = [(name, rule) for name, rule in CAUGHT_AT.items() if rule.startswith("crash.")]


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    made = InstrumentedEngines({str(SPEC): SPEC}, tmp_path_factory.mktemp("arena"), lambda _: None)
    yield made
    made.close()


def chunks(seed: int) -> tuple[Chunk, ...]:
    return make_plan(load_profile("ci"), seed, engines=("delta-rs",), suites=("crashes",)).chunks


def play_mutant(
    instrumented_engines: InstrumentedEngines,
    chunks_to_play: tuple[Chunk, ...],
    folder: Path,
    until: str | None = None,
) -> list[Event]:
    """Play chunks with the mutant that the folder names, at most until the awaited finding; return the events."""
    return play_chunks(
        [SPEC],
        chunks_to_play,
        folder,
        instrumented_engines,
        is_over=lambda events: until is not None and until in requirements(events),
    )


def requirements(events: list[Event]) -> set[str]:
    return {event.requirement for event in events if isinstance(event, FindingFound)}


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed == QUICKEST else pytest.mark.slow) for seed in SEEDS]
)
@pytest.mark.parametrize(("name", "requirement"), CRASHES)
def test_a_mutant_is_found_by_its_own_rule(
    mutants: InstrumentedEngines, name: str, requirement: str, seed: int, tmp_path: Path
):
    events = play_mutant(mutants, chunks(seed), tmp_path / name, requirement)
    assert requirement in requirements(events)


@pytest.mark.slow
def test_the_honest_twin_breaks_no_rule(mutants: InstrumentedEngines, tmp_path: Path):
    committed = tuple(chunk for chunk in chunks(1) if chunk.table)
    drawn = tuple(chunk for seed in SEEDS for chunk in chunks(seed) if not chunk.table)
    assert len(drawn) == len(SEEDS)
    events = play_mutant(mutants, (*committed, *drawn), tmp_path / "Honest")
    assert requirements(events) == set()
    assert sum(event.crash_points for event in events if isinstance(event, HistoryEnded)) > 100
