"""Each of two engines at one table is charged with its own commits and refusals, whichever came last."""

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

RACE_MUTANTS = Path(__file__).parents[2] / "mutants" / "race_mutants.py"
REFERENCE = "reference"
WHOLE = len(GATES)


def race_two_appends(
    mutant: str, order: tuple[int, ...], table: Path, work: Path, *, promises: bool = True
) -> list[StepResult]:
    """Race an append of the reference and one of a mutant; return the step results.

    Without `promises`, the reference guarantees no atomic commits.
    """
    specs = {engine: parse_engine(engine) for engine in (REFERENCE, f"{RACE_MUTANTS}:{mutant}")}
    instrumented_engines = InstrumentedEngines(specs, work, lambda _: None)
    try:
        players = [player for player in map(instrumented_engines.get, specs) if player]
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
        for operation in BEFORE:
            table_session.execute(Step(operation))
        race = Interleave((Append(rows(20)), Append(rows(21))), order)
        return table_session.execute(Step(race))
    finally:
        instrumented_engines.close()


def charged_engine(result: list[StepResult]) -> str:
    """Return the engine that is charged with the rows of the table."""
    (engine,) = [
        step_result.engine_session.engine
        for step_result in result
        if "race.no-lost-update" in step_result.evidence
    ]
    return engine.partition("@")[0]


def violations(result: list[StepResult]) -> list[tuple[str, str, str]]:
    return [
        (
            step_result.engine_session.engine.partition("@")[0],
            step_result.observation.engine.partition("@")[0],
            violation.requirement,
        )
        for step_result in result
        for violation in step_result.violations
    ]


@pytest.mark.parametrize("first", (0, 1))
def test_a_commit_is_charged_to_its_writer(first: int, tmp_path: Path):
    order = (first,) * WHOLE + (1 - first,) * WHOLE
    result = race_two_appends("Careless", order, tmp_path / "table", tmp_path / "arena")
    assert charged_engine(result) == ("mutant", REFERENCE)[first]
    assert violations(result) == [("mutant", "mutant", "log.added-file-size")]


def test_a_refusal_is_charged_to_the_refused_engine(tmp_path: Path):
    order = (
        (1,) * (WHOLE - 1) + (0,) * WHOLE + (1,)
    )  # an engine that refuses after a conflicting commit was about to publish
    result = race_two_appends(
        "AnyRaceMutant", order, tmp_path / "ConflictsOnEverything" / "table", tmp_path / "arena"
    )
    assert charged_engine(result) == REFERENCE
    assert violations(result) == [("mutant", "mutant", "race.conflicts-as-documented")]


def test_a_refusal_is_charged_to_the_refused_engine_beside_a_non_atomic_writer(
    tmp_path: Path,
):
    order = (1,) * (WHOLE - 1) + (0,) * WHOLE + (1,)
    folder = tmp_path / "ConflictsOnEverything" / "table"
    result = race_two_appends("AnyRaceMutant", order, folder, tmp_path / "arena", promises=False)
    assert charged_engine(result) == REFERENCE
    assert violations(result) == [("mutant", "mutant", "race.conflicts-as-documented")]


def test_a_commit_beside_a_non_atomic_writer_is_charged_to_that_writer(tmp_path: Path):
    order = (1,) * WHOLE + (0,) * WHOLE
    result = race_two_appends("Careless", order, tmp_path / "table", tmp_path / "arena", promises=False)
    assert violations(result) == [(REFERENCE, REFERENCE, "log.added-file-size")]


def test_the_honest_engine_retries_after_a_conflicting_commit(tmp_path: Path):
    order = (0,) * (WHOLE - 1) + (1,) * WHOLE + (0,) * WHOLE
    result = race_two_appends("AnyRaceMutant", order, tmp_path / "Honest" / "table", tmp_path / "arena")
    assert charged_engine(result) == REFERENCE
    assert violations(result) == []
