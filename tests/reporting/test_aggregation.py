"""What a run's events come to: claims with verdicts and weights, the core, engines, suites, and several runs in one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.events.types import (
    ChunkEnded,
    DeclaredClaim,
    EngineReady,
    EngineUnavailable,
    Event,
    Evidence,
    EvidenceThreshold,
    FindingFound,
    HistoryEnded,
)
from conformance.reporting.aggregation import ResultAggregator
from conformance.reporting.claims import Claim
from conformance.reporting.event_log import read
from conformance.reporting.merge import UnlikeRuns, merge
from tests.reporting.samples import FINDING, HEADER, record, results_of, small_run

RS = "delta-rs@1.6.6"


def claim(requirement: str, *events_of_run: Event, engine: str = RS) -> Claim:
    """The one claim of a requirement."""
    found = [
        each
        for each in results_of(*events_of_run).claims
        if (each.setting.requirement, each.setting.engine) == (requirement, engine)
    ]
    assert len(found) == 1, found
    return found[0]


def violation(requirement: str, **changes: object) -> FindingFound:
    """A finding of a requirement."""
    return replace(FINDING, requirement=requirement, **changes)  # type: ignore[arg-type]


def test_what_was_checked_often_enough_holds_with_its_weight():
    found = claim("contents.rows", *small_run())
    assert found.verdict == "holds"
    assert (found.evidence.checks, found.evidence.histories, found.evidence.operations) == (300, 12, 732)


def test_below_its_floor_a_cell_is_never_green():
    assert claim("contents.vacuum", *small_run()).verdict == "not-enough-evidence"
    many = Evidence("lockstep", 0, 0, RS, "writer", {"contents.once": 500})
    assert claim("contents.once", *small_run(many)).verdict == "not-enough-evidence", (
        "one history is not five"
    )


@pytest.mark.parametrize(
    ("strength", "known", "verdict"),
    (
        ("must", False, "violated"),
        ("should", False, "differs"),
        ("reference", False, "differs"),
        ("must", True, "known-deviation"),
        ("reference", True, "known-deviation"),
    ),
)
def test_a_finding_decides_its_cell_by_its_class_and_by_whether_it_is_known(strength, known, verdict):
    found = claim("contents.rows", *small_run(violation("contents.rows", strength=strength, known=known)))
    assert found.verdict == verdict
    assert found.findings == ("9f3c21aa",)


def test_a_known_finding_does_not_cover_a_new_one():
    known = violation("contents.rows", known=True)
    fresh = violation("contents.rows", fingerprint="00000001")
    assert claim("contents.rows", *small_run(known, fresh)).verdict == "violated"


@pytest.mark.parametrize("known_first", (True, False))
def test_what_is_news_in_one_history_is_shown_though_another_sets_off_a_known_deviation_of_the_same_kind(
    known_first,
):
    both = [violation("contents.rows", known=True, deviation="a-cause"), violation("contents.rows")]
    results = results_of(*small_run(*(both if known_first else both[::-1])))
    assert [finding.event.fresh for finding in results.findings] == [True]
    assert [finding.times for finding in results.findings] == [2]
    assert results.outcome.exit == 1


def test_what_nobody_promises_is_no_violation_though_the_run_ended_before_that_was_declared():
    assert claim("contents.rows", *small_run(violation("contents.rows", promised=False))).verdict == (
        "not-guaranteed"
    )


def test_a_finding_stands_in_the_cell_of_its_own_setting_only():
    shared = violation("contents.rows", with_engines=("delta-spark@4.4.0",))
    verdicts = {
        each.setting.with_engines: each.verdict
        for each in results_of(*small_run(shared)).claims
        if each.setting.requirement == "contents.rows"
    }
    assert verdicts == {(): "holds", ("delta-spark@4.4.0",): "violated"}


def test_what_an_engine_says_not_to_guarantee_is_said_with_its_reason_even_if_it_fails():
    declared = DeclaredClaim(RS, "contents.rows", "not-guaranteed", "on local files")
    found = claim("contents.rows", *small_run(declared, violation("contents.rows")))
    assert (found.verdict, found.why) == ("not-guaranteed", "on local files")


def test_a_declaration_without_any_test_is_a_claim_of_its_own():
    found = claim(
        "contents.clone", *small_run(DeclaredClaim(RS, "contents.clone", "unsupported", "no such call"))
    )
    assert (found.verdict, found.evidence.checks) == ("unsupported", 0)


def test_an_engine_that_does_wrongly_what_it_calls_unsupported_has_a_finding():
    declared = DeclaredClaim(RS, "contents.rows", "unsupported", "no such call")
    assert claim("contents.rows", *small_run(declared, violation("contents.rows"))).verdict == "violated"


def test_the_same_history_told_twice_counts_once():
    again = Evidence("lockstep", 0, 3, RS, "writer", {"contents.rows": 25}, operations=61)
    found = claim("contents.rows", *small_run(again))
    assert (found.evidence.checks, found.evidence.histories) == (300, 12)


def test_a_pair_of_the_core_that_was_never_asked_is_a_claim_without_evidence():
    found = claim("contents.absent", *small_run(core=(EvidenceThreshold("contents.absent", "delta-rs"),)))
    assert (found.verdict, found.core, found.evidence.checks) == ("not-enough-evidence", True, 0)


def test_the_core_may_ask_for_more_than_the_usual_floor_and_for_less():
    more = small_run(core=(EvidenceThreshold("contents.rows", "delta-rs", checks=301),))
    assert claim("contents.rows", *more).verdict == "not-enough-evidence"
    less = small_run(core=(EvidenceThreshold("contents.vacuum", "delta-rs", checks=1, histories=1),))
    assert claim("contents.vacuum", *less).verdict == "holds"


def test_a_floor_for_a_suite_is_reached_by_evidence_of_that_suite_only():
    asked = small_run(core=(EvidenceThreshold("contents.rows", "delta-rs", "shared"),))
    assert claim("contents.rows", *asked).verdict == "not-enough-evidence"
    assert (
        claim(
            "contents.rows", *small_run(core=(EvidenceThreshold("contents.rows", "delta-rs", "lockstep"),))
        ).verdict
        == "holds"
    )


def test_the_core_rests_on_the_settings_that_reach_the_floor():
    rare = Evidence("lockstep", 0, 1, RS, "writer", {"contents.rows": 3}, features=("deletionVectors",))
    marked = {
        each.setting.features: (each.verdict, each.core)
        for each in results_of(*small_run(rare)).claims
        if each.setting.requirement == "contents.rows"
    }
    assert marked == {(): ("holds", True), ("deletionVectors",): ("not-enough-evidence", False)}


def test_the_core_counts_for_every_version_of_an_engine_that_ran():
    results = results_of(*small_run(EngineReady("delta-rs@1.5.0")))
    assert {each.setting.engine for each in results.claims if each.core} == {RS, "delta-rs@1.5.0"}
    assert results.outcome.exit == 3


def test_engines_are_told_with_what_they_did_or_why_they_could_not():
    results = results_of(*small_run(EngineUnavailable("delta-spark", "no Java", "install it")))
    tested, missing = results.engines
    assert (tested.label, tested.status, tested.operations, tested.engine_seconds) == (RS, "tested", 732, 6.0)
    assert (missing.name, missing.version, missing.status, missing.why) == (
        "delta-spark",
        None,
        "unavailable",
        "no Java",
    )


def test_a_suite_counts_steps_once_and_is_complete_only_if_all_of_its_plan_was_done():
    (suite,) = results_of(*small_run()).suites
    assert (suite.histories, suite.steps, suite.seconds, suite.complete) == (12, 300, 9.0, True)
    (cut,) = results_of(*small_run(complete=False)).suites
    assert not cut.complete


def test_a_finding_seen_again_is_one_finding():
    (finding,) = results_of(*small_run(FINDING, FINDING, FINDING)).findings
    assert finding.times == 3
    assert finding.folder == Path("run/findings/9f3c21aa")


def test_two_versions_of_an_engine_have_findings_of_their_own():
    older = replace(FINDING, engine="delta-rs@1.5.0")
    assert len(results_of(*small_run(EngineReady("delta-rs@1.5.0"), FINDING, older)).findings) == 2


def test_shards_with_other_seeds_add_up_and_the_same_run_twice_does_not(tmp_path):
    one = record(tmp_path / "one", *small_run())
    two = record(tmp_path / "two", *small_run(seed=2))
    once = merge([read(one)]).claims
    same = merge([read(one), read(one)]).claims
    both = merge([read(one), read(two)]).claims
    weights = [next(each.evidence.checks for each in found if each.setting.requirement == "contents.rows")
               for found in (once, same, both)]  # fmt: skip
    assert weights == [300, 300, 600]


def _of_chunk(event: Event, number: int) -> Event:
    match event:
        case ChunkEnded():
            return replace(event, number=number)
        case HistoryEnded() | Evidence():
            return replace(event, chunk=number)
    return event


def test_shards_of_one_seed_add_up_by_chunk_and_complete_each_other(tmp_path):
    first = small_run()
    second = [_of_chunk(each, 1) for each in small_run()]
    results = merge([read(record(tmp_path / "a", *first)), read(record(tmp_path / "b", *second))])
    assert (
        next(each.evidence.checks for each in results.claims if each.setting.requirement == "contents.rows")
        == 600
    )
    assert [suite.complete for suite in results.suites] == [True]


@pytest.mark.parametrize("change", ({"profile": "ci"}, {"harness": "0.2.0"}, {"storage": "s3"}), ids=str)
def test_runs_that_mean_different_things_are_not_merged(tmp_path, change):
    one = read(record(tmp_path / "one", *small_run()))
    two = read(record(tmp_path / "two", replace(HEADER, **change)))
    with pytest.raises(UnlikeRuns, match=next(iter(change))):
        merge([one, two])


def test_a_merged_finding_keeps_the_folder_of_the_run_that_has_it(tmp_path):
    one = read(record(tmp_path / "one", *small_run()))
    two = read(record(tmp_path / "two", *small_run(FINDING, seed=2)))
    (finding,) = merge([one, two]).findings
    assert finding.folder == tmp_path / "two" / "findings" / "9f3c21aa"


def test_a_ledger_that_heard_nothing_has_no_run():
    assert not ResultAggregator(Path("run")).has_begun
