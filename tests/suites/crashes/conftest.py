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
class Told:
    """What a history came to."""

    table_session: CrashTableSession
    result: list[StepResult] = field(default_factory=list)

    @property
    def broken(self) -> set[str]:
        """What was breached, but for what deltalake breaks in each commit."""
        return {violation.requirement for each in self.result for violation in each.violations} - ALWAYS

    @property
    def evidence(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for each in self.result:
            for name, count in each.evidence.items():
                found[name] = found.get(name, 0) + count
        return found

    def __str__(self) -> str:
        faults = [fault for each in self.result for fault in each.faults]
        return "\n".join(
            [f"{b.requirement}: {b.detail}" for each in self.result for b in each.violations] + faults
        )


@dataclass
class Stage:
    """An engine behind the turnstile; a new table for each history."""

    player: InstrumentedEngine

    def play(self, folder: Path, *operations: Operation) -> Told:
        table_session = CrashTableSession(
            folder / "table",
            [engine_session_of(self.player.engine)],
            self.player.instrumented_process,
            1,
            "t",
        )
        told = Told(table_session, table_session.open_all())
        for operation in operations:
            if table_session.plays:
                told.result += table_session.execute(Step(operation))
        return told


@pytest.fixture(scope="session")
def instrumented_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    """The engines of all tests here, each started when it is first asked for."""
    liars = Path(__file__).parents[2] / "mutants" / "crash_mutants.py"
    names = {each: each for each in ("delta-rs", "delta-spark", "reference")} | {
        "liars": f"{liars}:AnyCrashMutant"
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
def liars(instrumented_engines: InstrumentedEngines) -> Stage:
    player = instrumented_engines.get("liars")
    assert player is not None
    return Stage(player)
