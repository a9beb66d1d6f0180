"""`tools/drawn_histories.py`: a seed has its own digests, and every kind of history is digested."""

from __future__ import annotations

import json

import pytest

from conformance.histories import Chunk
from delta_models.codec import decode
from delta_models.operations import Operation
from tools.drawn_histories import chunks_of, digest, histories_of, main

SMALL = Chunk("lockstep", "dev", 0, seed=5, histories=2, steps=4)


def test_the_same_seed_draws_the_same_histories_and_another_seed_others():
    first = histories_of(SMALL)
    assert [number for number, _ in first] == [0, 1]
    assert digest(histories_of(SMALL)) == digest(first)
    assert digest(histories_of(Chunk("lockstep", "dev", 0, seed=6, histories=2, steps=4))) != digest(first)


def test_each_chunk_ends_with_its_digest_and_whole_histories_are_json_of_operations(capsys):
    assert main(["--profile", "dev", "--of-each", "1", "--whole"]) == 0
    lines = capsys.readouterr().out.splitlines()
    drawn = next(line for line in lines if line.startswith("lockstep-0 history 0: "))
    history = json.loads(drawn.partition(" steps ")[2])
    assert set(history) == {"table", "steps"}
    assert all(isinstance(decode(step["operation"]), Operation) for step in history["steps"])
    assert any(line.startswith("lockstep-0 seed ") for line in lines)
    assert lines[-1].startswith("profile dev, seed 1: ")


@pytest.mark.parametrize(
    ("chunk", "member"),
    (
        (Chunk("examples", "ci", 0, 1), "example"),
        (Chunk("crashes", "ci", 0, 1, histories=2, table="changes"), "fault_at"),
        (Chunk("races", "ci", 0, 1, histories=3), "overlap"),
    ),
    ids=("examples", "crashes", "races"),
)
def test_committed_histories_are_digested_too(chunk, member):
    histories = histories_of(chunk)
    assert histories
    assert all(member in history and history["steps"] for _, history in histories)


def test_of_each_limits_the_chunks_of_a_kind():
    kinds = [(chunk.suite, chunk.table) for chunk in chunks_of("nightly", seed=1, of_each=1)]
    assert len(kinds) == len(set(kinds))
    assert len(list(chunks_of("nightly", seed=1, of_each=None))) > len(kinds)
