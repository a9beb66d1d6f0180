"""Of two engines at one table each is charged with its own commits and refusals, whoever came last."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.execution.step_result import StepResult
from conformance.fault_injection.gates import GATES
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.histories import Step
from conformance.suites.context import engine_session_of
from conformance.suites.crashes.scenarios import rows
from conformance.suites.races.scenarios import BEFORE
from conformance.suites.races.session import GUARANTEE, SEVERAL, RaceTableSession
from delta_adapters.registry import parse_engine
from delta_models.operations import Append, Interleave

LIARS = Path(__file__).parents[2] / "mutants" / "race_mutants.py"
REFERENCE = "reference"
WHOLE = len(GATES)


def raced(
    other: str, order: tuple[int, ...], table: Path, work: Path, *, promises: bool = True
) -> list[StepResult]:
    """Two appends in an order, by the reference, which may promise nothing of others' commits, and another engine."""
    specs = {each: parse_engine(each) for each in (REFERENCE, f"{LIARS}:{other}")}
    instrumented_engines = InstrumentedEngines(specs, work, lambda _: None)
    try:
        players = [each for each in map(instrumented_engines.get, specs) if each]
        engine_sessions, instrumented_processes = (
            [engine_session_of(player.engine) for player in players],
            [player.instrumented_process for player in players],
        )
        if not promises:
            engine_sessions[0].capabilities = replace(
                engine_sessions[0].capabilities, guarantees={GUARANTEE: False}
            )
        table_session = RaceTableSession(
            table, engine_sessions, instrumented_processes, instrumented_engines.turnstile, "t"
        )
        assert table_session.processes == SEVERAL
        assert [session.engine not in table_session.unpromised for session in engine_sessions] == [
            promises,
            True,
        ]
        table_session.open_all()
        for each in BEFORE:
            table_session.execute(Step(each))
        race = Interleave((Append(rows(20)), Append(rows(21))), order)
        return table_session.execute(Step(race))
    finally:
        instrumented_engines.close()


def last(result: list[StepResult]) -> str:
    """Who answers for the rows."""
    (engine,) = [each.engine_session.engine for each in result if "race.no-lost-update" in each.evidence]
    return engine.partition("@")[0]


def violations(result: list[StepResult]) -> list[tuple[str, str, str]]:
    return [
        (
            each.engine_session.engine.partition("@")[0],
            each.observation.engine.partition("@")[0],
            one.requirement,
        )
        for each in result
        for one in each.violations
    ]


@pytest.mark.parametrize("first", (0, 1))
def test_a_commit_is_charged_to_who_made_it(first: int, tmp_path: Path):
    order = (first,) * WHOLE + (1 - first,) * WHOLE
    result = raced("Careless", order, tmp_path / "table", tmp_path / "arena")
    assert last(result) == ("mutant", REFERENCE)[first]
    assert violations(result) == [("mutant", "mutant", "log.added-file-size")]


def test_a_refusal_is_charged_to_who_was_refused(tmp_path: Path):
    order = (
        (1,) * (WHOLE - 1) + (0,) * WHOLE + (1,)
    )  # who refuses what meets another commit is about to publish
    result = raced("AnyRaceMutant", order, tmp_path / "ConflictsOnEverything" / "table", tmp_path / "arena")
    assert last(result) == REFERENCE
    assert violations(result) == [("mutant", "mutant", "race.conflicts-as-documented")]


def test_a_refusal_is_charged_to_who_was_refused_also_beside_one_whose_commits_may_replace_any_other(
    tmp_path: Path,
):
    order = (1,) * (WHOLE - 1) + (0,) * WHOLE + (1,)
    folder = tmp_path / "ConflictsOnEverything" / "table"
    result = raced("AnyRaceMutant", order, folder, tmp_path / "arena", promises=False)
    assert last(result) == REFERENCE
    assert violations(result) == [("mutant", "mutant", "race.conflicts-as-documented")]


def test_a_commit_beside_one_who_may_replace_any_other_is_charged_to_that_one(tmp_path: Path):
    order = (1,) * WHOLE + (0,) * WHOLE
    result = raced("Careless", order, tmp_path / "table", tmp_path / "arena", promises=False)
    assert violations(result) == [(REFERENCE, REFERENCE, "log.added-file-size")]


def test_the_honest_engine_does_again_what_met_another_commit(tmp_path: Path):
    order = (0,) * (WHOLE - 1) + (1,) * WHOLE + (0,) * WHOLE
    result = raced("AnyRaceMutant", order, tmp_path / "Honest" / "table", tmp_path / "arena")
    assert last(result) == REFERENCE
    assert violations(result) == []
