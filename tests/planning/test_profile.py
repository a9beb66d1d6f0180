"""The committed profiles can be planned, and a wrong profile is rejected."""

from __future__ import annotations

import pytest

from conformance.planning.plan import make_plan
from conformance.planning.profile import PlanError, load_profile, profile_names
from delta_models.requirements import BY_ID
from tests.planning.samples import ENGINES, small


@pytest.mark.parametrize("name", profile_names())
def test_every_committed_profile_can_be_planned(name):
    plan = make_plan(load_profile(name), 1, engines=ENGINES)
    assert plan.steps == sum(
        chunk.histories * chunk.steps for chunk in plan.chunks if chunk.suite != "examples"
    )
    assert sum(suite.chunks for suite in plan.planned()) == len(plan.chunks)


@pytest.mark.parametrize("name", ("dev", "ci", "nightly"))
def test_the_core_names_requirements_that_exist(name):
    core = load_profile(name).core
    assert core
    assert {threshold.requirement for threshold in core} <= set(BY_ID)
    assert set(ENGINES) <= {threshold.engine for threshold in core} <= {*ENGINES, "pyspark", "reference"}


@pytest.mark.parametrize("name", ("dev", "ci", "nightly"))
def test_the_core_needs_no_more_histories_than_are_planned(name):
    profile = load_profile(name)
    plan = make_plan(profile, 1, engines=(*ENGINES, "pyspark"))
    light = {chunk.suite: 0 for chunk in plan.chunks}
    heavy = dict(light)
    for chunk in plan.chunks:
        light[chunk.suite] += chunk.histories
        heavy[chunk.suite] += len(chunk.heavy)
    for threshold in plan.core:
        played = light if threshold.engine == "delta-rs" else heavy
        suites = [threshold.suite] if threshold.suite else list(played)
        assert threshold.histories <= sum(played[suite] for suite in suites), threshold


def test_ci_plans_three_thousand_steps_and_more():
    assert make_plan(load_profile("ci"), 1, engines=ENGINES).steps >= 3000


def test_an_unknown_key_in_a_profile_is_rejected():
    with pytest.raises(PlanError, match="chunk"):
        small(suites={"lockstep": {"chunk": 3}})
    with pytest.raises(PlanError, match="cores"):
        small(cores=[])
    with pytest.raises(PlanError, match="floor"):
        small(core=[{"requirements": ["x"], "engines": ["e"], "suite": "lockstep", "floor": 3}])


def test_a_seed_that_is_no_number_is_rejected():
    with pytest.raises(PlanError, match="its seed is 'one'; a number from 0 on was expected"):
        small(seed="one")
    assert small(seed=5).seed == 5


def test_a_core_on_a_suite_that_is_not_planned_is_rejected():
    with pytest.raises(PlanError, match="races"):
        small(core=[{"requirements": ["x"], "engines": ["e"], "suite": "races"}])


def test_the_error_about_an_unknown_profile_lists_those_that_exist():
    with pytest.raises(PlanError, match="ci, dev, gate, nightly"):
        load_profile("weekly")
