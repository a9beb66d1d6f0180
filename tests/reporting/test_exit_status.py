"""Exit codes: 2 before 1 before 3 before 0, and 130 for a stopped run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.events.types import (
    BudgetSpent,
    DeclaredClaim,
    EngineReady,
    EngineUnavailable,
    Event,
    EvidenceThreshold,
    HarnessFault,
    Interrupted,
    Note,
)
from conformance.reporting.aggregation import ResultAggregator
from conformance.reporting.exit_status import NAMES, ExitStatus
from tests.reporting.samples import FINDING, results_of, small_run

SPARK = "delta-spark@4.4.0"
VIOLATION = replace(FINDING, requirement="contents.rows")
DIFFERENCE = replace(FINDING, requirement="contents.rows", strength="reference")
FAULT = HarnessFault("our reader fails on a valid log")
ABSENT = EngineUnavailable("delta-spark", "no Java")
BUDGET = BudgetSpent(60.0)


def outcome(*extra: Event, core: tuple[EvidenceThreshold, ...] | None = None) -> ExitStatus:
    """Return the outcome of a run whose core holds, with additional events."""
    run = small_run(*extra) if core is None else small_run(*extra, core=core)
    return results_of(*run).outcome


def test_all_of_the_core_holds():
    assert outcome() == ExitStatus(0, ())


@pytest.mark.parametrize(
    ("extra", "code"),
    (
        ((Note("x"),), 0),
        ((VIOLATION,), 1),
        ((FAULT,), 2),
        ((ABSENT,), 3),
        ((BUDGET,), 3),
        ((Interrupted(),), 130),
        ((ABSENT, VIOLATION), 1),
        ((BUDGET, ABSENT), 3),
        ((BUDGET, VIOLATION, FAULT), 2),
        ((FAULT, VIOLATION, Interrupted()), 130),
        ((DIFFERENCE,), 0),
        ((replace(VIOLATION, known=True),), 0),
        ((replace(VIOLATION, known=True), ABSENT), 3),
    ),
    ids=(
        "note", "violated", "fault", "absent-engine", "budget", "stopped", "violated-before-absent",
        "twice-inconclusive", "fault-before-all", "stopped-whatever-else", "difference", "known",
        "known-and-absent",
    ),
)  # fmt: skip
def test_the_weightiest_reason_decides(extra, code):
    run_outcome = outcome(*extra)
    assert run_outcome.exit == code
    assert run_outcome.verdict == NAMES[code]
    assert bool(run_outcome.reasons) == (code != 0)


def test_outside_the_core_violations_count_and_missing_evidence_does_not():
    elsewhere = replace(FINDING, requirement="contents.vacuum")
    assert outcome(elsewhere).exit == 1
    assert outcome().exit == 0, "contents.vacuum was checked once, and is not in the core"


def test_a_difference_fails_the_run_of_an_engine_that_promises_compatibility():
    ours = EngineReady("pyspark@0.1.0", compatible_with=("delta-spark",))
    run_outcome = outcome(ours, replace(DIFFERENCE, engine="pyspark@0.1.0"))
    assert run_outcome.exit == 1
    assert (
        run_outcome.reasons[0]
        == "pyspark@0.1.0 promises to be compatible with delta-spark; contents.rows differs"
    )
    assert outcome(ours, DIFFERENCE).exit == 0, "delta-rs promised nothing"


def test_a_reference_rule_that_delta_spark_itself_breaks_is_our_fault():
    run_outcome = outcome(EngineReady(SPARK), replace(DIFFERENCE, engine=SPARK))
    assert run_outcome.exit == 2
    assert "the rule is wrong" in run_outcome.reasons[0]


@pytest.mark.parametrize(
    "finding",
    (
        replace(DIFFERENCE, engine=SPARK, known=True),
        replace(DIFFERENCE, engine=SPARK, strength="should"),
        replace(DIFFERENCE, engine="delta-spark@4.0.0"),
        replace(DIFFERENCE, engine=SPARK, promised=False),
    ),
    ids=("known", "recommendation", "another-version", "not-promised"),
)
def test_other_differences_of_delta_spark_are_no_fault_of_ours(finding):
    assert outcome(EngineReady(finding.engine), finding).exit == 0


def test_core_without_enough_evidence_is_inconclusive_and_names_what_is_missing():
    run_outcome = outcome(core=(EvidenceThreshold("contents.vacuum", "delta-rs"),))
    assert run_outcome.exit == 3
    assert run_outcome.reasons == (
        "contents.vacuum for delta-rs@1.6.6: not enough evidence (1 of 20 checks, 1 of 5 histories)",
    )


def test_missing_evidence_of_a_suite_is_named_with_that_suite():
    run_outcome = outcome(
        core=(EvidenceThreshold("contents.rows", "delta-rs", suite="shared", checks=1, histories=1),)
    )
    assert run_outcome.reasons == (
        "contents.rows for delta-rs@1.6.6: not enough evidence (0 of 1 checks, 0 of 1 histories in shared)",
    )


def test_core_that_an_engine_declares_unsupported_was_not_tested():
    declared = DeclaredClaim("delta-rs@1.6.6", "contents.clone", "unsupported", "no such call")
    assert outcome(declared, core=(EvidenceThreshold("contents.clone", "delta-rs"),)).exit == 3


def test_a_run_without_any_core_says_nothing():
    run_outcome = outcome(core=())
    assert run_outcome.exit == 3
    assert run_outcome.reasons == (
        "nothing of the profile's core was asked of the engines and suites of this run",
    )


def test_an_incomplete_recording_is_inconclusive_at_best(tmp_path):
    aggregator = ResultAggregator(tmp_path)
    for event in small_run():
        aggregator(event)
    aggregator.add_problem("its footer is missing")
    assert aggregator.results().outcome == ExitStatus(3, ("its footer is missing",))
