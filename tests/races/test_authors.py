"""Of two engines at one table each is charged with what is wrong with its own commits, whoever came last."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.crashes.stories import rows
from conformance.dealer import seat_of
from conformance.history import Step
from conformance.races.desk import SEVERAL, RaceDesk
from conformance.races.pairs import BEFORE
from conformance.turnstile.arena import Arena
from conformance.turnstile.schedules import GATES
from delta_adapters.registry import parse_engine
from delta_models.operations import Append, Interleave

CARELESS = f"{Path(__file__).with_name('liars.py')}:Careless"


@pytest.mark.parametrize("first", (0, 1))
def test_a_commit_is_charged_to_who_made_it(first: int, tmp_path: Path):
    specs = {each: parse_engine(each) for each in ("reference", CARELESS)}
    arena = Arena(specs, tmp_path / "arena", lambda _: None)
    try:
        players = [each for each in map(arena.player, specs) if each]
        seats, actors = [seat_of(each.engine) for each in players], [each.actor for each in players]
        desk = RaceDesk(tmp_path / "table", seats, actors, arena.turnstile, "t")
        list(desk.sit_down())
        for each in BEFORE:
            list(desk.play(Step(each)))
        order = (first,) * len(GATES) + (1 - first,) * len(GATES)
        race = Interleave((Append(rows(20)), Append(rows(21))), order)
        judged = [each for each in desk.play(Step(race)) if each is not None]
    finally:
        arena.close()
    assert desk.processes == SEVERAL
    (last,) = [each.seat.engine for each in judged if "race.no-lost-update" in each.evidence]
    assert last.startswith(("liar", "reference")[first])
    breaches = [
        (each.seat.engine, each.seen.engine, one.requirement) for each in judged for one in each.breaches
    ]
    assert breaches == [("liar@1.0", "liar@1.0", "log.added-file-size")]
