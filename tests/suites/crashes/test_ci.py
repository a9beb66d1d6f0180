"""What the profile `ci` plays of crashes finds each liar, whatever the seed, and says nothing of its honest twin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.types import Event, FindingFound, HarnessFault, HistoryEnded
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext
from delta_adapters.registry import parse_engine
from tests.mutants.crash_mutants import CAUGHT_AT

SPEC = parse_engine(f"{Path(__file__).parents[2] / 'mutants' / 'crash_mutants.py'}:AnyCrashMutant")
SEEDS = (1, 2, 3)
QUICKEST = 2
CRASHES = [(name, rule) for name, rule in CAUGHT_AT.items() if rule.startswith("crash.")]


@pytest.fixture(scope="module")
def liars(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    made = InstrumentedEngines({str(SPEC): SPEC}, tmp_path_factory.mktemp("arena"), lambda _: None)
    yield made
    made.close()


def chunks(seed: int) -> tuple[Chunk, ...]:
    return make_plan(load_profile("ci"), seed, engines=("delta-rs",), suites=("crashes",)).chunks


def heard(
    instrumented_engines: InstrumentedEngines,
    played: tuple[Chunk, ...],
    folder: Path,
    until: str | None = None,
) -> list[Event]:
    """What is told of the liar that the folder names, up to the finding that is waited for."""
    told: list[Event] = []

    def is_over() -> bool:
        return until is not None and until in requirements(told)

    with EnginePool([SPEC], folder / "hosts", told.append) as hosts:
        context = SuiteContext(
            hosts, FindingRecorder(folder / "findings"), told.append, is_over, instrumented_engines
        )
        for each in played:
            if not is_over():
                play_chunk(context, each, folder)
    assert [each for each in told if isinstance(each, HarnessFault)] == []
    return told


def requirements(told: list[Event]) -> set[str]:
    return {each.requirement for each in told if isinstance(each, FindingFound)}


@pytest.mark.parametrize(
    "seed", [pytest.param(each, marks=() if each == QUICKEST else pytest.mark.slow) for each in SEEDS]
)
@pytest.mark.parametrize(("name", "requirement"), CRASHES)
def test_a_liar_is_found_by_its_own_rule(
    liars: InstrumentedEngines, name: str, requirement: str, seed: int, tmp_path: Path
):
    told = heard(liars, chunks(seed), tmp_path / name, requirement)
    assert requirement in requirements(told)


@pytest.mark.slow
def test_its_honest_twin_is_not(liars: InstrumentedEngines, tmp_path: Path):
    committed = tuple(chunk for chunk in chunks(1) if chunk.table)
    drawn = tuple(chunk for seed in SEEDS for chunk in chunks(seed) if not chunk.table)
    assert len(drawn) == len(SEEDS)
    told = heard(liars, (*committed, *drawn), tmp_path / "Honest")
    assert requirements(told) == set()
    assert sum(each.crash_points for each in told if isinstance(each, HistoryEnded)) > 100
