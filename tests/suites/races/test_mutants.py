"""For each rule about races, a mutant breaks that rule, and its honest twin breaks none."""

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
from conformance.suites.crashes.scenarios import UPDATE, rows
from conformance.suites.races.scenarios import BEFORE, PAIRS
from conformance.suites.races.session import RaceTableSession
from delta_adapters.registry import parse_engine
from delta_models.operations import Append, Interleave, Read
from delta_models.outcomes import Rejected
from tests.mutants.race_mutants import CAUGHT_AT, MUTANTS

ORDERS = 12  # evenly spread over all
# Engines that read what they have committed without another look at the log, and the rules that each violates.
NO_LOOK: dict[str, set[str]] = {
    "KnowsItsOwnCommit": set(),
    "KnowsMoreThanItsOwnCommit": {"race.no-dirty-read"},
}


@pytest.fixture(scope="module")
def instrumented_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    """Two hosts that play the mutant that the folder names, and two of the honest engine."""
    specs = {
        "mutants": parse_engine(f"{Path(__file__).parents[2] / 'mutants' / 'race_mutants.py'}:AnyRaceMutant"),
        "reference": parse_engine("reference"),
    }
    made = InstrumentedEngines(specs, tmp_path_factory.mktemp("arena"), lambda _: None)
    yield made
    made.close()


