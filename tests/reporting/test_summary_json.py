"""`summary.json`: the members that other programs read, and baselines made of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conformance.events.types import EngineUnavailable, FindingFound
from conformance.reporting.summary_json import SummaryError, baseline, summary, write
from tests.reporting.samples import FINDING, SIGHTING, explained, results_of, shrunk, small_run, triaged


def test_the_members_that_other_programs_read_exist():
    document = summary(results_of(*small_run(FINDING, EngineUnavailable("delta-spark", "no Java"))))
    first = {
        "format": 1, "harness": "0.1.0", "command": ["conformance", "run", "--seed", "1"], "seed": 1, "seconds": 12.5,
        "verdict": "violated", "exit": 1,
    }  # fmt: skip
    assert {key: document[key] for key in first} == first
    tested, missing = document["engines"]
    assert tested.items() >= {
        "name": "delta-rs", "version": "1.6.6", "status": "tested", "why": None,
        "operations": 732, "engine_seconds": 6.0,
    }.items()  # fmt: skip
    assert missing.items() >= {"name": "delta-spark", "status": "unavailable", "why": "no Java"}.items()
    assert document["suites"] == [
        {"name": "lockstep", "histories": 12, "steps": 300, "crash_points": 0, "schedules": 0, "seconds": 9.0,
         "complete": True}
    ]  # fmt: skip
    claim = next(claim for claim in document["claims"] if claim["requirement"] == "contents.rows")
    assert claim.items() >= {
        "requirement": "contents.rows", "engine": "delta-rs@1.6.6", "role": "writer", "with": [], "features": [],
        "storage": "local", "processes": "one", "verdict": "holds", "core": True, "findings": [],
    }.items()  # fmt: skip
    assert claim["evidence"].items() >= {"checks": 300, "histories": 12}.items()
    assert "class" in claim
    (finding,) = document["findings"]
    assert finding.items() >= {
        "fingerprint": "9f3c21aa", "requirement": "log.remove-names-live-file", "class": "must",
        "engine": "delta-rs@1.6.6", "role": "writer", "suite": "lockstep", "known": False, "steps": 7,
        "folder": "findings/9f3c21aa",
    }.items()  # fmt: skip


def test_a_finding_says_its_cause_its_requirements_and_how_long_its_minimal_history_is():
    document = summary(
        results_of(*small_run(SIGHTING, shrunk(requirements=(SIGHTING.requirement, "read.latest"))))
    )
    (finding,) = document["findings"]
    assert finding.items() >= {
        "fingerprint": "ab12cd34", "state": "new", "cause": None, "deviation": None, "sightings": 1,
        "requirements": ["log.remove-names-live-file", "read.latest"], "steps": 7, "minimal_steps": 3,
        "reproduced": True, "folder": "findings/ab12cd34",
    }.items()  # fmt: skip


def test_a_summary_is_a_baseline_of_its_causes_and_its_minimal_histories(tmp_path):
    second, third = replace(SIGHTING, fingerprint="00000002"), replace(SIGHTING, fingerprint="00000003")
    events = (SIGHTING, shrunk(), second, explained(second), third, triaged("unstable", third))
    write(results_of(*small_run(*events)), tmp_path / "summary.json")
    assert baseline(tmp_path / "summary.json") == {"ab12cd34", "0a1b2c3d"}


def test_a_baseline_from_before_causes_has_to_be_made_again(tmp_path):
    write(results_of(*small_run(FINDING)), tmp_path / "summary.json")
    with pytest.raises(SummaryError, match=r"holds no causes .* Make it again: conformance run --seed 1"):
        baseline(tmp_path / "summary.json")


@pytest.mark.parametrize(
    ("content", "message"),
    (
        (None, "No such file"),
        ("{", "is no JSON"),
        ("[]", "is no summary.json of format 1"),
        ('{"format": 2, "findings": []}', "is no summary.json of format 1"),
        ('{"format": 1, "findings": [{}]}', "findings without a fingerprint"),
    ),
    ids=("absent", "no-json", "list", "newer", "nameless"),
)
def test_an_invalid_baseline_is_named_with_the_reason(tmp_path, content, message):
    if content is not None:
        (tmp_path / "summary.json").write_text(content)
    with pytest.raises(SummaryError, match=message):
        baseline(tmp_path / "summary.json")


def test_nothing_in_a_summary_is_lost_on_the_way_through_json():
    document = summary(results_of(*small_run(FINDING)))
    assert json.loads(json.dumps(document)) == document
    assert isinstance(FINDING, FindingFound)


def test_a_finding_counts_the_histories_that_have_it_once_each():
    document = summary(results_of(*small_run(FINDING, replace(FINDING, history=3), replace(FINDING, step=4))))
    (finding,) = document["findings"]
    assert (finding["times"], finding["histories"]) == (3, 2)
