"""The worker with the JVMs plays their histories alone, and listeners still see whole chunks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from conformance.events.types import ChunkEnded, ChunkStarted, HistoryEnded, Note
from conformance.histories import Chunk
from conformance.runner import coordinator
from conformance.runner.chunk_parts import ChunkParts
from conformance.suites.examples import EXAMPLES
from delta_adapters.registry import parse_engine
from tests.command_runs import engine
from tests.suites.chunks import play_chunks

CHUNK = Chunk("lockstep", "ci", 3, 77, histories=4, steps=5, heavy=(1, 3))
STARTED = ChunkStarted("lockstep", "ci", 3, 77)


def ended(*, complete=True, seconds=1.0):
    return ChunkEnded("lockstep", "ci", 3, complete=complete, seconds=seconds)


def test_a_chunk_is_split_into_the_histories_of_the_jvm_and_the_others():
    heavy, light = ChunkParts().split([CHUNK])
    assert heavy == replace(CHUNK, part=(1, 3))
    assert light == replace(CHUNK, part=(0, 2), heavy=())


@pytest.mark.parametrize(
    "chunk",
    (
        replace(CHUNK, heavy=()),
        replace(CHUNK, heavy=(0, 1, 2, 3)),
        replace(CHUNK, suite="crashes"),
        replace(CHUNK, suite="races"),
    ),
    ids=("no-jvm", "jvm-alone", "crashes", "races"),
)
def test_a_chunk_that_has_no_parts_stays_whole_and_so_do_its_events(chunk):
    parts = ChunkParts()
    assert list(parts.split([chunk])) == [chunk]
    event = ChunkEnded(chunk.suite, chunk.profile, chunk.number, complete=True)
    assert parts.join(event) == event


def test_parts_cross_to_the_worker():
    for part in ChunkParts().split([CHUNK]):
        assert Chunk.from_json(part.to_json()) == part


@pytest.mark.parametrize("complete", (True, False))
def test_a_chunk_begins_with_its_first_part_and_ends_with_its_last(complete):
    parts = ChunkParts()
    list(parts.split([CHUNK]))
    events = (STARTED, ended(complete=complete), STARTED, Note("a note"), ended())
    told = [parts.join(event) for event in events]
    assert told == [STARTED, None, None, Note("a note"), ended(complete=complete, seconds=2.0)]


def test_a_chunk_of_which_one_part_never_ends_does_not_end():
    parts = ChunkParts()
    list(parts.split([CHUNK]))
    assert parts.join(STARTED) == STARTED
    assert parts.join(ended()) is None


@pytest.mark.parametrize("suite", ("lockstep", "shared"))
def test_the_parts_of_a_chunk_are_the_histories_that_the_whole_chunk_has(tmp_path, suite):
    chunk = replace(CHUNK, suite=suite, steps=3)
    events = play_chunks([parse_engine(engine("Honest"))], [*ChunkParts().split([chunk]), chunk], tmp_path)
    played: list[dict[int, object]] = [{}]
    for event in events:
        if isinstance(event, HistoryEnded):
            played[-1][event.history] = (event.steps, event.operations, event.dear)
        elif isinstance(event, ChunkEnded):
            assert event.complete
            played.append({})
    heavy, light, whole, _ = played
    assert sorted(heavy) == [1, 3]
    assert sorted(light) == [0, 2]
    assert heavy | light == whole


def test_the_parts_of_the_examples_are_the_examples(tmp_path):
    chunk = Chunk("examples", "dev", 0, 1, histories=len(EXAMPLES), heavy=(2, 6, 7))
    heavy, light = ChunkParts().split([chunk])
    assert (heavy.part, light.part) == ((2, 6, 7), (0, 1, 3, 4, 5, 8))
    events = play_chunks([parse_engine(engine("Honest"))], [heavy], tmp_path)
    assert [event.history for event in events if isinstance(event, HistoryEnded)] == [2, 6, 7]
    assert [event.complete for event in events if isinstance(event, ChunkEnded)] == [True]


def test_two_workers_play_each_history_of_a_run_once(run, monkeypatch):
    monkeypatch.setattr(coordinator, "runs_on_jvm", lambda spec: spec.name != "reference")
    words = ("--engine", "reference", "--engine", engine("Honest"), "--suite", "shared", "--jobs", "2")
    done = run(*words, "--examples", "4", "--steps", "3")
    told = Counter(
        (event["event"], event["suite"], event.get("history", 0))
        for event in done.events
        if event["event"] in {"ChunkStarted", "HistoryEnded", "ChunkEnded"}
    )
    assert told == dict.fromkeys(
        [
            (kind, suite, history)
            for suite in ("lockstep", "shared")
            for kind, histories in (("ChunkStarted", 1), ("HistoryEnded", 4), ("ChunkEnded", 1))
            for history in range(histories)
        ],
        1,
    )
    assert all(suite["complete"] for suite in done.summary["suites"])
