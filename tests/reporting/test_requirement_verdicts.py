"""What a run says of one requirement for one engine, by its claims and its exit status alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.events.types import EngineReady, Event, Evidence, EvidenceThreshold, FindingFound
from conformance.reporting.requirement_verdicts import fails_run, requirement_verdict
from tests.reporting.samples import HEADER, SIGHTING, explained, results_of, shrunk

ENGINE, RULE = "delta-rs@1.6.6", SIGHTING.requirement
LIKE_SPARK = EngineReady(ENGINE, compatible_with=("delta-spark",))
PLAIN = EngineReady(ENGINE)
FINDING = replace(SIGHTING, engine=ENGINE)


def checked(times: int, *, histories: int = 5, features: tuple[str, ...] = ()) -> list[Event]:
    """Evidence of the requirement."""
    return [
        Evidence("lockstep", 0, number, ENGINE, "writer", {RULE: times}, features=features)
        for number in range(histories)
    ]


def verdict(*events: Event, ready: EngineReady = PLAIN, core: bool = False):
    threshold = EvidenceThreshold(RULE, "delta-rs", checks=20, histories=5)
    header = replace(HEADER, core=(threshold,) if core else ())
    return requirement_verdict(results_of(header, ready, *events), RULE, ENGINE)


def test_it_holds_if_it_was_checked_often_enough():
    assert verdict(*checked(4)).outcome == "holds"


@pytest.mark.parametrize("core", (False, True))
def test_it_is_undecided_if_it_was_checked_too_rarely_or_never(core):
    rarely = verdict(*checked(3), core=core)
    assert (rarely.outcome, rarely.verdict) == ("undecided", "not-enough-evidence")
    assert "15 of 20 checks, 5 of 5 histories" in rarely.reason
    assert verdict(core=core).outcome == "undecided"


def test_it_holds_if_one_setting_has_enough_evidence_and_no_other_has_a_finding():
    assert verdict(*checked(4), *checked(1, features=("deletionVectors",)), core=True).outcome == "holds"


def test_a_violation_fails_it_with_its_finding():
    judged = verdict(*checked(4), FINDING, shrunk(FINDING))
    assert (judged.outcome, judged.verdict) == ("fails", "violated")
    assert [finding.event.fingerprint for finding in judged.findings] == ["ab12cd34"]


def test_a_known_cause_does_not_fail_it_and_is_named():
    judged = verdict(*checked(4), FINDING, explained(FINDING))
    assert (judged.outcome, judged.verdict) == ("undecided", "known-deviation")
    assert judged.reason == "known: a-cause: Removes are repeated."


@pytest.mark.parametrize(("ready", "outcome"), ((PLAIN, "undecided"), (LIKE_SPARK, "fails")))
def test_a_difference_fails_it_only_if_the_engine_promises_to_be_like_delta_spark(ready, outcome):
    rule = "outcome.merge-source-unambiguous"
    weak: FindingFound = replace(FINDING, strength="reference", requirement=rule)
    evidence = [replace(event, checks={rule: 4}) for event in checked(4) if isinstance(event, Evidence)]
    results = results_of(replace(HEADER, core=()), ready, *evidence, weak, shrunk(weak))
    judged = requirement_verdict(results, rule, ENGINE)
    assert judged.outcome == outcome
    assert judged.verdict == "differs"
    assert fails_run(results.findings[0], results) is (outcome == "fails")


def test_what_only_the_minimal_history_breaks_fails_its_requirement_too():
    other = "log.added-file-exists"
    event = shrunk(FINDING, requirement=other, requirements=(other, RULE))
    results = results_of(replace(HEADER, core=()), PLAIN, *checked(4), FINDING, event)
    assert requirement_verdict(results, other, ENGINE).outcome == "fails"
    assert requirement_verdict(results, RULE, ENGINE).outcome == "fails"
    assert {(other, ENGINE), (RULE, ENGINE)} == results.outcome.failing
