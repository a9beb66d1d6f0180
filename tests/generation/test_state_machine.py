"""Draws depend on the seed, the profile and the model alone."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.generation import state_machine
from conformance.histories import Chunk, History, Step
from delta_models.operations import Create, Reopen

CHUNK = Chunk("shared", "ci", 0, 20_261, 4, 25)


class CollectingPlayer:
    """Keeps what is drawn, and is over after so many steps."""

    def __init__(self, enough: int = 10**9) -> None:
        self.histories: list[list[Step]] = []
        self.numbers: list[int] = []
        self.ended = 0
        self.steps = 0
        self.enough = enough

    def begin(self, history, shape):
        self.numbers.append(history)
        self.histories.append([])

    def play(self, step):
        self.steps += 1
        self.histories[-1].append(step)

    def end(self):
        self.ended += 1

    def is_over(self):
        return self.steps >= self.enough


def drawn(chunk=CHUNK, *, shared=True, enough=10**9) -> CollectingPlayer:
    player = CollectingPlayer(enough)
    state_machine.draw(chunk, player, shared=shared)
    return player


def digest(player: CollectingPlayer) -> str:
    forms = [History("s", "p", 0, 0, tuple(history)).to_json()["steps"] for history in player.histories]
    return hashlib.sha256(json.dumps(forms, sort_keys=True).encode()).hexdigest()


@pytest.fixture(scope="module")
def player() -> CollectingPlayer:
    return drawn()


def test_a_chunk_has_its_histories_and_each_has_its_steps(player):
    assert [len(history) for history in player.histories] == [25] * 4
    assert player.numbers == [0, 1, 2, 3]
    assert player.ended == 4


def test_a_history_begins_with_a_table(player):
    assert all(isinstance(history[0].operation, Create) for history in player.histories)


def test_the_table_is_addressed_anew_after_whatever_leaves_caches_warm(player):
    for steps in player.histories:
        for first, then in pairwise(steps):
            if isinstance(first.operation, state_machine.REOPEN_AFTER):
                assert isinstance(then.operation, Reopen)


def test_steps_of_a_shared_table_have_a_slot_and_others_none(player):
    assert {step.slot for steps in player.histories for step in steps} == {"A", "B", "C"}
    alone = drawn(Chunk("lockstep", "ci", 0, 1, 1, 5), shared=False)
    assert {step.slot for steps in alone.histories for step in steps} == {None}


def test_another_process_with_other_modules_loaded_draws_the_same_even_under_ci(player):
    code = (
        "import sqlite3, xml.dom.minidom; from tests.generation.test_state_machine "
        "import digest, drawn; print(digest(drawn()))"
    )
    drawn_elsewhere = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "CI": "true", "PYTHONHASHSEED": "7"},
    )  # fmt: skip
    assert drawn_elsewhere.stdout.strip() == digest(player)


def test_what_other_tests_of_the_process_have_drawn_changes_nothing(player):
    @settings(max_examples=200, database=None)
    @given(st.tuples(st.integers(), st.integers(0, 100), st.text(), st.floats()))
    def another_test(values):
        assert len(values) == 4

    another_test()
    assert digest(drawn()) == digest(player)


def test_another_seed_draws_other_histories(player):
    assert digest(drawn(Chunk("shared", "ci", 0, 20_262, 4, 25))) != digest(player)


def test_a_player_that_is_over_gets_no_more_and_what_was_drawn_until_then_is_the_same(player):
    cut = drawn(enough=30)
    assert [len(history) for history in cut.histories] == [25, 5]
    assert cut.histories[1] == player.histories[1][:5]


def test_what_a_player_raises_comes_out_and_is_not_swallowed():
    class Broken(CollectingPlayer):
        def play(self, step):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        state_machine.draw(CHUNK, Broken(), shared=True)
