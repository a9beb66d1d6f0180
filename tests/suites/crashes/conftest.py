from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conformance.execution.step_result import StepResult
from conformance.fault_injection.instrumented_engines import InstrumentedEngine, InstrumentedEngines
from conformance.histories import Step
from conformance.suites.context import engine_session_of
from conformance.suites.crashes.session import CrashTableSession
from delta_adapters.registry import parse_engine
from delta_models.operations import Operation
from tests.mutants.stage import ALWAYS


@dataclass
class HistoryResult:
    """The results of all steps of a history, and the table session that executed them."""

    table_session: CrashTableSession
    step_results: list[StepResult] = field(default_factory=list)

    @property
    def broken(self) -> set[str]:
        """The violated requirements, without the one that deltalake violates in each commit."""
        return {
            violation.requirement for step_result in self.step_results for violation in step_result.violations
        } - ALWAYS

    @property
    def evidence(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for step_result in self.step_results:
            for name, count in step_result.evidence.items():
                counts[name] = counts.get(name, 0) + count
        return counts

    def __str__(self) -> str:
        faults = [fault for step_result in self.step_results for fault in step_result.faults]
        return "\n".join(
            [
                f"{violation.requirement}: {violation.detail}"
                for step_result in self.step_results
                for violation in step_result.violations
            ]
            + faults
        )


@dataclass
class Stage:
    """Plays histories with an instrumented engine, each at a new table."""

    player: InstrumentedEngine

    def play(self, folder: Path, *operations: Operation) -> HistoryResult:
        table_session = CrashTableSession(
            folder / "table",
            [engine_session_of(self.player.engine)],
            self.player.instrumented_process,
            1,
            "t",
        )
        result = HistoryResult(table_session, table_session.open_all())
        for operation in operations:
            if table_session.plays:
                result.step_results += table_session.execute(Step(operation))
        return result


@pytest.fixture(scope="session")
def instrumented_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    """The engines of all tests here, each started on first use."""
    path = Path(__file__).parents[2] / "mutants" / "crash_mutants.py"
    names = {name: name for name in ("delta-rs", "delta-spark", "reference")} | {
        "mutants": f"{path}:AnyCrashMutant"
    }
    made = InstrumentedEngines(
        {name: parse_engine(text) for name, text in names.items()},
        tmp_path_factory.mktemp("arena"),
        lambda _: None,
    )
    yield made
    made.close()


@pytest.fixture(scope="session")
def delta_rs(instrumented_engines: InstrumentedEngines) -> Stage:
    player = instrumented_engines.get("delta-rs")
    assert player is not None
    return Stage(player)


@pytest.fixture(scope="session")
def mutants(instrumented_engines: InstrumentedEngines) -> Stage:
    player = instrumented_engines.get("mutants")
    assert player is not None
    return Stage(player)
