"""Of two engines at one table each is charged with its own commits and refusals, whoever came last."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.crashes.stories import rows
from conformance.dealer import seat_of
from conformance.history import Step
from conformance.player import Judged
from conformance.races.desk import GUARANTEE, SEVERAL, RaceDesk
from conformance.races.pairs import BEFORE
from conformance.turnstile.arena import Arena
from conformance.turnstile.schedules import GATES
from delta_adapters.registry import parse_engine
from delta_models.operations import Append, Interleave

LIARS = Path(__file__).with_name("liars.py")
REFERENCE = "reference"
WHOLE = len(GATES)


def raced(
    other: str, order: tuple[int, ...], table: Path, work: Path, *, promises: bool = True
) -> list[Judged]:
    """Two appends in an order, by the reference, which may promise nothing of others' commits, and another engine."""
    specs = {each: parse_engine(each) for each in (REFERENCE, f"{LIARS}:{other}")}
    arena = Arena(specs, work, lambda _: None)
    try:
        players = [each for each in map(arena.player, specs) if each]
        seats, actors = [seat_of(each.engine) for each in players], [each.actor for each in players]
        if not promises:
            seats[0].capabilities = replace(seats[0].capabilities, guarantees={GUARANTEE: False})
        desk = RaceDesk(table, seats, actors, arena.turnstile, "t")
        assert desk.processes == SEVERAL
        assert [desk.promised(each) for each in seats] == [promises, True]
        list(desk.sit_down())
        for each in BEFORE:
            list(desk.play(Step(each)))
        race = Interleave((Append(rows(20)), Append(rows(21))), order)
        return [each for each in desk.play(Step(race)) if each is not None]
    finally:
        arena.close()


def last(judged: list[Judged]) -> str:
    """Who answers for the rows."""
    (engine,) = [each.seat.engine for each in judged if "race.no-lost-update" in each.evidence]
    return engine.partition("@")[0]


def breaches(judged: list[Judged]) -> list[tuple[str, str, str]]:
    return [
        (each.seat.engine.partition("@")[0], each.seen.engine.partition("@")[0], one.requirement)
        for each in judged
        for one in each.breaches
    ]


@pytest.mark.parametrize("first", (0, 1))
def test_a_commit_is_charged_to_who_made_it(first: int, tmp_path: Path):
    order = (first,) * WHOLE + (1 - first,) * WHOLE
    judged = raced("Careless", order, tmp_path / "table", tmp_path / "arena")
    assert last(judged) == ("liar", REFERENCE)[first]
    assert breaches(judged) == [("liar", "liar", "log.added-file-size")]


def test_a_refusal_is_charged_to_who_was_refused(tmp_path: Path):
    order = (
        (1,) * (WHOLE - 1) + (0,) * WHOLE + (1,)
    )  # who refuses what meets another commit is about to publish
    judged = raced("OneOfThem", order, tmp_path / "ConflictsOnEverything" / "table", tmp_path / "arena")
    assert last(judged) == REFERENCE
    assert breaches(judged) == [("liar", "liar", "race.conflicts-as-documented")]


def test_a_refusal_is_charged_to_who_was_refused_also_beside_one_whose_commits_may_replace_any_other(
    tmp_path: Path,
):
    order = (1,) * (WHOLE - 1) + (0,) * WHOLE + (1,)
    folder = tmp_path / "ConflictsOnEverything" / "table"
    judged = raced("OneOfThem", order, folder, tmp_path / "arena", promises=False)
    assert last(judged) == REFERENCE
    assert breaches(judged) == [("liar", "liar", "race.conflicts-as-documented")]


def test_a_commit_beside_one_who_may_replace_any_other_is_charged_to_that_one(tmp_path: Path):
    order = (1,) * WHOLE + (0,) * WHOLE
    judged = raced("Careless", order, tmp_path / "table", tmp_path / "arena", promises=False)
    assert breaches(judged) == [(REFERENCE, REFERENCE, "log.added-file-size")]


def test_the_honest_engine_does_again_what_met_another_commit(tmp_path: Path):
    order = (0,) * (WHOLE - 1) + (1,) * WHOLE + (0,) * WHOLE
    judged = raced("OneOfThem", order, tmp_path / "Honest" / "table", tmp_path / "arena")
    assert last(judged) == REFERENCE
    assert breaches(judged) == []
