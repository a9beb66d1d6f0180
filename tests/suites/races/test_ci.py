"""What the profile `ci` plays of races finds each liar that is named, whatever the seed, by its own rule, and says
nothing of their honest twin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.types import Event, FindingFound, HarnessFault, HistoryEnded
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext
from delta_adapters.registry import parse_engine
from tests.mutants.race_mutants import CAUGHT_AT
from tests.suites.races.played import HERE, HONEST, NAMED

SPEC = parse_engine(f"{HERE}:AnyRaceMutant")
SEEDS = (1, 2, 3)
QUICKEST = 2


@pytest.fixture(scope="module")
def liars(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    made = InstrumentedEngines({str(SPEC): SPEC}, tmp_path_factory.mktemp("arena"), lambda _: None)
    yield made
    made.close()


def heard(
    instrumented_engines: InstrumentedEngines, seed: int, folder: Path, until: str | None = None
) -> list[Event]:
    """What is told of the liar that the folder names, up to the finding that is waited for."""
    told: list[Event] = []
    with EnginePool([SPEC], folder / "hosts", told.append) as hosts:
        context = SuiteContext(
            hosts,
            FindingRecorder(folder / "kept"),
            told.append,
            lambda: until in requirements(told),
            instrumented_engines,
        )
        for chunk in make_plan(load_profile("ci"), seed, engines=["delta-rs"], suites=["races"]).chunks:
            play_chunk(context, chunk, folder)
    assert [each.detail for each in told if isinstance(each, HarnessFault)] == []
    return told


def requirements(told: list[Event]) -> set[str]:
    return {each.requirement for each in told if isinstance(each, FindingFound)}


@pytest.mark.parametrize(
    "seed", [pytest.param(each, marks=() if each == QUICKEST else pytest.mark.slow) for each in SEEDS]
)
@pytest.mark.parametrize(("name", "rule"), NAMED.items())
def test_a_liar_is_found_by_its_own_rule(
    liars: InstrumentedEngines, name: str, rule: str, seed: int, tmp_path: Path
):
    assert rule in requirements(heard(liars, seed, tmp_path / name, rule))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_its_honest_twin_is_not(liars: InstrumentedEngines, seed: int, tmp_path: Path):
    told = heard(liars, seed, tmp_path / HONEST)
    assert requirements(told) == set()
    assert sum(each.schedules for each in told if isinstance(each, HistoryEnded)) > 50


def test_each_is_named_with_a_rule_that_it_breaks():
    assert set(NAMED.items()) <= {(name, rule) for name, rule, _ in CAUGHT_AT}
