"""The aggregated results of events: claims with verdicts and evidence, the core, engines, suites, merged runs."""

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
from conformance.reporting.comparable_runs import UnlikeRuns
from conformance.reporting.event_log import read
from conformance.reporting.merge import merge
from tests.reporting.samples import (
    FINDING,
    HEADER,
    SIGHTING,
    explained,
    record,
    results_of,
    shrunk,
    small_run,
    triaged,
)

RS = "delta-rs@1.6.6"


def claim(requirement: str, *events_of_run: Event, engine: str = RS) -> Claim:
    """Return the one claim of a requirement and an engine."""
    claims = [
        claim
        for claim in results_of(*events_of_run).claims
        if (claim.setting.requirement, claim.setting.engine) == (requirement, engine)
    ]
    assert len(claims) == 1, claims
    return claims[0]


def violation(requirement: str, **changes: object) -> FindingFound:
    """Return the event of a finding."""
    return replace(FINDING, requirement=requirement, **changes)  # type: ignore[arg-type]


def test_a_rule_with_enough_checks_holds_with_its_evidence():
    checked_claim = claim("contents.rows", *small_run())
    assert checked_claim.verdict == "holds"
    assert (
        checked_claim.evidence.checks,
        checked_claim.evidence.histories,
        checked_claim.evidence.operations,
    ) == (300, 12, 732)


def test_a_cell_below_its_threshold_never_holds():
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
def test_a_finding_decides_its_cell_by_strength_and_whether_it_is_known(strength, known, verdict):
    checked_claim = claim(
        "contents.rows", *small_run(violation("contents.rows", strength=strength, known=known))
    )
    assert checked_claim.verdict == verdict
    assert checked_claim.findings == ("9f3c21aa",)


def test_a_known_finding_does_not_cover_a_new_one():
    known = violation("contents.rows", known=True)
    fresh = violation("contents.rows", fingerprint="00000001")
    assert claim("contents.rows", *small_run(known, fresh)).verdict == "violated"


@pytest.mark.parametrize("known_first", (True, False))
def test_a_new_finding_is_shown_although_another_history_triggers_a_known_deviation(
    known_first,
):
    both = [violation("contents.rows", known=True, cause="a-cause"), violation("contents.rows")]
    results = results_of(*small_run(*(both if known_first else both[::-1])))
    assert [finding.event.fresh for finding in results.findings] == [True]
    assert [finding.times for finding in results.findings] == [2]
    assert results.outcome.exit == 1


def test_an_unpromised_rule_is_no_violation_although_its_declaration_is_missing():
    assert claim("contents.rows", *small_run(violation("contents.rows", promised=False))).verdict == (
        "not-guaranteed"
    )


def test_a_finding_stands_in_the_cell_of_its_own_setting_only():
    shared = violation("contents.rows", with_engines=("delta-spark@4.4.0",))
    verdicts = {
        claim.setting.with_engines: claim.verdict
        for claim in results_of(*small_run(shared)).claims
        if claim.setting.requirement == "contents.rows"
    }
    assert verdicts == {(): "holds", ("delta-spark@4.4.0",): "violated"}


def test_a_declared_lack_of_guarantee_is_shown_with_its_reason_even_after_a_failure():
    declared = DeclaredClaim(RS, "contents.rows", "not-guaranteed", "on local files")
    checked_claim = claim("contents.rows", *small_run(declared, violation("contents.rows")))
    assert (checked_claim.verdict, checked_claim.why) == ("not-guaranteed", "on local files")


def test_a_declaration_without_any_test_is_a_claim_of_its_own():
    checked_claim = claim(
        "contents.clone", *small_run(DeclaredClaim(RS, "contents.clone", "unsupported", "no such call"))
    )
    assert (checked_claim.verdict, checked_claim.evidence.checks) == ("unsupported", 0)


