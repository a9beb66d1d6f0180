"""Generated histories of `dev` catch the mutants that matter most, with each of three seeds."""

from __future__ import annotations

import pytest

from delta_adapters.reference import Reference
from tests.mutants.generated_histories import NAMED, SEEDS, play_until_violation

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mutant", NAMED, ids=lambda mutant: mutant.__name__)
def test_generated_histories_catch_a_named_mutant(mutant: type[Reference], seed: int, tmp_path):
    game = play_until_violation(mutant, seed, tmp_path)
    assert game.played.broken, f"not caught in {game.steps} steps: {mutant.__doc__}"


@pytest.mark.parametrize("seed", SEEDS[:1])  # the others: ./dev bench mutants
def test_the_honest_engine_violates_nothing_in_generated_histories(seed: int, tmp_path):
    game = play_until_violation(Reference, seed, tmp_path, most=1)
    assert game.played.broken == set(), game.played.describe()
    assert game.played.faults == []
    assert game.steps > 200
