"""The committed profiles can be planned, and a wrong profile is rejected."""

from __future__ import annotations

import textwrap

import pytest

from conformance.histories import Chunk
from conformance.planning.core import unknown_requirements
from conformance.planning.plan import make_plan
from conformance.planning.profile import PlanError, load_profile, profile_names
from conformance.suites.examples import EXAMPLES
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
    assert {rule.requirement for rule in core} <= set(BY_ID)
    assert unknown_requirements(core) == []


@pytest.mark.parametrize("name", profile_names())
def test_no_committed_core_names_an_engine(name):
    assert not [rule for rule in load_profile(name).core if rule.engines]


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


def test_a_jvm_lives_long_in_ci_and_briefly_in_dev():
    assert make_plan(load_profile("dev"), 0, engines=ENGINES).is_brief
    assert not make_plan(load_profile("ci"), 1, engines=ENGINES).is_brief


def test_an_unknown_key_in_a_profile_is_rejected():
    with pytest.raises(PlanError, match="chunk"):
        small(suites={"lockstep": {"chunk": 3}})
    with pytest.raises(PlanError, match="cores"):
        small(cores=[])
    with pytest.raises(PlanError, match="floor"):
        small(core=[{"requirements": ["x"], "suite": "lockstep", "floor": 3}])
    with pytest.raises(PlanError, match="'requirements' is missing"):
        small(core=[{"suite": "lockstep"}])


@pytest.mark.parametrize("wrong", ({"on": "jvm"}, {"checks": 0}, {"histories": "many"}))
def test_a_core_with_a_value_that_it_can_not_have_is_rejected(wrong):
    with pytest.raises(PlanError, match="was expected"):
        small(core=[{"requirements": ["x"], **wrong}])


class TestOwnProfiles:
    """A user's own profile is a file, whose mistakes are found before anything is played."""

    FORM = """
        [suites.lockstep]
        chunks = 1
        [[core]]
        requirements = ["contents.append"]
    """

    def write(self, folder, text=FORM):
        path = folder / "own.toml"
        path.write_text(textwrap.dedent(text))
        return str(path)

    def test_it_draws_the_histories_of_a_committed_profile(self, tmp_path):
        path = self.write(tmp_path)
        (chunk,) = make_plan(load_profile(path), 1, engines=("delta-rs",)).chunks
        assert (chunk.profile, chunk.drawn_for) == (path, "ci")
        assert Chunk.from_json(chunk.to_json()) == chunk
        dev = load_profile(self.write(tmp_path, f'draws = "dev"\n{self.FORM}'))
        assert {chunk.drawn_for for chunk in make_plan(dev, 1, engines=("delta-rs",)).chunks} == {"dev"}

    @pytest.mark.parametrize(
        ("text", "words"),
        (
            ("suites = 3 3", "can't be read"),
            ("seed = 3", "'suites' is missing"),
            ("[suites.lookstep]\nchunks = 1", "no suite 'lookstep'; there are lockstep, shared"),
            ('draws = "weekly"\n[suites.lockstep]\nchunks = 1', "one of dev, ci"),
            (
                '[suites.lockstep]\nchunks = 1\n[[core]]\nrequirements = ["contents.apend"]',
                "no requirement 'contents.apend'; docs/requirements.md lists",
            ),
        ),
    )
    def test_a_wrong_one_is_rejected(self, tmp_path, text, words):
        with pytest.raises(PlanError, match=words):
            load_profile(self.write(tmp_path, text))

    def test_one_that_is_not_there_is_rejected(self, tmp_path):
        with pytest.raises(PlanError, match=r"can't be read: .*No such file"):
            load_profile(str(tmp_path / "none.toml"))


def test_engines_on_a_jvm_play_the_examples_that_a_profile_names():
    def plan(**more):
        suites = {"examples": {"chunks": 1, "histories": 9, "heavy_histories": 9, **more}}
        return make_plan(small(suites=suites, core=[]), 1, engines=ENGINES)

    (chunk,) = plan(heavy_examples=["misfit-refused", "some-table"]).chunks
    assert [name for number, name in enumerate(EXAMPLES) if number in chunk.heavy] == [
        "some-table", "misfit-refused",
    ]  # fmt: skip
    assert chunk.histories == 9
    assert plan().chunks[0].heavy == tuple(range(9))
    with pytest.raises(PlanError, match="no example 'sometable'; there are invoices, "):
        plan(heavy_examples=["sometable"])


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