def race_pair(
    instrumented_engines: InstrumentedEngines, folder: Path, pair: int, engine: str = "mutants"
) -> list[StepResult]:
    """Race a committed pair in some orders; return the step results."""
    players: list[InstrumentedEngine] = [
        player for player in (instrumented_engines.get(engine, place) for place in "AB") if player
    ]
    engine_sessions, instrumented_processes = (
        [engine_session_of(player.engine) for player in players],
        [player.instrumented_process for player in players],
    )
    template = RaceTableSession(
        folder / "table",
        engine_sessions,
        instrumented_processes,
        instrumented_engines.turnstile,
        "t",
        overlap=PAIRS[pair].overlap,
    )
    result = template.open_all()
    for operation in BEFORE:
        result += template.execute(Step(operation))
    operations = (PAIRS[pair].first, PAIRS[pair].second)
    gates = []
    for place, operation in enumerate(operations):
        alone = template.copy(folder / f"alone{place}" / "table")
        alone.open_all()
        gates.append(alone.gates(place, operation))
    orders = list(schedules(gates))
    for number, order in enumerate(orders[:: max(1, len(orders) // ORDERS)]):
        table_session = template.copy(folder / f"order{number}" / "table")
        result += table_session.open_all()
        result += table_session.execute(Step(Interleave(operations, order)))
    return result


def race_once(instrumented_engines: InstrumentedEngines, folder: Path, race: Interleave) -> list[StepResult]:
    """Race the mutant that the folder names with its twin; return the step results."""
    players: list[InstrumentedEngine] = [
        player for player in (instrumented_engines.get("mutants", place) for place in "AB") if player
    ]
    engine_sessions, instrumented_processes = (
        [engine_session_of(player.engine) for player in players],
        [player.instrumented_process for player in players],
    )
    table_session = RaceTableSession(
        folder / "table", engine_sessions, instrumented_processes, instrumented_engines.turnstile, "t"
    )
    result = table_session.open_all()
    for operation in (*BEFORE, race):
        # Submit also where an earlier violation has ended the session.
        pending: PendingStep | None = table_session.submit(Step(operation))
        while pending is not None:
            step_results, pending = pending.collect()
            result += step_results
    return result


def broken(result: list[StepResult]) -> dict[str, str]:
    return {
        violation.requirement: violation.detail
        for step_result in result
        for violation in step_result.violations
    }


@pytest.mark.parametrize(("name", "rule", "pair"), CAUGHT_AT, ids=str)
def test_a_mutant_breaks_its_own_rule(
    instrumented_engines: InstrumentedEngines, name: str, rule: str, pair: int, tmp_path: Path
):
    violations = broken(race_pair(instrumented_engines, tmp_path / name, pair))
    assert rule in violations, violations


@pytest.mark.parametrize("pair", sorted({pair for _, _, pair in CAUGHT_AT}))
def test_the_honest_twin_breaks_no_rule(instrumented_engines: InstrumentedEngines, pair: int, tmp_path: Path):
    result = race_pair(instrumented_engines, tmp_path / "Honest", pair)
    assert broken(result) == {}
    assert not [fault for step_result in result for fault in step_result.faults]
    # The honest engine refuses no operation, so `race.told-truly` has no evidence.
    rules = {rule for _, rule, expected_pair in CAUGHT_AT if expected_pair == pair} - {"race.told-truly"}
    assert rules <= {rule for step_result in result for rule, count in step_result.evidence.items() if count}


@pytest.mark.parametrize("pair", (1, 2, 5, 7, 8))
def test_two_honest_engines_race_without_violation_or_refusal(
    instrumented_engines: InstrumentedEngines, pair: int, tmp_path: Path
):
    result = race_pair(instrumented_engines, tmp_path, pair, "reference")
    assert broken(result) == {}
    races_seen = [
        step_result.observation.race for step_result in result if step_result.observation.race is not None
    ]
    assert races_seen
    assert not [outcome for race in races_seen for outcome in race.outcomes if isinstance(outcome, Rejected)]


@pytest.mark.parametrize(("name", "violated"), NO_LOOK.items())
@pytest.mark.parametrize("order", ((0, 0, 0, 0, 1, 1, 1, 1), (1, 1, 1, 1, 0, 0, 0, 0)), ids=str)
def test_an_ungated_reader_must_see_what_was_committed_when_its_writer_finished(
    instrumented_engines: InstrumentedEngines,
    order: tuple[int, ...],
    name: str,
    violated: set[str],
    tmp_path: Path,
):
    race = Interleave((Append(rows(20)), Read(), Append(rows(21))), order, (0, 0, 1))
    result = race_once(instrumented_engines, tmp_path / name, race)
    also = {"read.latest"} if violated else set()  # the wrong read violates this rule too
    assert set(broken(result)) - also == violated
    observed_race = next(
        step_result.observation.race for step_result in result if step_result.observation.race is not None
    )
    assert 1 not in {place for place, _ in observed_race.timeline}
    assert observed_race.published[1] == ({0} if order[0] == 0 else {0, 2})


def test_a_reader_is_not_charged_with_what_writers_committed_wrongly(
    instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    # Both writers look at the table before either commits; then the second one reads.
    order = (0, 0, 0, 1, 1, 1, 0, 1, 1)
    for pair, rule in (
        (7, "race.no-doubled-rows"),
        (2, "race.no-write-skew"),
        (5, "race.no-resurrected-rows"),
    ):
        race = Interleave((PAIRS[pair].first, PAIRS[pair].second, Read()), order, (0, 1, 1))
        result = race_once(instrumented_engines, tmp_path / f"{pair}" / "ChecksNoConflict", race)
        assert set(broken(result)) - {"log.remove-names-live-file"} == {rule}
        assert sum(step_result.evidence.get("race.no-dirty-read", 0) for step_result in result) == 1


def test_a_reader_that_sees_an_older_version_is_charged_beside_wrong_writers_too(
    instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    order = (0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1)
    race = Interleave((PAIRS[7].first, PAIRS[7].second, UPDATE, Read()), order, (0, 1, 1, 1))
    result = race_once(instrumented_engines, tmp_path / "ReadsAnOldVersion", race)
    assert set(broken(result)) == {"race.no-doubled-rows", "race.no-dirty-read"}


def test_every_rule_has_a_mutant():
    assert {rule for _, rule, _ in CAUGHT_AT} == set(races.JUDGES)
    assert {name for name, _, _ in CAUGHT_AT} == set(MUTANTS) - {"Honest", "ReadsAnOldVersion", *NO_LOOK}
