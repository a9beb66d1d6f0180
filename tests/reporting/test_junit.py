"""`junit.xml` is well-formed, has the shape that CI servers take, and passes nothing that was not tested."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from conformance.events.types import EngineReady, Event, HarnessFault, Interrupted
from conformance.reporting.junit import text
from tests.reporting.samples import FINDING, big_run, results_of, small_run

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


def test_a_rule_that_holds_passes_and_one_with_too_few_checks_is_skipped():
    assert cases(parse(*small_run())) == {
        "delta-rs@1.6.6 contents.rows [writer]": "passed",
        "delta-rs@1.6.6 contents.vacuum [writer]": "skipped",
        "harness the run is conclusive": "passed",
    }


def test_a_violation_is_a_failure_with_its_detail_and_its_replay():
    root = parse(*small_run(FINDING))
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("type") == "violated"
    assert failure.get("message") == FINDING.detail
    assert failure.text == f"new (7 steps): {FINDING.detail}\nconformance replay run/findings/9f3c21aa"


@pytest.mark.parametrize(
    ("promises", "end"), (((), "passed"), (("delta-spark",), "failure")), ids=("none", "alike")
)
def test_a_difference_fails_only_where_it_fails_the_run(promises, end):
    difference = FINDING.__class__(**{
        **{dataclass_field: getattr(FINDING, dataclass_field) for dataclass_field in FINDING.__dataclass_fields__},
        "strength": "reference", "engine": "pyspark@0.1.0",
    })  # fmt: skip
    results = cases(parse(*small_run(EngineReady("pyspark@0.1.0", compatible_with=promises), difference)))
    assert results["pyspark@0.1.0 log.remove-names-live-file [writer]"] == end


@pytest.mark.parametrize("event", (HarnessFault("the reader fails"), Interrupted()), ids=("fault", "stopped"))
def test_a_run_that_says_nothing_is_an_error_of_its_own(event):
    assert cases(parse(*small_run(event)))["harness the run is conclusive"] == "error"
