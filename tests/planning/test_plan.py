"""A plan is data: the same chunks, seeds and core for the same profile, seed and options."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from conformance.events.types import EvidenceThreshold
from conformance.histories import Chunk, chunk_seed
from conformance.options import RunOptions
from conformance.planning.claims import planned_engines
from conformance.planning.plan import default_engines, make_plan, plan_run, seed_of_run
from conformance.planning.profile import PlanError, load_profile
from delta_adapters.registry import parse_engine
from tests.planning.samples import ENGINES, small


def claims(*engines):
    return tuple(planned_engines(map(parse_engine, engines)))


class TestPlans:
    def test_steps_of_engines_that_do_not_run_are_not_planned(self):
        plan = make_plan(load_profile("ci"), 1, engines=ENGINES)
        everything, on_a_jvm = plan.planned(), plan.planned(light=False)
        assert sum(suite.steps for suite in on_a_jvm) == sum(suite.dear for suite in everything) > 0
        assert all(suite.steps == suite.dear for suite in on_a_jvm)
        assert not any(suite.dear for suite in plan.planned(heavy=False))
        assert sum(suite.histories for suite in plan.planned(heavy=False)) == sum(
            suite.histories for suite in everything
        )

    def test_suites_take_turns(self):
        names = [chunk.name for chunk in make_plan(small(), 1, engines=ENGINES).chunks]
        assert names == ["lockstep-0", "shared-0", "lockstep-1", "lockstep-2"]

    def test_a_budget_cuts_all_kinds_of_histories_alike(self):
        chunks = make_plan(load_profile("nightly"), 1, engines=ENGINES).chunks
        whole = Counter((chunk.suite, chunk.table) for chunk in chunks)
        assert {(chunk.suite, chunk.table) for chunk in chunks[: len(whole)]} == set(whole)
        for cut in (len(chunks) // 4, len(chunks) // 2, 3 * len(chunks) // 4):
            played = Counter((chunk.suite, chunk.table) for chunk in chunks[:cut])
            shares = [played[kind] / whole[kind] for kind in whole if whole[kind] >= 10]
            assert max(shares) - min(shares) <= 0.1

    def test_an_engine_on_a_jvm_plays_the_share_that_the_plan_says_and_not_the_first_history(self):
        chunks = make_plan(small(), 1, engines=ENGINES).chunks
        assert [chunk.heavy for chunk in chunks] == [(5, 11), (1, 3, 5, 7, 9, 11), (5, 11), ()]

    def test_the_core_is_restricted_to_the_engines_and_suites_asked_for(self):
        assert make_plan(small(), 1, engines=("delta-rs",)).core == (
            EvidenceThreshold("write.schema", "delta-rs", "lockstep"),
        )
        assert make_plan(small(), 1, engines=ENGINES, suites=("shared",)).core == ()

    def test_examples_and_steps_stand_in_for_the_counts_of_the_profile(self):
        plan = make_plan(small(), 1, engines=ENGINES, suites=("lockstep",), examples=14, steps=7)
        assert [(chunk.histories, chunk.steps) for chunk in plan.chunks] == [(12, 7), (2, 7)]
        assert plan.steps == 14 * 7

    def test_a_suite_that_the_profile_does_not_plan_is_an_error_that_lists_those_that_it_does(self):
        with pytest.raises(PlanError, match="lockstep, shared"):
            make_plan(small(), 1, engines=ENGINES, suites=("crashes",))

    def test_table_profiles_have_chunks_of_their_own_behind_the_plain_ones(self):
        tables = {"merges": {"histories": 14, "heavy": 1}, "rules": {"histories": 2}}
        suites = {"lockstep": {"chunks": 1, "heavy_histories": 2, "tables": tables}}
        chunks = make_plan(small(suites=suites), 1, engines=ENGINES).chunks
        assert [(chunk.name, chunk.drawn_for, chunk.histories, chunk.heavy) for chunk in chunks] == [
            ("lockstep-0", "small", 12, (5, 11)),
            ("lockstep-1", "merges", 12, (11,)),
            ("lockstep-3", "rules", 2, ()),
            ("lockstep-2", "merges", 2, (1,)),
        ]
        assert len({chunk.seed for chunk in chunks}) == 4

    def test_one_kind_of_histories_is_played_whole_by_everybody_with_the_seeds_of_the_whole_plan(self):
        tables = {"merges": {"histories": 14, "heavy": 1}, "rules": {"histories": 2}}
        suites = {"lockstep": {"chunks": 1, "heavy_histories": 2, "tables": tables}}
        whole = make_plan(small(suites=suites), 1, engines=ENGINES)
        part = make_plan(small(suites=suites), 1, engines=ENGINES, tables=("merges",))
        assert [(chunk.number, chunk.seed) for chunk in part.chunks] == [
            (chunk.number, chunk.seed) for chunk in whole.chunks if chunk.table == "merges"
        ]
        assert [chunk.heavy for chunk in part.chunks] == [tuple(range(12)), (0, 1)]
        assert part.core == () != whole.core
        assert [suite.numbers for suite in part.planned()] == [(1, 2)]
        assert [suite.numbers for suite in whole.planned()] == [()]
        plain = make_plan(small(suites=suites), 1, engines=ENGINES, tables=("plain",), examples=3)
        assert [(chunk.name, chunk.histories) for chunk in plain.chunks] == [("lockstep-0", 3)]
        both = make_plan(small(suites=suites), 1, engines=ENGINES, tables=("merges", "rules"), examples=13)
        assert [chunk.histories for chunk in both.chunks] == [12, 2, 1]

    def test_a_kind_of_histories_that_is_not_planned_is_an_error_that_lists_those_that_are(self):
        with pytest.raises(PlanError, match="'merge' in lockstep, shared of this profile; there are plain"):
            make_plan(small(), 1, engines=ENGINES, tables=("merge",))

    def test_a_chunk_survives_its_json(self):
        chunk = Chunk("lockstep", "ci", 3, 2**63 + 1, 12, 25, (5, 11))
        assert Chunk.from_json(chunk.to_json()) == chunk


class TestSeeds:
    def test_chunks_differ_by_run_suite_profile_and_number(self):
        seeds = {
            chunk_seed(run, suite, profile, number)
            for run in (1, 2)
            for suite in ("a", "b")
            for profile in ("p", "q")
            for number in (0, 1)
        }
        assert len(seeds) == 16

    def test_another_process_derives_the_same_seed(self):
        code = "from conformance.histories import chunk_seed; print(chunk_seed(7, 'lockstep', 'ci', 3))"
        process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert int(process.stdout) == chunk_seed(7, "lockstep", "ci", 3)


class TestRuns:
    def test_a_run_without_engines_is_planned_for_the_default_ones(self):
        assert default_engines() == ("delta-rs", "delta-spark")
        plan = plan_run(RunOptions(Path("run"), profile="dev", seed=3))
        assert plan == make_plan(
            load_profile("dev"), 3, engines=default_engines(), claims=claims(*default_engines())
        )

    def test_two_versions_of_an_engine_are_one_engine_of_the_plan(self):
        options = RunOptions(
            Path("run"), engines=("delta-rs", "delta-rs@1.5.0"), suites=("lockstep",), profile="dev"
        )
        plan = plan_run(options)
        assert plan == make_plan(
            load_profile("dev"),
            0,
            engines=("delta-rs",),
            claims=claims("delta-rs", "delta-rs@1.5.0"),
            suites=("lockstep",),
        )

    def test_the_seed_is_the_given_one_or_the_profiles_or_a_new_one(self):
        assert seed_of_run("ci", 7) == 7
        assert seed_of_run("ci", None) == load_profile("ci").seed == 1
        assert seed_of_run("dev", None) == load_profile("dev").seed == 0
        assert load_profile("nightly").seed is None
        assert seed_of_run("nightly", None) != seed_of_run("nightly", None)
