"""What a run is going to do is data, counted out beforehand."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conformance.events.types import EvidenceThreshold
from conformance.histories import Chunk
from conformance.planning.plan import chunk_seed, make_plan
from conformance.planning.profile import (
    PlanError,
    load_profile,
    parse_profile,
    profile_names,
)
from delta_models.requirements import BY_ID

ENGINES = ("delta-rs", "delta-spark")


def small(**changes):
    form = {
        "suites": {
            "lockstep": {"chunks": 3, "heavy_histories": 2, "heavy_chunks": 2},
            "shared": {"chunks": 1},
        },
        "core": [{"requirements": ["write.schema"], "engines": list(ENGINES), "suite": "lockstep"}],
    }
    return parse_profile("small", {**form, **changes})


class TestProfiles:
    @pytest.mark.parametrize("name", profile_names())
    def test_every_committed_profile_can_be_planned(self, name):
        plan = make_plan(load_profile(name), 1, engines=ENGINES)
        assert plan.steps == sum(
            chunk.histories * chunk.steps for chunk in plan.chunks if chunk.suite != "examples"
        )
        assert sum(each.chunks for each in plan.planned()) == len(plan.chunks)

    def test_what_nobody_plays_is_not_planned(self):
        plan = make_plan(load_profile("ci"), 1, engines=ENGINES)
        everything, on_a_jvm = plan.planned(), plan.planned(light=False)
        assert sum(each.steps for each in on_a_jvm) == sum(each.dear for each in everything) > 0
        assert all(each.steps == each.dear for each in on_a_jvm)
        assert not any(each.dear for each in plan.planned(heavy=False))
        assert sum(each.histories for each in plan.planned(heavy=False)) == sum(
            each.histories for each in everything
        )

    @pytest.mark.parametrize("name", ("dev", "ci", "nightly"))
    def test_the_core_names_requirements_that_there_are(self, name):
        core = load_profile(name).core
        assert core
        assert {each.requirement for each in core} <= set(BY_ID)
        assert set(ENGINES) <= {each.engine for each in core} <= {*ENGINES, "pyspark", "reference"}

    @pytest.mark.parametrize("name", ("dev", "ci", "nightly"))
    def test_the_core_asks_no_more_histories_than_are_planned(self, name):
        profile = load_profile(name)
        plan = make_plan(profile, 1, engines=(*ENGINES, "pyspark"))
        light = {chunk.suite: 0 for chunk in plan.chunks}
        heavy = dict(light)
        for chunk in plan.chunks:
            light[chunk.suite] += chunk.histories
            heavy[chunk.suite] += len(chunk.heavy)
        for floor in plan.core:
            played = light if floor.engine == "delta-rs" else heavy
            suites = [floor.suite] if floor.suite else list(played)
            assert floor.histories <= sum(played[suite] for suite in suites), floor

    def test_ci_plans_three_thousand_steps_and_more(self):
        assert make_plan(load_profile("ci"), 1, engines=ENGINES).steps >= 3000

    def test_a_typo_in_a_profile_is_refused_not_ignored(self):
        with pytest.raises(PlanError, match="chunk"):
            small(suites={"lockstep": {"chunk": 3}})
        with pytest.raises(PlanError, match="cores"):
            small(cores=[])
        with pytest.raises(PlanError, match="floor"):
            small(core=[{"requirements": ["x"], "engines": ["e"], "suite": "lockstep", "floor": 3}])

    def test_a_core_on_a_suite_that_is_not_planned_is_refused(self):
        with pytest.raises(PlanError, match="races"):
            small(core=[{"requirements": ["x"], "engines": ["e"], "suite": "races"}])

    def test_an_unknown_profile_is_told_with_those_that_there_are(self):
        with pytest.raises(PlanError, match="ci, dev, nightly"):
            load_profile("weekly")


class TestPlans:
    def test_suites_take_turns(self):
        names = [chunk.name for chunk in make_plan(small(), 1, engines=ENGINES).chunks]
        assert names == ["lockstep-0", "shared-0", "lockstep-1", "lockstep-2"]

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

    def test_a_suite_that_the_profile_does_not_plan_is_told_with_those_that_it_does(self):
        with pytest.raises(PlanError, match="lockstep, shared"):
            make_plan(small(), 1, engines=ENGINES, suites=("crashes",))

    def test_table_profiles_have_chunks_of_their_own_behind_the_plain_ones(self):
        tables = {"merges": {"histories": 14, "heavy": 1}, "rules": {"histories": 2}}
        suites = {"lockstep": {"chunks": 1, "heavy_histories": 2, "tables": tables}}
        chunks = make_plan(small(suites=suites), 1, engines=ENGINES).chunks
        assert [(chunk.name, chunk.drawn_for, chunk.histories, chunk.heavy) for chunk in chunks] == [
            ("lockstep-0", "small", 12, (5, 11)),
            ("lockstep-1", "merges", 12, (11,)),
            ("lockstep-2", "merges", 2, (1,)),
            ("lockstep-3", "rules", 2, ()),
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
        assert [each.numbers for each in part.planned()] == [(1, 2)]
        assert [each.numbers for each in whole.planned()] == [()]
        plain = make_plan(small(suites=suites), 1, engines=ENGINES, tables=("plain",), examples=3)
        assert [(chunk.name, chunk.histories) for chunk in plain.chunks] == [("lockstep-0", 3)]
        both = make_plan(small(suites=suites), 1, engines=ENGINES, tables=("merges", "rules"), examples=13)
        assert [chunk.histories for chunk in both.chunks] == [12, 1, 2]

    def test_a_kind_of_histories_that_is_not_planned_is_told_with_those_that_are(self):
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
        code = "from conformance.planning.plan import chunk_seed; print(chunk_seed(7, 'lockstep', 'ci', 3))"
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert int(told.stdout) == chunk_seed(7, "lockstep", "ci", 3)
