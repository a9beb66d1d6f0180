"""An engine is held to those requirements of a core whose needs it claims, and to no others."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from conformance.generation import state_machine
from conformance.generation.feature_bundles import FEATURES
from conformance.generation.narrowing import KINDS, Claimed, needs_narrowing
from conformance.generation.operations import MAKERS
from conformance.options import RunOptions
from conformance.planning.claims import PlannedEngine, known_engines, planned_engines
from conformance.planning.core import CoreRule, core_of
from conformance.planning.forecast import foresee
from conformance.planning.needs import NEEDS, needs_of
from conformance.planning.plan import make_plan, plan_run
from conformance.planning.profile import PlanError, load_profile, profile_names
from delta_adapters.capabilities import OPTIONS, Capabilities
from delta_adapters.registry import KNOWN, parse_engine
from delta_models.operations import Append, Create, Overwrite, Read, Reopen
from delta_models.requirements import BY_ID
from delta_models.wire_names import ALPHABET

FOUR: dict[str, Any] = {
    "format": 1,
    "operations": {"Create": {}, "Append": {}, "Overwrite": {}, "Read": {}},
    "types": {"data": ["long", "string", "date"], "partition": ["string"]},
    "features": {"read": [], "write": []},
    "storages": ["local"],
    "guarantees": {"commits-of-several-processes-on-local-files": True},
}


def engine(document=FOUR, name="four", *, heavy=False, **changes):
    capabilities = Capabilities.validated({**document, **changes})
    return PlannedEngine(f"{name}.py:Adapter", name, heavy, capabilities)


def plan_for(*engines, profile="ci", **changes):
    names = tuple(each.name for each in engines)
    return make_plan(load_profile(profile), 1, engines=names, claims=engines, **changes)


@cache
def plan_for_four():
    """The plan for the engine of four operations, which several tests look at."""
    return plan_for(engine())


class Steps:
    """A player that keeps the steps of the histories that it is given."""

    def __init__(self):
        self.histories = []

    def begin(self, history, shape):
        self.histories.append([])

    def play(self, step):
        self.histories[-1].append(step.operation)

    def end(self):
        pass

    def is_over(self):
        return False


class TestNeeds:
    def test_each_need_is_a_word_that_an_engine_can_claim(self):
        for needs in NEEDS.values():
            for word in (word for need in needs.split() for word in need.split("|")):
                kind, colon, _ = word.partition(":")
                assert (
                    kind in {"reads", "writes", "property", "guarantee"}
                    if colon
                    else kind == "partitions" or kind.partition(".")[0] in ALPHABET
                ), word

    def test_each_need_is_that_of_a_requirement(self):
        used = {max((name for name in NEEDS if id_.startswith(name)), key=len) for id_ in BY_ID}
        assert used == set(NEEDS)

    def test_the_longest_beginning_counts(self):
        assert needs_of("contents.overwrite") == ("Create", "Append", "Overwrite")
        assert "Overwrite.dynamic" in needs_of("contents.overwrite-partitions")

    # The core of a covering profile is what its written histories surely show: test_gate.py.
    @pytest.mark.parametrize("name", [name for name in profile_names() if not load_profile(name).parts])
    def test_the_engines_of_the_project_are_held_to_something_in_each_profile(self, name):
        for known in known_engines(KNOWN):
            assert core_of(load_profile(name).core, [known], ("lockstep",)), known.name


class TestFourOperations:
    def test_the_core_holds_what_they_show_and_nothing_else(self):
        core = {threshold.requirement for threshold in plan_for_four().core}
        assert {"contents.append", "contents.overwrite", "read.latest", "log.added-file-exists"} < core
        assert {"crash.all-or-nothing", "race.no-lost-update", "log.remove-names-live-file"} < core
        assert not {
            "contents.delete", "contents.merge", "contents.vacuum", "read.filter", "read.state", "stats.num-records",
            "checkpoint.readable", "write.properties", "race.no-write-skew", "crash.left-overs-removed",
        } & core  # fmt: skip

    def test_what_it_claims_more_is_asked_more(self):
        more = {**FOUR["guarantees"], "statistics": True}
        core = {threshold.requirement for threshold in plan_for(engine(guarantees=more)).core}
        assert "stats.num-records" in core

    def test_nothing_is_drawn_that_it_does_not_claim(self):
        four = engine()
        chunks = [chunk for chunk in plan_for_four().chunks if chunk.suite in {"lockstep", "shared"}]
        assert {chunk.table for chunk in chunks} <= {"", "appends", "refusals", "rewrites", "compactions"}
        steps = Steps()
        for chunk in chunks[:2]:
            state_machine.draw(chunk, steps, shared=chunk.suite == "shared")
        drawn = [operation for history in steps.histories for operation in history]
        assert {type(operation) for operation in drawn} <= {Create, Append, Overwrite, Read, Reopen}
        assert all(isinstance(one, Reopen) or four.capabilities.covers(one) is None for one in drawn)
        assert sum(isinstance(one, Append | Overwrite) for one in drawn) > len(drawn) / 3

    def test_it_has_as_much_evidence_of_them_as_an_engine_that_claims_all(self):
        """The forecast of one chunk, by checks: those of the four are no fewer than with all operations."""
        four, (full,) = engine(), known_engines(["delta-rs"])
        counted: dict[str, dict[str, int]] = {}
        for one in (four, full):
            chunk = next(chunk for chunk in plan_for(one).chunks if chunk.suite == "lockstep")
            checks: dict[str, int] = {}
            counted[one.name] = checks
            for event in foresee(chunk, [one]):
                for requirement, count in event.checks.items():
                    checks[requirement] = checks.get(requirement, 0) + count
        for requirement in ("contents.append", "contents.overwrite", "read.latest", "outcome.commits"):
            assert counted["four"][requirement] >= 0.8 * counted["delta-rs"][requirement], requirement

    def test_beside_another_engine_its_own_histories_come_on_top(self):
        four, (full,) = engine(), known_engines(["delta-rs"])
        plan = plan_for(four, full)
        assert {bool(chunk.within) for chunk in plan.chunks if chunk.table == "appends"} == {True}
        assert {chunk.within for chunk in plan.chunks if not chunk.table} == {()}
        assert {reserved.engine for reserved in plan.reserve} == {"", "four"}


class TestNarrowing:
    def test_each_kind_of_drawn_operations_is_one_or_needs_one(self):
        assert set(MAKERS) <= set(ALPHABET) | set(KINDS)
        for needed in KINDS.values():
            name, _, option = needed.partition(".")
            assert name in ALPHABET
            assert not option or option in OPTIONS[name]

    @pytest.mark.parametrize(
        ("feature", "claimed"),
        (
            ("writes", True),
            ("merges", False),
            ("converted", False),
            ("catalogue", False),
            ("small-types", False),
        ),
    )
    def test_a_feature_is_claimed_if_its_tables_and_any_of_its_operations_are(self, feature, claimed):
        assert Claimed((engine().capabilities,)).has_feature(FEATURES[feature]) is claimed

    def test_table_profiles_that_nobody_claims_are_not_planned(self):
        tables = {
            chunk.table for chunk in plan_for(engine(), profile="dev").chunks if chunk.suite == "lockstep"
        }
        assert not tables & {"merges", "converted", "lifecycle", "nested", "variants", "tracked", "upkeep"}
        assert "writes" in tables


class TestFullEngines:
    @pytest.mark.parametrize("name", sorted(KNOWN))
    def test_they_play_the_histories_as_they_always_were(self, name):
        (known,) = known_engines([name])
        assert not needs_narrowing([known.capabilities])
        assert not any(chunk.within for chunk in plan_for(known, examples=3).chunks)

    def test_a_heavy_engine_is_held_to_the_thresholds_of_heavy_engines(self):
        rules = (CoreRule("contents.append", on="heavy", checks=3), CoreRule("contents.append", on="light"))
        heavy, light = engine(heavy=True, name="slow"), engine()
        assert [(threshold.engine, threshold.checks) for threshold in core_of(rules, [heavy, light], ())] == [
            ("slow", 3),
            ("four", 20),
        ]


class TestRuns:
    ADAPTER = "tests/adapters/small_adapters.py:OnlyAppends"

    def test_an_adapter_of_others_is_asked_for_its_claims_before_the_plan_is_made(self, tmp_path):
        (asked,) = planned_engines([parse_engine(self.ADAPTER)])
        assert (asked.name, asked.on_jvm) == ("small", False)
        plan = plan_run(RunOptions(tmp_path, engines=(asked.key,), profile="dev"))
        assert {threshold.engine for threshold in plan.core} == {"small"}
        (note,) = plan.notes
        assert note.startswith(
            "small: the core is asked as far as it is claimed; not asked for want of a claim:"
        )
        assert "read.filter" in note

    def test_a_profile_that_asks_for_what_nobody_claims_is_refused(self, tmp_path):
        path = tmp_path / "merges.toml"
        path.write_text('[suites.lockstep]\nchunks = 1\n[[core]]\nrequirements = ["contents.merge"]\n')
        with pytest.raises(
            PlanError, match=r"asked of small; contents\.merge for example needs the claim of Merge"
        ):
            plan_run(RunOptions(tmp_path, engines=(str(parse_engine(self.ADAPTER)),), profile=str(path)))
