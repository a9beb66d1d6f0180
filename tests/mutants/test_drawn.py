"""The liars that matter most are heard in drawn `dev` histories too, with each of three seeds; the honest is not."""

from __future__ import annotations

import pytest

from delta_adapters.reference import Reference
from tests.mutants.drawn import NAMED, SEEDS, heard

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("liar", NAMED, ids=lambda liar: liar.__name__)
def test_a_named_liar_is_heard_in_drawn_histories(liar: type[Reference], seed: int, tmp_path):
    game = heard(liar, seed, tmp_path)
    assert game.played.broken, f"not heard in {game.steps} steps: {liar.__doc__}"


@pytest.mark.parametrize("seed", SEEDS[:1])  # the others: ./dev bench liars
def test_the_honest_engine_breaks_nothing_in_drawn_histories(seed: int, tmp_path):
    game = heard(Reference, seed, tmp_path, most=1)
    assert game.played.broken == set(), game.played.told()
    assert game.played.faults == []
    assert game.steps > 200
