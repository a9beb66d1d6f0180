"""What the harness wrote at commit 61b1528 is read today, and says the same.

The recordings are cut to a few lines of each kind, the summary to a few entries of each list; no line was changed.
`vocabulary.json` and `deviations.json` hold what that commit said of its classes and of its known deviations, which are
causes today.
"""

import dataclasses
import hashlib
import json
from pathlib import Path

import pytest

from conformance.events import serialization
from conformance.events.types import FindingFound
from conformance.findings.storage import load_finding
from conformance.histories import History
from conformance.reporting import event_log, summary_json
from delta_adapters.deviations import all_causes
from delta_models.wire_names import CLASSES
from tests.old_files.fingerprints import fingerprints, observation

HERE = Path(__file__).parent
RECORDINGS = sorted((HERE / "recordings").iterdir())
FINDINGS = sorted((HERE / "findings").iterdir())
DEVIATIONS = json.loads((HERE / "deviations.json").read_text())
VOCABULARY = json.loads((HERE / "vocabulary.json").read_text())


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_is_read_and_would_be_written_the_same(path):
    recording = event_log.read(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert recording.complete
    assert recording.passed_over == 0
    for line in lines:
        if "deviation" in line:  # the one field that has another name today
            line["cause"] = line.pop("deviation")
    assert [
        serialization.to_json(event) | {"at": line["at"]}
        for event, line in zip(recording.events, lines, strict=True)
    ] == lines


def test_a_deviation_of_an_old_recording_is_read_as_the_cause():
    recording = event_log.read(HERE / "recordings" / "lockstep.jsonl")
    causes = {event.cause for event in recording.events if isinstance(event, FindingFound)}
    assert any(causes)
    assert {event.state for event in recording.events if isinstance(event, FindingFound)} == {""}


def test_the_recordings_have_every_event_that_is_recorded():
    kinds = {json.loads(line)["event"] for path in RECORDINGS for line in path.read_text().splitlines()}
    assert kinds == {
        name for name, kind in serialization.TYPES.items() if not getattr(kind, "transient", False)
    } - {"FindingTriaged", "CellsPlanned"}  # newer than these files


@pytest.mark.parametrize("folder", FINDINGS, ids=lambda folder: folder.name)
def test_a_finding_is_read_and_would_be_written_the_same(folder):
    finding = load_finding(folder)
    assert finding.fingerprint == folder.name
    assert json.dumps(finding.to_json(), indent=2) + "\n" == (folder / "finding.json").read_text()
    assert json.dumps(finding.history.to_json(), indent=1) + "\n" == (folder / "history.json").read_text()


def test_a_summary_from_before_causes_is_no_baseline_and_says_so():
    with pytest.raises(summary_json.SummaryError, match=r"an older version of the harness made it"):
        summary_json.baseline(HERE / "summary.json")


def test_every_known_deviation_is_still_there_as_a_cause():
    """Who removes a cause, or changes its history, changes the line of it in `deviations.json` as well."""
    assert DEVIATIONS.keys() <= {cause.id for cause in all_causes()}


@pytest.mark.parametrize("cause", all_causes(), ids=lambda cause: cause.id)
def test_a_cause_keeps_its_trigger_and_its_minimal_history(cause, tmp_path):
    if cause.id not in DEVIATIONS:
        return  # newer than these files
    then = DEVIATIONS[cause.id]
    history = History.from_json(cause.history)
    assert cause.trigger == then["trigger"]
    assert digest(history.to_json()) == then["history"]
    assert list(fingerprints(history, observation(tmp_path))) == then["steps"]


def digest(form):
    text = json.dumps(form, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("then", "now"), ((VOCABULARY["vocabulary"], CLASSES), (VOCABULARY["events"], serialization.TYPES))
)
def test_no_name_and_no_field_went(then, now):
    assert then.keys() <= now.keys()
    gone = {
        f"{name}.{field}"
        for name, fields in then.items()
        for field in set(fields) - {field.name for field in dataclasses.fields(now[name])}
        if field not in serialization.OLD_FIELDS.get(now[name], {})
    }
    assert gone == set()
