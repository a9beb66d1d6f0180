"""Races are judged while engines are at the next, from a table that a dear engine makes once; nothing else changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.accounts import Account
from conformance.dealer import Dealer, seat_of
from conformance.events import Event, HarnessFault, HistoryEnded, Raced
from conformance.history import Step
from conformance.hosts import Hosts
from conformance.keeper import Keeper
from conformance.plan import Chunk
from conformance.player import Judged
from conformance.races.ahead import Ahead
from conformance.races.desk import GUARANTEE, IN_TURN, RaceDesk
from conformance.races.game import Races
from conformance.races.groups import Group
from conformance.races.pairs import BEFORE, PAIRS, Pair
from conformance.turnstile.arena import Arena
from delta_adapters.registry import parse_engine
from delta_models.operations import Interleave

CHUNK = Chunk("races", "dev", 0, 1, histories=3, steps=4)


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    made = Arena({"delta-rs": parse_engine("delta-rs")}, tmp_path_factory.mktemp("arena"), lambda _: None)
    yield made
    made.close()


@pytest.fixture
def told() -> list[Event]:
    return []


@pytest.fixture
def dealer(arena: Arena, told: list[Event], tmp_path: Path) -> Dealer:
    hosts = Hosts([parse_engine("delta-rs")], tmp_path / "hosts", told.append)
    return Dealer(hosts, Keeper(tmp_path), told.append, lambda: False, arena)


def twins(arena: Arena, *, dear: bool = False) -> Group:
    players = [each for each in (arena.player("delta-rs", place) for place in "AB") if each is not None]
    if dear:
        players = [replace(each, engine=replace(each.engine, heavy=True)) for each in players]
    return Group(tuple(players))


def played(
    dealer: Dealer, games: Sequence[tuple[Group, Sequence[Pair]]], folder: Path, told: list[Event]
) -> tuple[list[Raced], int]:
    """Pairs, those of each game by one group; what was told of them, and how many operations were asked for."""
    for number, (group, pairs) in enumerate(games):
        game = Races(dealer, CHUNK, folder / f"{number}")
        for at, pair in enumerate(pairs):
            account = Account(CHUNK, at, dealer.keeper, told.append)
            stand = group.desk(dealer, folder / f"{number}-{at}" / "table", "t")
            assert game.play_pair(account, stand, pair, group)
            account.close([stand])
    assert [each for each in told if isinstance(each, HarnessFault)] == []
    raced = [each for each in told if isinstance(each, Raced)]
    asked = sum(sum(each.operations.values()) for each in told if isinstance(each, HistoryEnded))
    told.clear()
    return raced, asked


def test_a_group_makes_the_table_once_and_the_pairs_come_to_the_same(
    arena: Arena, dealer: Dealer, told: list[Event], tmp_path: Path
):
    played(dealer, [(twins(arena), PAIRS[:1])], tmp_path / "first", told)  # its gates are known from here on
    alone = [(twins(arena), [each]) for each in PAIRS[:3]]
    played(dealer, alone, tmp_path / "known", told)
    each_anew, asked = played(dealer, alone, tmp_path / "anew", told)
    once, fewer = played(dealer, [(twins(arena), PAIRS[:3])], tmp_path / "once", told)
    assert once == each_anew
    assert [each.schedules for each in once] == [4, 4, 4]
    assert asked - fewer == 2 * (len(BEFORE) + len(BEFORE))  # each with a read after it


def test_what_goes_wrong_while_engines_race_is_told_of_that_race_and_the_next_is_played(
    arena: Arena, dealer: Dealer, told: list[Event], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real, calls = RaceDesk._run, []

    def second_fails(desk: RaceDesk, race: Interleave) -> object:
        calls.append(race)
        if len(calls) == 2:
            raise LookupError("something of ours")
        return real(desk, race)

    monkeypatch.setattr(RaceDesk, "_run", second_fails)
    group = twins(arena)
    game = Races(dealer, CHUNK, tmp_path / "game")
    account = Account(CHUNK, 0, dealer.keeper, told.append)
    game.play_pair(account, group.desk(dealer, tmp_path / "table" / "table", "t"), PAIRS[0], group)
    faults = [each for each in told if isinstance(each, HarnessFault)]
    assert ["something of ours" in each.message for each in faults] == [True]
    assert [each.schedules for each in told if isinstance(each, Raced)] == [3]


def test_a_reader_beside_one_who_publishes_in_turn_may_see_what_that_one_has_committed(
    arena: Arena, tmp_path: Path
):
    append = PAIRS[0].first
    assert PAIRS[3].name == "Append and Read, table"
    for at, order in enumerate(((0, 0, 0, 1), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))):
        seats = [seat_of(each.engine) for each in twins(arena).players]
        weak = replace(seats[0].capabilities, guarantees={GUARANTEE: False})
        seats = [replace(each, capabilities=weak) for each in seats]
        actors = [each.actor for each in twins(arena).players]
        desk = RaceDesk(tmp_path / f"{at}" / "table", seats, actors, arena.turnstile, "t")
        desk.processes = IN_TURN
        judged: list[Judged] = list(desk.sit_down())
        for operation in (*BEFORE, Interleave((append, PAIRS[3].second), order)):
            judged += [each for each in desk.play(Step(operation)) if each is not None]
        race = next(each.seen.race for each in judged if each.seen.race is not None)
        assert [gate for place, gate in race.timeline if place == 0] == ["snapshot", "data", "staging"]
        assert race.published[1] == ({0} if order == (0, 0, 0, 1) else set())
        assert len(race.seen[1]) == 5 + (order == (0, 0, 0, 1))
        assert "race.no-dirty-read" not in {breach.requirement for each in judged for breach in each.breaches}


def test_what_is_raised_ahead_is_raised_to_who_asks_for_the_result():
    def fails(_eased: Callable[[], None]) -> None:
        raise KeyError("there")

    ahead = Ahead(fails)
    ahead.wait_until_eased()
    ahead.wait()
    with pytest.raises(KeyError, match="there"):
        ahead.result()
    assert Ahead(lambda _eased: 7).result() == 7


def test_who_waits_goes_on_as_soon_as_the_work_is_eased():
    go_on = threading.Event()

    def works(eased: Callable[[], None]) -> bool:
        eased()
        return go_on.wait(20)

    ahead = Ahead(works)
    ahead.wait_until_eased()
    go_on.set()
    assert ahead.result() is True
