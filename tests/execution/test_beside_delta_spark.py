"""Known deviations of delta-rs on tables that delta-spark wrote still happen in their smallest histories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from conformance.engine_pool import call_timeout
from conformance.execution.engine_session import EngineSession
from conformance.execution.table_session import TableSession
from conformance.findings import key_of, known_deviation
from conformance.histories import History
from delta_adapters.deviations import all_deviations
from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine
from tests.mutants.stage import ALWAYS, ALWAYS_KNOWN

NAMES = (
    "delta-rs-far-timestamps",
    "delta-rs-stats-of-removes",
    "delta-rs-vacuum-of-deletion-vectors",
)


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def engine_sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[EngineSession]]:
    """delta-spark and delta-rs, started once."""
    with ExitStack() as stack:
        hosts = [
            stack.enter_context(HostClient.start(parse_engine(name), tmp_path_factory.mktemp(name)))
            for name in ("delta-spark", "delta-rs")
        ]
        yield [
            EngineSession(str(host.identity), host, host.capabilities, call_timeout(on_jvm=True))
            for host in hosts
        ]


@pytest.mark.parametrize("name", NAMES)
def test_a_known_deviation_on_a_shared_table_still_happens(tmp_path, engine_sessions, name):
    entry = next(deviation for deviation in all_deviations() if deviation.name == name)
    history = History.from_json(entry.history)
    table_session = TableSession(
        tmp_path / "table",
        [replace(engine_session, left=None) for engine_session in engine_sessions],
        1,
        name,
    )
    result = table_session.open_all()
    for step in history.steps:
        result += table_session.execute(step)
    violations = [
        (step_result.observation, violation) for step_result in result for violation in step_result.violations
    ]
    violation_of = {key_of(observation, violation): violation for observation, violation in violations}
    assert {key.fingerprint for key in violation_of if key.requirement not in ALWAYS} <= set(
        entry.fingerprints
    ), violation_of
    assert {known_deviation(key, "1.6.6", history) for key in violation_of} - ALWAYS_KNOWN == {entry.name}