def test_a_wrong_result_of_an_unsupported_operation_is_a_finding():
    declared = DeclaredClaim(RS, "contents.rows", "unsupported", "no such call")
    assert claim("contents.rows", *small_run(declared, violation("contents.rows"))).verdict == "violated"


def test_a_history_reported_twice_counts_once():
    again = Evidence("lockstep", 0, 3, RS, "writer", {"contents.rows": 25}, operations=61)
    checked_claim = claim("contents.rows", *small_run(again))
    assert (checked_claim.evidence.checks, checked_claim.evidence.histories) == (300, 12)


def test_a_core_pair_without_any_check_is_a_claim_without_evidence():
    checked_claim = claim(
        "contents.absent", *small_run(core=(EvidenceThreshold("contents.absent", "delta-rs"),))
    )
    assert (checked_claim.verdict, checked_claim.core, checked_claim.evidence.checks) == (
        "not-enough-evidence",
        True,
        0,
    )


def test_the_core_may_require_more_or_less_than_the_usual_threshold():
    more = small_run(core=(EvidenceThreshold("contents.rows", "delta-rs", checks=301),))
    assert claim("contents.rows", *more).verdict == "not-enough-evidence"
    less = small_run(core=(EvidenceThreshold("contents.vacuum", "delta-rs", checks=1, histories=1),))
    assert claim("contents.vacuum", *less).verdict == "holds"


def test_a_threshold_of_a_suite_is_reached_by_evidence_of_that_suite_only():
    events = small_run(core=(EvidenceThreshold("contents.rows", "delta-rs", "shared"),))
    assert claim("contents.rows", *events).verdict == "not-enough-evidence"
    assert (
        claim(
            "contents.rows", *small_run(core=(EvidenceThreshold("contents.rows", "delta-rs", "lockstep"),))
        ).verdict
        == "holds"
    )


def test_the_core_rests_on_the_settings_that_reach_the_threshold():
    rare = Evidence("lockstep", 0, 1, RS, "writer", {"contents.rows": 3}, features=("deletionVectors",))
    marked = {
        claim.setting.features: (claim.verdict, claim.core)
        for claim in results_of(*small_run(rare)).claims
        if claim.setting.requirement == "contents.rows"
    }
    assert marked == {(): ("holds", True), ("deletionVectors",): ("not-enough-evidence", False)}


def test_the_core_counts_for_every_version_of_an_engine_that_ran():
    results = results_of(*small_run(EngineReady("delta-rs@1.5.0")))
    assert {claim.setting.engine for claim in results.claims if claim.core} == {RS, "delta-rs@1.5.0"}
    assert results.outcome.exit == 3


def test_engines_are_listed_with_what_they_did_or_why_they_could_not():
    results = results_of(*small_run(EngineUnavailable("delta-spark", "no Java", "install it")))
    tested, missing = results.engines
    assert (tested.label, tested.status, tested.operations, tested.engine_seconds) == (RS, "tested", 732, 6.0)
    assert (missing.name, missing.version, missing.status, missing.why) == (
        "delta-spark",
        None,
        "unavailable",
        "no Java",
    )


