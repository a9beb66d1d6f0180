"""Each rule about writers at once is broken by an engine that is honest alone, and its honest twin is not heard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.checks import races
from conformance.execution.pending_reads import PendingStep
from conformance.execution.step_result import StepResult
from conformance.fault_injection.instrumented_engines import InstrumentedEngine, InstrumentedEngines
from conformance.fault_injection.interleaving import schedules
from conformance.histories import Step
from conformance.suites.context import engine_session_of
from conformance.suites.crashes.scenarios import rows
from conformance.suites.races.scenarios import BEFORE, PAIRS
from conformance.suites.races.session import RaceTableSession
from delta_adapters.registry import parse_engine
from delta_models.operations import Append, Interleave, Read
from delta_models.outcomes import Rejected
from tests.mutants.race_mutants import CAUGHT_AT, MUTANTS

ORDERS = 12  # evenly spread over all
# Engines that read what they have committed without another look at the log, and what each is heard by.
NO_LOOK: dict[str, set[str]] = {
    "KnowsItsOwnCommit": set(),
    "KnowsMoreThanItsOwnCommit": {"race.no-dirty-read"},
}


@pytest.fixture(scope="module")
def instrumented_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    """Two hosts that play whichever engine the path names, and two of the honest engine itself."""
    specs = {
        "liars": parse_engine(f"{Path(__file__).parents[2] / 'mutants' / 'race_mutants.py'}:AnyRaceMutant"),
        "reference": parse_engine("reference"),
    }
    made = InstrumentedEngines(specs, tmp_path_factory.mktemp("arena"), lambda _: None)
    yield made
    made.close()


def raced(
    instrumented_engines: InstrumentedEngines, folder: Path, pair: int, engine: str = "liars"
) -> list[StepResult]:
    """A committed pair in some orders."""
    players: list[InstrumentedEngine] = [
        each for each in (instrumented_engines.get(engine, place) for place in "AB") if each
    ]
    engine_sessions, instrumented_processes = (
        [engine_session_of(player.engine) for player in players],
        [player.instrumented_process for player in players],
    )
    stand = RaceTableSession(
        folder / "table",
        engine_sessions,
        instrumented_processes,
        instrumented_engines.turnstile,
        "t",
        overlap=PAIRS[pair].overlap,
    )
    result = stand.open_all()
    for each in BEFORE:
        result += stand.execute(Step(each))
    operations = (PAIRS[pair].first, PAIRS[pair].second)
    gates = []
    for place, operation in enumerate(operations):
        alone = stand.copy(folder / f"alone{place}" / "table")
        alone.open_all()
        gates.append(alone.gates(place, operation))
    orders = list(schedules(gates))
    for at, order in enumerate(orders[:: max(1, len(orders) // ORDERS)]):
        table_session = stand.copy(folder / f"order{at}" / "table")
        result += table_session.open_all()
        result += table_session.execute(Step(Interleave(operations, order)))
    return result


def at_once(instrumented_engines: InstrumentedEngines, folder: Path, race: Interleave) -> list[StepResult]:
    """One race of the liar that the folder names, beside its twin."""
    players: list[InstrumentedEngine] = [
        each for each in (instrumented_engines.get("liars", place) for place in "AB") if each
    ]
    engine_sessions, instrumented_processes = (
        [engine_session_of(player.engine) for player in players],
        [player.instrumented_process for player in players],
    )
    table_session = RaceTableSession(
        folder / "table", engine_sessions, instrumented_processes, instrumented_engines.turnstile, "t"
    )
    result = table_session.open_all()
    for each in (*BEFORE, race):
        pending: PendingStep | None = table_session.submit(
            Step(each)
        )  # also where a lie told alone has ended it
        while pending is not None:
            found, pending = pending.collect()
            result += found
    return result


def broken(result: list[StepResult]) -> dict[str, str]:
    return {violation.requirement: violation.detail for each in result for violation in each.violations}


@pytest.mark.parametrize(("name", "rule", "pair"), CAUGHT_AT, ids=str)
def test_a_liar_is_caught_at_its_own_rule(
    instrumented_engines: InstrumentedEngines, name: str, rule: str, pair: int, tmp_path: Path
):
    found = broken(raced(instrumented_engines, tmp_path / name, pair))
    assert rule in found, found


@pytest.mark.parametrize("pair", sorted({pair for _, _, pair in CAUGHT_AT}))
def test_its_honest_twin_is_not(instrumented_engines: InstrumentedEngines, pair: int, tmp_path: Path):
    result = raced(instrumented_engines, tmp_path / "Honest", pair)
    assert broken(result) == {}
    assert not [fault for each in result for fault in each.faults]
    rules = {rule for _, rule, at in CAUGHT_AT if at == pair} - {"race.told-truly"}  # it refuses nobody
    assert rules <= {rule for each in result for rule, count in each.evidence.items() if count}


@pytest.mark.parametrize("pair", (1, 2, 5, 7, 8))
def test_two_of_the_honest_engine_race_and_neither_is_heard_or_refused(
    instrumented_engines: InstrumentedEngines, pair: int, tmp_path: Path
):
    result = raced(instrumented_engines, tmp_path, pair, "reference")
    assert broken(result) == {}
    races_seen = [each.observation.race for each in result if each.observation.race is not None]
    assert races_seen
    assert not [outcome for race in races_seen for outcome in race.outcomes if isinstance(outcome, Rejected)]


@pytest.mark.parametrize(("name", "heard"), NO_LOOK.items())
@pytest.mark.parametrize("order", ((0, 0, 0, 0, 1, 1, 1, 1), (1, 1, 1, 1, 0, 0, 0, 0)), ids=str)
def test_a_reader_that_passes_no_gate_is_held_to_what_was_committed_when_its_own_writer_had_done(
    instrumented_engines: InstrumentedEngines,
    order: tuple[int, ...],
    name: str,
    heard: set[str],
    tmp_path: Path,
):
    race = Interleave((Append(rows(20)), Read(), Append(rows(21))), order, (0, 0, 1))
    result = at_once(instrumented_engines, tmp_path / name, race)
    also = {"read.latest"} if heard else set()  # the lie is told alone too
    assert set(broken(result)) - also == heard
    seen = next(each.observation.race for each in result if each.observation.race is not None)
    assert 1 not in {place for place, _ in seen.timeline}
    assert seen.published[1] == ({0} if order[0] == 0 else {0, 2})


def test_every_rule_has_its_liar():
    assert {rule for _, rule, _ in CAUGHT_AT} == set(races.JUDGES)
    assert {name for name, _, _ in CAUGHT_AT} == set(MUTANTS) - {"Honest", *NO_LOOK}
