"""`junit.xml` is well-formed, has the shape that CI servers take, and passes nothing that was not tested."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from conformance.events import serialization
from conformance.events.types import (
    BudgetSpent,
    EngineReady,
    EngineUnavailable,
    Event,
    HarnessFault,
    HistoryEnded,
    Interrupted,
    RunStarted,
)
from conformance.reporting.junit import text
from tests.reporting.samples import (
    FINDING,
    SIGHTING,
    big_run,
    explained,
    results_of,
    shrunk,
    small_run,
    triaged,
)

# What the schema of the Jenkins plugin allows, by element: required and optional attributes, and children.
SHAPE: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors", "disabled"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests"},
        {"failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package", "disabled"},
        {"testcase", "properties", "system-out", "system-err", "testsuite"},
    ),
    "testcase": (
        {"name", "classname"}, {"time", "status", "assertions"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
}  # fmt: skip


def parse(*run: Event) -> ET.Element:
    return ET.fromstring(text(results_of(*run)))


def cases(root: ET.Element) -> dict[str, str]:
    """Return the result of each test case, by name."""
    results = {}
    for case in root.iter("testcase"):
        ends = [child.tag for child in case if child.tag in {"failure", "error", "skipped"}]
        assert len(ends) <= 1
        results[f"{case.get('classname')} {case.get('name')}"] = ends[0] if ends else "passed"
    return results


def test_the_document_has_the_shape_that_servers_take(tmp_path):
    root = ET.fromstring(text(results_of(*big_run(tmp_path), HarnessFault("x", "\x00\ud800"), home=tmp_path)))
    for element in root.iter():
        must, may, children = SHAPE[element.tag]
        assert must <= set(element.keys()) <= must | may, element.tag
        assert {child.tag for child in element} <= children
    for suite in root:
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(name, "")) == len(suite.findall(f"testcase/{kind}"))
    for name in ("tests", "failures", "errors"):
        assert int(root.get(name, "")) == sum(int(suite.get(name, "")) for suite in root)


def test_names_of_test_cases_are_unique(tmp_path):
    root = ET.fromstring(text(results_of(*big_run(tmp_path), home=tmp_path)))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(names) == len(set(names))


def test_a_rule_that_holds_passes_and_one_with_too_few_checks_is_skipped_with_the_cause():
    root = parse(*small_run())
    assert cases(root) == {
        "delta-rs the engine runs": "passed",
        "delta-rs contents.rows [writer]": "passed",
        "delta-rs contents.vacuum [writer]": "skipped",
        "harness the run is conclusive": "passed",
    }
    skipped = root.find("testsuite/testcase/skipped")
    assert skipped is not None
    assert skipped.get("message") == "not-enough-evidence: 1 of 20 checks, 1 of 5 histories"


def test_a_violation_is_a_failure_with_its_detail_and_its_replay():
    root = parse(*small_run(FINDING))
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("type") == "violated"
    assert failure.get("message") == FINDING.detail
    assert failure.text == f"new (7 steps): {FINDING.detail}\nconformance replay run/findings/9f3c21aa"


@pytest.mark.parametrize(
    ("triaged_event", "end"),
    (
        (shrunk(), "failure"),
        (triaged("unexplained"), "failure"),
        (triaged("unstable"), "failure"),
        (explained(), "skipped"),
        (triaged("known"), "skipped"),
    ),
    ids=("new", "unexplained", "unstable", "a known cause", "in the baseline"),
)
def test_what_fails_the_run_is_a_failure_and_what_is_known_is_skipped(triaged_event, end):
    events = small_run(SIGHTING, triaged_event)
    assert cases(parse(*events))["delta-rs log.remove-names-live-file [writer]"] == end
    assert (results_of(*events).outcome.exit == 1) == (end == "failure")


def test_what_is_known_is_skipped_with_the_cause():
    skipped = parse(*small_run(SIGHTING, explained())).findall("testsuite/testcase/skipped")
    assert [each.get("message") for each in skipped][-1] == "known: a-cause: Removes are repeated."


@pytest.mark.parametrize(
    ("promises", "end", "exit_code"),
    (((), "skipped", 0), (("delta-spark",), "failure", 1)),
    ids=("no promise", "alike"),
)
@pytest.mark.parametrize("strength", ("should", "reference"))
def test_a_difference_is_a_failure_only_where_it_fails_the_run(promises, end, exit_code, strength):
    difference = replace(FINDING, strength=strength, engine="pyspark@0.1.0")
    events = small_run(EngineReady("pyspark@0.1.0", compatible_with=promises), difference)
    root = parse(*events)
    assert cases(root)["pyspark log.remove-names-live-file [writer]"] == end
    assert results_of(*events).outcome.exit == exit_code
    said = root.find(f".//testcase[@name='log.remove-names-live-file [writer]']/{end}")
    assert said is not None
    assert FINDING.detail in said.get("message", "")


def test_a_violation_that_only_a_minimal_history_shows_is_a_failure():
    elsewhere = shrunk(requirement="read.latest", requirements=("read.latest",), strength="must")
    events = small_run(replace(SIGHTING, strength="should"), elsewhere)
    assert results_of(*events).outcome.exit == 1
    assert cases(parse(*events))["delta-rs read.latest [in a minimal history]"] == "failure"


@pytest.mark.parametrize(
    "extra",
    (
        (),
        (FINDING,),
        (replace(FINDING, promised=False),),
        (SIGHTING, explained()),
        (EngineUnavailable("delta-spark", "no Java"),),
        (EngineUnavailable("delta-rs@1.6.6", "its host died", asked=False),),
        (HarnessFault("the reader fails"),),
        (BudgetSpent(3.0),),
        (Interrupted(),),
    ),
)
def test_a_server_shows_green_exactly_where_the_run_ends_with_0(extra):
    events = small_run(*extra)
    ends = cases(parse(*events)).values()
    exit_code = results_of(*events).outcome.exit
    assert bool({"failure", "error"} & set(ends)) == (exit_code != 0)
    assert ("failure" in ends) == (exit_code == 1)


def identities(*run: Event) -> set[str]:
    return set(cases(parse(*run)))


def on_version(event: Event, version: str) -> Event:
    """The event with another version of delta-rs."""
    return serialization.from_line(
        serialization.to_line(event).replace("delta-rs@1.6.6", f"delta-rs@{version}")
    )


def test_no_version_is_part_of_a_case_s_identity():
    beside = replace(FINDING, with_engines=("delta-rs@1.6.6",), features=("deletionVectors",))
    old = small_run(FINDING, beside)
    new = [on_version(event, "1.7.0") for event in old]
    assert identities(*old) == identities(*new)
    root = parse(*old)
    named = [suite.get("name", "") for suite in root] + list(identities(*old))
    assert not [name for name in named if "@" in name or "1.6" in name]
    version = root.find("testsuite/properties/property[@name='engine']")
    assert version is not None
    assert version.get("value") == "delta-rs@1.6.6"


def test_two_versions_of_one_engine_have_cases_of_their_own():
    other = [
        on_version(event, "1.5.0")
        for event in small_run()
        if not isinstance(event, RunStarted | HistoryEnded)
    ]
    names = identities(*small_run(), *other)
    assert {"delta-rs contents.rows [writer]", "delta-rs (2) contents.rows [writer]"} <= names


def test_the_times_of_the_cases_add_up_to_the_time_that_the_engine_worked():
    root = parse(*small_run())
    times = {case.get("name"): float(case.get("time", "")) for case in root.iter("testcase")}
    worked, started = 12 * 0.5, 0.4
    # 300 checks of one requirement and a single one of the other, which shares the first history's half second.
    assert times["contents.rows [writer]"] == pytest.approx(worked - 0.5 / 26, abs=0.001)
    assert times["contents.vacuum [writer]"] == pytest.approx(0.5 / 26, abs=0.001)
    assert times["the engine runs"] == started
    assert sum(times.values()) == pytest.approx(worked + started, abs=0.002)
    for suite in root:
        own = sum(float(case.get("time", "")) for case in suite.iter("testcase"))
        assert float(suite.get("time", "")) == pytest.approx(own, abs=0.001)
    assert float(root.get("time", "")) == 12.5  # by the clock


@pytest.mark.parametrize("event", (HarnessFault("the reader fails"), Interrupted()), ids=("fault", "stopped"))
def test_a_run_that_says_nothing_is_an_error_of_its_own(event):
    assert cases(parse(*small_run(event)))["harness the run is conclusive"] == "error"


def test_an_engine_that_cannot_run_is_an_error_with_its_cure():
    root = parse(*small_run(EngineUnavailable("delta-spark", "no Java", "apt install openjdk")))
    assert cases(root)["delta-spark the engine runs"] == "error"
    error = root.find("testsuite[@name='delta-spark']/testcase/error")
    assert error is not None
    assert error.get("message") == "no Java To mend it: apt install openjdk"