def test_a_suite_counts_steps_once_and_is_complete_only_when_its_plan_is_done():
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
    weights = [next(claim.evidence.checks for claim in claims if claim.setting.requirement == "contents.rows")
               for claims in (once, same, both)]  # fmt: skip
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
    second = [_of_chunk(event, 1) for event in small_run()]
    results = merge([read(record(tmp_path / "a", *first)), read(record(tmp_path / "b", *second))])
    assert (
        next(
            claim.evidence.checks for claim in results.claims if claim.setting.requirement == "contents.rows"
        )
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


def test_an_aggregator_without_events_has_no_run():
    assert not ResultAggregator(Path("run")).has_begun


class TestTriage:
    """What triage says of a sighting counts for all its violations, whenever it says it."""

    @pytest.mark.parametrize("triaged_first", (True, False))
    def test_a_sighting_that_a_cause_explains_is_known(self, triaged_first):
        said: list[Event] = [SIGHTING, explained(), SIGHTING]
        results = results_of(*small_run(*(said[1:] if triaged_first else said)))
        (finding,) = results.findings
        assert (finding.event.fingerprint, finding.event.cause, finding.event.known) == (
            "0a1b2c3d", "a-cause", True,
        )  # fmt: skip
        assert claim(SIGHTING.requirement, *small_run(*said)).verdict == "known-deviation"
        assert claim(SIGHTING.requirement, *small_run(*said)).findings == ("0a1b2c3d",)
        assert results.outcome.exit == 0

    @pytest.mark.parametrize("said", ((), (triaged("unexplained"),), (triaged("unstable"),), (shrunk(),)))
    def test_a_must_that_is_not_known_fails_the_run(self, said):
        results = results_of(*small_run(SIGHTING, *said))
        assert results.outcome.exit == 1

    def test_the_reason_says_that_nobody_knows_the_cause(self):
        assert results_of(*small_run(SIGHTING)).outcome.reasons == (
            "delta-rs@1.6.6 violates log.remove-names-live-file (unexplained: the run did not get to its cause)",
        )
        assert results_of(*small_run(SIGHTING, triaged("unstable"))).outcome.reasons == (
            "delta-rs@1.6.6 violates log.remove-names-live-file (unstable: it did not show again)",
        )
        assert results_of(*small_run(SIGHTING, shrunk())).outcome.reasons == (
            "delta-rs@1.6.6 violates log.remove-names-live-file",
        )

    def test_sightings_of_one_cause_are_one_finding_with_all_their_requirements(self):
        other = replace(SIGHTING, fingerprint="00000002", requirement="read.latest")
        results = results_of(
            *small_run(
                SIGHTING, SIGHTING, other, explained(), explained(other, requirements=("read.latest",))
            )
        )
        (finding,) = results.findings
        assert (finding.times, finding.sightings) == (3, 2)
        assert finding.requirements == ("log.remove-names-live-file", "read.latest")

    def test_sightings_of_one_minimal_history_are_one_finding(self):
        other = replace(SIGHTING, fingerprint="00000002", steps=20)
        (finding,) = results_of(*small_run(other, SIGHTING, shrunk(other), shrunk())).findings
        assert (finding.sightings, finding.minimal_steps, finding.event.steps) == (2, 3, 7)

    def test_the_last_word_of_triage_counts(self):
        (finding,) = results_of(*small_run(SIGHTING, triaged("unexplained"), shrunk())).findings
        assert (finding.event.state, finding.event.folder) == ("new", "findings/ab12cd34")

    def test_a_sighting_is_explained_in_its_own_run_only(self, tmp_path):
        one = record(tmp_path / "one", *small_run(SIGHTING, explained()))
        other = record(tmp_path / "other", *small_run(SIGHTING, seed=2))
        results = merge([read(one), read(other)])
        assert {finding.event.state for finding in results.findings} == {"known", "unexplained"}
        assert results.outcome.exit == 1

    def test_a_difference_that_delta_spark_may_have_for_a_known_cause_is_no_wrong_rule(self):
        spark = replace(SIGHTING, engine="delta-spark@4.4.0", strength="reference")
        assert results_of(*small_run(spark)).outcome.exit != 2
        assert results_of(*small_run(replace(spark, candidates=()))).outcome.exit == 2
        assert results_of(*small_run(spark, shrunk(spark))).outcome.exit == 2
        assert results_of(*small_run(spark, explained(spark))).outcome.exit != 2

    def test_a_must_that_only_the_minimal_history_breaks_fails_the_run(self):
        weak = replace(SIGHTING, requirement="log.path-is-uri", strength="should")
        said = shrunk(
            weak, requirement="read.latest", strength="must", requirements=("read.latest", weak.requirement)
        )
        results = results_of(*small_run(weak, said))
        assert results.outcome.exit == 1
        assert results.outcome.reasons == ("delta-rs@1.6.6 violates read.latest",)
