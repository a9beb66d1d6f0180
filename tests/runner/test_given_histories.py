"""A run of the profile gate plays the histories that its plan has written out, on the engines that they are for."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.histories import Chunk
from conformance.planning.plan import Plan
from conformance.planning.profile import load_profile
from conformance.runner.coordinator import _pop
from conformance.runner.worker_process import WorkerProcess
from conformance.suites.context import SuiteContext

RACES = Chunk("races", "gate", 0, 1, heavy=(0,))
PLAIN = Chunk("lockstep", "gate", 0, 1, heavy=(0,))


def worker(number: int) -> WorkerProcess:
    made = object.__new__(WorkerProcess)
    made.number = number
    return made


def test_races_on_a_jvm_are_for_the_first_worker_since_they_need_two_more():
    assert list(_pop(deque([RACES, PLAIN]), worker(1))) == [PLAIN]
    assert list(_pop(deque([RACES, PLAIN]), worker(0))) == [RACES]
    assert list(_pop(deque([RACES]), worker(1))) == []


def test_only_the_engines_of_a_chunk_take_part_in_it():
    class Pool:
        engines = dict.fromkeys(("delta-rs", "reference"), type("E", (), {"runs_on_jvm": False})())

    context = object.__new__(SuiteContext)
    context.engine_pool = Pool()  # type: ignore[assignment]
    assert context.engines_of(Chunk("lockstep", "gate", 0, 1, engines=("delta-rs",)), 0) == ["delta-rs"]
    assert context.engines_of(Chunk("lockstep", "gate", 0, 1), 0) == ["delta-rs", "reference"]


def test_a_run_plays_the_written_histories_to_their_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from conformance.cli import run as command  # noqa: PLC0415 - to shorten its plan

    whole = command.options_and_plan

    def short(arguments):
        options, plan = whole(arguments)
        chunks = plan.chunks[:2]
        return options, Plan(load_profile("gate"), plan.seed, plan.suites, chunks, (), cells=plan.cells)

    monkeypatch.setattr(command, "options_and_plan", short)
    words = ["run", "--engine", "reference", "--profile", "gate:core", "--jobs", "1", "--out", str(tmp_path)]
    assert main([*words, "--format", "plain"]) == 3, "so few histories are no core"
    events = [json.loads(line) for line in (tmp_path / "latest" / "events.jsonl").read_text().splitlines()]
    ended = [event for event in events if event["event"] == "ChunkEnded"]
    histories = [event for event in events if event["event"] == "HistoryEnded"]
    assert [event["complete"] for event in ended] == [True, True]
    assert all(event["steps"] >= 8 for event in histories)
    assert [event["part"] for event in events if event["event"] == "CellsPlanned"] == ["core"]
    assert not [event for event in events if event["event"] == "HarnessFault"]
