"""What delta-rs is known to do wrong to tables that delta-spark wrote still happens, in each smallest history."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from conformance.findings import key_of, known_deviation
from conformance.history import History
from conformance.hosts import call_timeout
from conformance.player import Desk, play
from conformance.seats import Seat
from delta_adapters.deviations import all_deviations
from delta_adapters.registry import parse_engine
from delta_adapters.supervisor import Host
from tests.liars.stage import ALWAYS, ALWAYS_KNOWN

NAMES = (
    "delta-rs-far-timestamps",
    "delta-rs-stats-of-removes",
    "delta-rs-vacuum-of-deletion-vectors",
)


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def seats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Seat]]:
    """delta-spark and delta-rs, started once."""
    with ExitStack() as stack:
        hosts = [
            stack.enter_context(Host.start(parse_engine(each), tmp_path_factory.mktemp(each)))
            for each in ("delta-spark", "delta-rs")
        ]
        yield [Seat(str(each.identity), each, each.capabilities, call_timeout(heavy=True)) for each in hosts]


@pytest.mark.parametrize("name", NAMES)
def test_a_known_deviation_on_a_shared_table_still_happens(tmp_path, seats, name):
    entry = next(each for each in all_deviations() if each.name == name)
    history = History.from_json(entry.history)
    desk = Desk(tmp_path / "table", [replace(each, left=None) for each in seats], 1, name)
    judged = list(desk.sit_down())
    for step in history.steps:
        judged += [each for _, each in play([desk], step)]
    breaches = [(each.seen, breach) for each in judged for breach in each.breaches]
    found = {key_of(seen, breach): breach for seen, breach in breaches}
    assert {each.fingerprint for each in found if each.requirement not in ALWAYS} <= set(
        entry.fingerprints
    ), found
    assert {known_deviation(each, "1.6.6", history) for each in found} - ALWAYS_KNOWN == {entry.name}
