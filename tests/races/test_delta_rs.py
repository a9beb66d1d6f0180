"""Two deltalakes at one table: what is known of them, what orders come to, and that they come to it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.chunks import play_chunk
from conformance.dealer import Dealer, seat_of
from conformance.events import (
    Event,
    Evidence,
    FindingFound,
    HarnessFault,
    HistoryEnded,
    Raced,
    from_json,
    to_line,
)
from conformance.findings import key_of
from conformance.findings.causes import known_deviation
from conformance.findings.replay import FAILS, replay
from conformance.history import History, Step
from conformance.hosts import Hosts
from conformance.keeper import Keeper
from conformance.plan import Chunk
from conformance.player import Judged
from conformance.races.desk import RaceDesk
from conformance.turnstile.arena import Arena
from delta_adapters.deviations import Deviation, all_deviations
from delta_adapters.registry import parse_engine
from delta_models.operations import Operation
from tests.liars.stage import ALWAYS_KNOWN

KNOWN = [each for each in all_deviations() if each.history["suite"] == "races"]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    made = Arena({"delta-rs": parse_engine("delta-rs")}, tmp_path_factory.mktemp("arena"), lambda _: None)
    yield made
    made.close()


def played(arena: Arena, folder: Path, *operations: Operation) -> list[Judged]:
    players = [each for each in (arena.player("delta-rs", place) for place in "AB") if each]
    seats, actors = [seat_of(each.engine) for each in players], [each.actor for each in players]
    desk = RaceDesk(folder / "table", seats, actors, arena.turnstile, "t")
    judged = list(desk.sit_down())
    for each in operations:
        judged += [one for one in desk.play(Step(each)) if one is not None]
    return judged


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry.name)
def test_its_smallest_history_still_shows_it(arena: Arena, entry: Deviation, tmp_path: Path):
    history = History.from_json(entry.history)
    judged = played(arena, tmp_path, *(each.operation for each in history.steps))
    keys = [key_of(each.seen, breach) for each in judged for breach in each.breaches]
    assert set(entry.fingerprints) <= {each.fingerprint for each in keys}, keys
    assert {known_deviation(each, history=history) for each in keys} | ALWAYS_KNOWN == {
        entry.name
    } | ALWAYS_KNOWN, keys


def test_a_chunk_tells_of_orders_and_conflicts_and_its_findings_replay(arena: Arena, tmp_path: Path):
    told: list[Event] = []
    with Hosts([parse_engine("delta-rs")], tmp_path / "hosts", told.append) as hosts:
        dealer = Dealer(hosts, Keeper(tmp_path), told.append, lambda: False, arena)
        play_chunk(dealer, Chunk("races", "dev", 0, 2, histories=15, steps=3), tmp_path / "work")
    assert [each for each in told if isinstance(each, HarnessFault)] == []
    assert [each.detail for each in told if isinstance(each, FindingFound) and not each.known] == []
    raced = [each for each in told if isinstance(each, Raced)]
    assert len(raced) == 15
    assert sum(each.schedules for each in raced) >= 40
    assert not any(each.conflicts for each in raced if each.documented == "cannot conflict")
    assert any(each.conflicts for each in raced)
    assert sum(each.schedules for each in told if isinstance(each, HistoryEnded)) >= 40
    assert {each.processes for each in told if isinstance(each, Evidence)} == {"several"}
    assert [from_json(json.loads(to_line(each))) for each in told] == told, "a worker can't send it"
    found = [each for each in told if isinstance(each, FindingFound)]
    expected = {"delta-rs-optimizes-double-rows", "delta-rs-append-refused-after-removal", *ALWAYS_KNOWN}
    assert {each.deviation for each in found} == expected
    assert replay(tmp_path / found[0].folder).exit == FAILS
