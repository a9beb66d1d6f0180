"""Each rule about writers at once is broken by an engine that is honest alone, and its honest twin is not heard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.checks import races
from conformance.crashes.stories import rows
from conformance.dealer import seat_of
from conformance.history import Step
from conformance.player import Judged
from conformance.races.desk import RaceDesk
from conformance.races.pairs import BEFORE, PAIRS
from conformance.turnstile.arena import Arena, Player
from conformance.turnstile.schedules import schedules
from delta_adapters.registry import parse_engine
from delta_models.operations import Append, Interleave, Read
from delta_models.outcomes import Rejected
from tests.races.liars import CAUGHT_AT, LIARS

ORDERS = 12  # evenly spread over all
# Engines that read what they have committed without another look at the log, and what each is heard by.
NO_LOOK: dict[str, set[str]] = {
    "KnowsItsOwnCommit": set(),
    "KnowsMoreThanItsOwnCommit": {"race.no-dirty-read"},
}


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """Two hosts that play whichever engine the path names, and two of the honest engine itself."""
    specs = {
        "liars": parse_engine(f"{Path(__file__).with_name('liars.py')}:OneOfThem"),
        "reference": parse_engine("reference"),
    }
    made = Arena(specs, tmp_path_factory.mktemp("arena"), lambda _: None)
    yield made
    made.close()


def raced(arena: Arena, folder: Path, pair: int, engine: str = "liars") -> list[Judged]:
    """A committed pair in some orders."""
    players: list[Player] = [each for each in (arena.player(engine, place) for place in "AB") if each]
    seats, actors = [seat_of(each.engine) for each in players], [each.actor for each in players]
    stand = RaceDesk(folder / "table", seats, actors, arena.turnstile, "t")
    stand.overlap = PAIRS[pair].overlap
    judged = list(stand.sit_down())
    for each in BEFORE:
        judged += [one for one in stand.play(Step(each)) if one is not None]
    operations = (PAIRS[pair].first, PAIRS[pair].second)
    gates = []
    for place, operation in enumerate(operations):
        alone = stand.copy(folder / f"alone{place}" / "table")
        list(alone.sit_down())
        gates.append(alone.gates(place, operation))
    orders = list(schedules(gates))
    for at, order in enumerate(orders[:: max(1, len(orders) // ORDERS)]):
        desk = stand.copy(folder / f"order{at}" / "table")
        judged += list(desk.sit_down())
        judged += [one for one in desk.play(Step(Interleave(operations, order))) if one is not None]
    return judged


def at_once(arena: Arena, folder: Path, race: Interleave) -> list[Judged]:
    """One race of the liar that the folder names, beside its twin."""
    players: list[Player] = [each for each in (arena.player("liars", place) for place in "AB") if each]
    seats, actors = [seat_of(each.engine) for each in players], [each.actor for each in players]
    desk = RaceDesk(folder / "table", seats, actors, arena.turnstile, "t")
    judged = list(desk.sit_down())
    for each in (*BEFORE, race):
        judged += [one for one in desk.play(Step(each)) if one is not None]
    return judged


def broken(judged: list[Judged]) -> dict[str, str]:
    return {breach.requirement: breach.detail for each in judged for breach in each.breaches}


@pytest.mark.parametrize(("name", "rule", "pair"), CAUGHT_AT, ids=str)
def test_a_liar_is_caught_at_its_own_rule(arena: Arena, name: str, rule: str, pair: int, tmp_path: Path):
    found = broken(raced(arena, tmp_path / name, pair))
    assert rule in found, found


@pytest.mark.parametrize("pair", sorted({pair for _, _, pair in CAUGHT_AT}))
def test_its_honest_twin_is_not(arena: Arena, pair: int, tmp_path: Path):
    judged = raced(arena, tmp_path / "Honest", pair)
    assert broken(judged) == {}
    assert not [fault for each in judged for fault in each.faults]
    rules = {rule for _, rule, at in CAUGHT_AT if at == pair} - {"race.told-truly"}  # it refuses nobody
    assert rules <= {rule for each in judged for rule, count in each.evidence.items() if count}


@pytest.mark.parametrize("pair", (1, 2, 5, 7, 8))
def test_two_of_the_honest_engine_race_and_neither_is_heard_or_refused(
    arena: Arena, pair: int, tmp_path: Path
):
    judged = raced(arena, tmp_path, pair, "reference")
    assert broken(judged) == {}
    races_seen = [each.seen.race for each in judged if each.seen.race is not None]
    assert races_seen
    assert not [each for race in races_seen for each in race.outcomes if isinstance(each, Rejected)]


@pytest.mark.parametrize(("name", "heard"), NO_LOOK.items())
@pytest.mark.parametrize("order", ((0, 0, 0, 0, 1, 1, 1, 1), (1, 1, 1, 1, 0, 0, 0, 0)), ids=str)
def test_a_reader_that_passes_no_gate_is_held_to_what_was_committed_when_its_own_writer_had_done(
    arena: Arena, order: tuple[int, ...], name: str, heard: set[str], tmp_path: Path
):
    race = Interleave((Append(rows(20)), Read(), Append(rows(21))), order, (0, 0, 1))
    judged = at_once(arena, tmp_path / name, race)
    also = {"read.latest"} if heard else set()  # the lie is told alone too
    assert set(broken(judged)) - also == heard
    seen = next(each.seen.race for each in judged if each.seen.race is not None)
    assert 1 not in {place for place, _ in seen.timeline}
    assert seen.published[1] == ({0} if order[0] == 0 else {0, 2})


def test_every_rule_has_its_liar():
    assert {rule for _, rule, _ in CAUGHT_AT} == set(races.JUDGES)
    assert {name for name, _, _ in CAUGHT_AT} == set(LIARS) - {"Honest", *NO_LOOK}
