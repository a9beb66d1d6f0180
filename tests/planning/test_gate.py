"""The profile `gate` brings together what an engine claims, in pairs, before the first operation."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from conformance.engine_pool import runs_on_jvm
from conformance.generation.facets import facets_of, offered_facets
from conformance.histories import Chunk
from conformance.options import RunOptions
from conformance.planning.cells import CRASH, FEATURE, PAIR, REFUSAL, cells_of, crash_cell
from conformance.planning.claims import PlannedEngine, planned_engines
from conformance.planning.coverage import Coverage, feature_cells
from conformance.planning.gate import plan_parts
from conformance.planning.needs import missing_claims
from conformance.planning.out_of_reach import why_out_of_reach
from conformance.planning.parts import BadPart, parse_parts
from conformance.planning.plan import plan_run
from conformance.planning.profile import PlanError, load_profile
from conformance.planning.top_up import focus_of
from delta_adapters.capabilities import Capabilities
from delta_adapters.registry import parse_engine
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import (
    STORAGE_FAULTS,
    Append,
    Create,
    Delete,
    Interleave,
    Operation,
    Reopen,
)
from delta_models.schema import LONG, struct
from delta_models.table import ModelHistory
from delta_models.values import Rows
from tests.adapters.small_adapters import OnlyAppends

GATE = load_profile("gate")
PARTS = {part.name: part for part in GATE.parts}
SCHEMA = struct(("id", LONG), ("part", LONG))


def planned(name: str) -> PlannedEngine:
    """An engine as the planner knows it."""
    return next(iter(planned_engines([parse_engine(name)])))


def plan_of(part: str, engine: PlannedEngine):
    return plan_parts("gate", [PARTS[part]], GATE.seed or 0, [engine], [planned("reference")])


@cache
def plan_for(engine: str, part: str):
    """The plan of a part for an engine of the project, which several tests look at."""
    return plan_of(part, planned(engine))


def own_plan(part: str):
    """The plan of a part for the in-house engine."""
    return plan_for("pyspark", part)


def operations_of(chunks: tuple[Chunk, ...]) -> list[Operation]:
    return [step.operation for chunk in chunks for history in chunk.given for step in history.steps]


def few_claims(*names: str) -> PlannedEngine:
    """An engine that claims these operations alone, on plain tables."""
    document = {**OnlyAppends.CLAIMED, "operations": {name: {} for name in names}}
    return PlannedEngine("few", "few", on_jvm=False, capabilities=Capabilities.validated(document))


@pytest.fixture(scope="module")
def core():
    return own_plan("core")


@pytest.mark.parametrize("part", sorted(PARTS))
def test_every_claimed_cell_of_the_in_house_engine_is_covered_or_has_a_reason(part):
    plan = own_plan(part)
    (cells,) = plan.cells
    assert cells.missing == ()
    assert cells.covered == cells.wanted > 30
    assert plan.core


@pytest.mark.parametrize("part", sorted(PARTS))
def test_every_claimed_cell_of_deltalake_is_covered_or_has_a_reason(part):
    (cells,) = plan_for("delta-rs", part).cells
    assert cells.missing == ()


def test_the_cells_that_a_plan_reports_are_those_of_its_histories(core):
    engine = planned("pyspark")
    coverage = Coverage(frozenset(feature_cells(engine.capabilities, PARTS["core"].operations)))
    for chunk in core.chunks:
        for history in chunk.given:
            model_history = ModelHistory()
            for step in history.steps:
                operation = step.operation
                if not isinstance(operation, Reopen):
                    expectation = model_history.expect(operation)
                    coverage.add(cells_of(model_history.table, operation, expectation))
                model_history = model_history.after(operation)
    assert all(why_out_of_reach(cell) for cell in coverage.missing())
    assert len(coverage.wanted) - len(coverage.missing()) == core.cells[0].covered


def test_every_step_is_one_that_the_engine_claims(core):
    claims = planned("pyspark").capabilities
    assert [reason for operation in operations_of(core.chunks) if (reason := claims.covers(operation))] == []


def test_an_engine_that_claims_four_operations_is_asked_for_these_alone_and_as_densely():
    engine = few_claims("Create", "Append", "Overwrite", "Read")
    plan = plan_of("core", engine)
    kinds = {type(operation).__name__ for operation in operations_of(plan.chunks)}
    assert kinds == {"Create", "Append", "Overwrite", "Read", "Reopen"}
    assert sum(chunk.steps for chunk in plan.chunks) >= PARTS["core"].steps * 0.9
    assert plan.cells[0].missing == ()
    assert {threshold.engine for threshold in plan.core} == {"few"}
    assert not any(threshold.requirement.startswith("contents.delete") for threshold in plan.core)


@pytest.mark.parametrize("engine", ("pyspark", "delta-rs"))
def test_the_core_asks_for_nothing_that_an_engine_does_not_claim(engine):
    capabilities = planned(engine).capabilities
    plan = plan_for(engine, "core")
    lacking = {rule.requirement: [*missing_claims(rule.requirement, capabilities)] for rule in plan.core}
    assert {rule: missing for rule, missing in lacking.items() if missing} == {}


def test_every_operation_that_commits_is_cut_short_before_and_after_its_commit():
    plan = own_plan("crashes")
    faults = [operation for operation in operations_of(plan.chunks) if isinstance(operation, STORAGE_FAULTS)]
    assert len(faults) > 60
    assert plan.cells[0].missing == ()


@pytest.mark.parametrize("engine", ("pyspark", "delta-rs"))
def test_some_cut_operations_are_followed_by_writes_that_are_left_whole(engine):
    plan = plan_for(engine, "crashes")
    assert "crash.next-writer" in {threshold.requirement for threshold in plan.core}
    assert plan.cells[0].missing == ()


def test_races_are_drawn_in_three_orders_of_their_commits():
    plan = own_plan("races")
    races = [operation for operation in operations_of(plan.chunks) if isinstance(operation, Interleave)]
    assert len({race.schedule for race in races}) == 3
    assert len(races) > 100


def test_on_a_shared_table_both_engines_perform_steps():
    plan = own_plan("shared")
    slots = {step.slot for chunk in plan.chunks for history in chunk.given for step in history.steps}
    assert slots == {"A", "B"}
    assert {chunk.engines for chunk in plan.chunks} == {("pyspark", "reference")}


@pytest.mark.parametrize("engine", ("pyspark", "delta-rs"))
def test_a_shared_table_stays_one_that_both_engines_claim(engine):
    both = (planned(engine).capabilities, planned("reference").capabilities)
    plan = plan_for(engine, "shared")
    assert plan.cells[0].missing == ()
    for chunk in plan.chunks:
        for history in chunk.given:
            model_history = ModelHistory()
            for step in history.steps:
                model_history = model_history.after(step.operation)
                table = model_history.table
                for claims in both:
                    assert (
                        claims.covers_table(table.schema, table.partition_by, dict(table.properties)) is None
                    )
                    assert claims.covers_features(set(table.features), writing=True) is None


def test_another_process_makes_the_same_plan():
    program = (
        "import json, sys\n"
        "from conformance.options import RunOptions\n"
        "from conformance.planning.plan import plan_run\n"
        "from pathlib import Path\n"
        "options = RunOptions(Path('.'), engines=('delta-rs',), profile='gate', parts=('crashes',), seed=5)\n"
        "json.dump([chunk.to_json() for chunk in plan_run(options).chunks], sys.stdout)\n"
    )
    options = RunOptions(Path(), engines=("delta-rs",), profile="gate", parts=("crashes",), seed=5)
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert json.loads(told.stdout) == [chunk.to_json() for chunk in plan_run(options).chunks]


def test_a_chunk_with_given_histories_survives_its_way_to_a_worker(core):
    chunk = core.chunks[0]
    assert Chunk.from_json(json.loads(json.dumps(chunk.to_json()))) == chunk
    assert chunk.heavy == (0,)
    assert runs_on_jvm(parse_engine("pyspark"))


@pytest.mark.slow
def test_each_engine_of_a_gate_has_a_reserve_of_its_own():
    plan = plan_run(RunOptions(Path(), engines=("delta-rs",), profile="gate", parts=("sql", "crashes")))
    wanted = {focus_of(threshold) for threshold in plan.core}
    assert {("lockstep", "compactions"), ("crashes", "")} <= wanted
    assert {(one.chunk.suite, one.focus) for one in plan.reserve} == wanted
    assert {(one.engine, one.chunk.engines) for one in plan.reserve} == {("delta-rs", ("delta-rs",))}
    chunks = (*plan.chunks, *(reserved.chunk for reserved in plan.reserve))
    assert len({(chunk.suite, chunk.number) for chunk in chunks}) == len(chunks)
    assert len({chunk.seed for chunk in chunks}) == len(chunks)


@pytest.mark.parametrize(
    ("changes", "words"),
    (
        ({"parts": ("cor",)}, "no part 'cor' in profile gate; it has core, sql"),
        ({"profile": "ci", "parts": ("core",)}, "profile ci has no parts"),
        ({"suites": ("lockstep",)}, "--suite: the histories of profile gate are written out"),
        ({"examples": 3}, "--examples: the histories"),
    ),
)
def test_what_a_covering_profile_does_not_have_is_said(changes, words):
    options = {"engines": ("delta-rs",), "profile": "gate", **changes}
    with pytest.raises(PlanError, match=words):
        plan_run(RunOptions(Path(), **options))


@pytest.mark.parametrize(
    ("changes", "words"),
    (
        ({"suite": "alone"}, "no suite 'alone'"),
        ({"covers": ["all"]}, "no cells all"),
        ({"letters": {"Apend": 1}}, "no letters Apend"),
        ({"steps": 0}, "steps is 0"),
        ({"sets": 1}, "unknown sets"),
        ({"letters": {}}, "its letters must be said"),
    ),
)
def test_a_part_that_cannot_be_planned_is_named_with_its_fault(changes, words):
    form = {
        "suite": "lockstep",
        "steps": 10,
        "covers": ["feature"],
        "operations": ["Append"],
        "letters": {"Append": 1},
    }
    with pytest.raises(BadPart, match=f"part mine: {words}"):
        parse_parts({"mine": form | changes})


class TestCells:
    def test_a_refusal_is_a_cell_of_its_own_and_covers_no_feature(self):
        history = ModelHistory().after(Create(SCHEMA, properties=(("delta.appendOnly", "true"),)))
        history = history.after(Append(Rows(SCHEMA, ((1, 1),))))
        delete = Delete(Compare("=", Column(("id",)), Literal(LONG, 1)))
        (cell,) = cells_of(history.table, delete, history.expect(delete))
        assert cell[:2] == (REFUSAL, "Delete")

    def test_an_operation_covers_each_facet_of_its_table_and_each_pair(self):
        create = Create(SCHEMA, ("part",), (("delta.enableDeletionVectors", "true"),))
        history = ModelHistory().after(create).after(Append(Rows(SCHEMA, ((1, 1),))))
        cells = cells_of(history.table, delete := Delete(), history.expect(delete))
        assert {(FEATURE, "Delete", "partitioned"), (FEATURE, "Delete", "deletionVectors")} <= cells
        assert (PAIR, "deletionVectors", "partitioned") in cells

    def test_a_crash_is_a_cell_by_its_operation_and_moment(self):
        assert crash_cell(Delete(), "before") == (CRASH, "Delete", "before")

    @pytest.mark.parametrize("engine", ("pyspark", "delta-rs", "delta-spark"))
    def test_a_table_with_the_properties_of_a_facet_has_the_facet(self, engine):
        for facet in offered_facets(planned(engine).capabilities):
            if facet.properties:
                table = ModelHistory().after(Create(SCHEMA, (), facet.properties)).table
                assert facet.name in facets_of(table)
