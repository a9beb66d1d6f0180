"""The minimal histories of causes in delta-rs, on tables that delta-spark wrote, still show them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from conformance.engine_pool import call_timeout
from conformance.execution.engine_session import EngineSession
from conformance.execution.table_session import TableSession
from conformance.histories import History
from delta_adapters.deviations import all_causes
from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine
from tests.adapters.deviations.shown import assert_shown

NAMES = (
    "delta-rs-far-timestamps",
    "delta-rs-overflows-int96",
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
def test_the_minimal_history_of_a_cause_on_a_shared_table_still_shows_it(tmp_path, engine_sessions, name):
    cause = next(cause for cause in all_causes() if cause.id == name)
    history = History.from_json(cause.history)
    table_session = TableSession(
        tmp_path / "table",
        [replace(engine_session, left=None) for engine_session in engine_sessions],
        1,
        name,
    )
    result = table_session.open_all()
    for step in history.steps:
        result += table_session.execute(step)
    assert_shown(cause, result)
