"""A plan holds directed histories for what its broad part leaves below a threshold, and a reserve."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from conformance.events.types import Evidence
from conformance.generation.table_profiles import FOCUSES as DIRECTED
from conformance.generation.table_profiles import PROFILES
from conformance.histories import Chunk
from conformance.options import RunOptions
from conformance.planning import top_up
from conformance.planning.claims import planned_engines
from conformance.planning.core import CoreRule
from conformance.planning.forecast import foresee, is_foreseen
from conformance.planning.plan import make_plan, plan_run
from conformance.planning.profile import load_profile, profile_names
from conformance.planning.tally import EvidenceTally
from conformance.planning.top_up import FOCUSES, RESERVED, focus_of
from delta_adapters.registry import parse_engine

NAMES = {table.name for table in DIRECTED}


def claims(*engines):
    return tuple(planned_engines(map(parse_engine, engines)))


@cache
def plan_of(profile, seed, *engines, **changes):
    return make_plan(load_profile(profile), seed, engines=engines, claims=claims(*engines), **changes)


def short_of(plan, engines, foreseen):
    """The thresholds of a plan's core that the forecast of its drawn part does not reach.

    `foreseen` keeps the forecasts of chunks, for another plan that has them too.
    """
    tally = EvidenceTally()
    for chunk in plan.chunks:
        if not chunk.table or chunk.table in NAMES:
            if chunk not in foreseen:
                foreseen[chunk] = list(foresee(chunk, engines))
            for event in foreseen[chunk]:
                tally.add(event)
    return [
        threshold
        for threshold in plan.core
        for engine in engines
        if engine.name == threshold.engine
        and threshold.suite in {"", "lockstep", "shared"}
        and is_foreseen(threshold.requirement)
        and focus_of(threshold)[1] in NAMES
        and not tally.reaches(threshold, engine.key)
    ]


@pytest.mark.parametrize(
    "seed", (1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (8, 3263751415)))
)
def test_the_default_plan_has_the_evidence_of_its_core_before_any_engine_has_started(seed):
    engines = claims("delta-rs", "delta-spark")
    plan = plan_of("ci", seed, "delta-rs", "delta-spark")
    foreseen: dict[Chunk, list[Evidence]] = {}
    assert short_of(plan, engines, foreseen) == []
    broad = replace(plan, chunks=tuple(chunk for chunk in plan.chunks if chunk.table not in NAMES))
    assert "write.data-change-false-keeps-rows" in {
        threshold.requirement for threshold in short_of(broad, engines, foreseen)
    }


def test_a_plan_for_another_engine_holds_what_is_missing_for_that_one():
    alone, both = plan_of("ci", 1, "delta-rs"), plan_of("ci", 1, "delta-rs", "delta-spark")
    on_jvm = [chunk for chunk in both.chunks if chunk.table in NAMES and chunk.heavy]
    assert on_jvm
    assert not [chunk for chunk in alone.chunks if chunk.table in NAMES and chunk.heavy]


def test_the_broad_part_does_not_depend_on_claims():
    topped_up = plan_of("ci", 5, "delta-rs")
    broad = make_plan(load_profile("ci"), 5, engines=("delta-rs",))
    assert topped_up.chunks[: len(broad.chunks)] == broad.chunks
    assert {chunk.table for chunk in topped_up.chunks[len(broad.chunks) :]} <= NAMES
    assert broad.reserve == ()


def test_another_process_makes_the_same_plan():
    code = (
        "from pathlib import Path; from conformance.options import RunOptions;"
        "from conformance.planning.plan import plan_run;"
        "print(plan_run(RunOptions(Path('run'), engines=('delta-rs',), profile='dev', seed=3)))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    plan = plan_run(RunOptions(Path("run"), engines=("delta-rs",), profile="dev", seed=3))
    assert process.stdout == f"{plan}\n"


def test_no_two_chunks_of_a_plan_and_its_reserve_have_the_same_number_or_seed():
    plan = plan_of("ci", 1, "delta-rs", "delta-spark")
    chunks = (*plan.chunks, *(reserved.chunk for reserved in plan.reserve))
    assert len({(chunk.suite, chunk.number) for chunk in chunks}) == len(chunks)
    assert len({chunk.seed for chunk in chunks}) == len(chunks)


def test_the_reserve_has_chunks_for_every_threshold_that_can_be_made_up_for():
    plan = plan_of("ci", 1, "delta-rs", "delta-spark")
    held: dict[tuple[str, str, bool], int] = {}
    for reserved in plan.reserve:
        kind = (reserved.chunk.suite, reserved.focus, bool(reserved.chunk.heavy))
        held[kind] = held.get(kind, 0) + 1
    assert set(held.values()) == {RESERVED}
    for threshold in plan.core:
        if threshold.suite != "examples":
            assert (*focus_of(threshold), threshold.engine == "delta-spark") in held, threshold


@pytest.mark.parametrize("changes", ({"examples": 3}, {"steps": 4}, {"tables": ("plain",)}))
def test_a_run_that_is_told_how_much_to_play_plays_no_more(changes):
    plan = plan_of("ci", 1, "delta-rs", **changes)
    assert not {chunk.table for chunk in plan.chunks} & NAMES
    assert plan.reserve == ()


def test_every_focus_is_a_table_profile():
    assert {focus for _, focus in FOCUSES} <= set(PROFILES)


@pytest.mark.parametrize("name", profile_names())
def test_a_requirement_of_a_core_has_the_focus_that_begins_most_like_it(name):
    for threshold in load_profile(name).core:
        fitting = [beginning for beginning, _ in FOCUSES if threshold.requirement.startswith(beginning)]
        assert fitting[0] == max(fitting, key=len), threshold.requirement


def test_what_no_directed_history_can_give_is_given_up(monkeypatch):
    assert top_up.MOST_CHUNKS <= 200
    monkeypatch.setattr(top_up, "MOST_CHUNKS", 20)
    impossible = CoreRule("contents.restore", "lockstep", checks=10**6)
    profile = replace(load_profile("dev"), core=(impossible,))
    broad = make_plan(profile, 1, engines=("delta-rs",), suites=("lockstep",))
    start = time.process_time()
    plan = make_plan(profile, 1, engines=("delta-rs",), claims=claims("delta-rs"), suites=("lockstep",))
    assert len(broad.chunks) + 20 < len(plan.chunks) < len(broad.chunks) + 25
    assert time.process_time() - start < 4


def test_the_default_run_is_planned_in_a_second_or_two():
    start = time.process_time()
    plan_of.__wrapped__("ci", 2, "delta-rs", "delta-spark")
    assert time.process_time() - start < 3
