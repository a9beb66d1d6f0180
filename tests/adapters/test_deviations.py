"""The known deviations: entries are whole, and still happen in the engine as it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from conformance.findings import key_of
from conformance.findings.known_deviations import known_deviation, triggers_of
from conformance.histories import History, Step
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.deviations import (
    TRIGGERS,
    BadDeviation,
    Deviation,
    all_deviations,
    entries,
    known,
    load_deviations,
)
from delta_adapters.reference import Reference
from delta_models.operations import DeadTableAt
from delta_models.requirements import BY_ID
from tests.mutants.stage import ALWAYS_KNOWN, play

ENTRY = """
requirement = "read.filter"
engine = "delta-rs"
versions = ">=1.6.0,<1.7"
fingerprints = ["9f3c21aa"]
cause = "It does so."
issue = "not reported"
expires = 2027-06-30
"""
FORM = """
[[forms]]
requirements = ["read.filter"]
operations = { Read = ["where", "columns"] }
features = ["1/2"]
types = ["string partition"]
other_types = ["long"]
outcomes = ["answered"]
"""
KEY = {
    "requirement": "read.filter", "engine": "delta-rs", "operation": "Read", "options": ["where"], "features": ["1/2"],
    "types": ["long", "string partition"], "outcome": "answered",
}  # fmt: skip


# The others need a JVM: tests/adapters/delta_spark and tests/execution/test_beside_delta_spark.py replay them.
BESIDE_DELTA_SPARK = (
    "delta-rs-far-timestamps",
    "delta-rs-stats-of-removes",
    "delta-rs-vacuum-of-deletion-vectors",
)
ABORTS = ("delta-rs-aborts-on-slices",)  # and would take these tests along: the script of it is run instead
UNDER_FAULTS = ("crashes", "races")  # tests/suites/crashes and tests/suites/races replay these
WITHOUT_JVM = [
    deviation
    for deviation in all_deviations()
    if deviation.engine == "delta-rs"
    and deviation.name not in (*BESIDE_DELTA_SPARK, *ABORTS)
    and deviation.history["suite"] not in UNDER_FAULTS
]


@pytest.mark.parametrize("entry", all_deviations(), ids=lambda entry: entry.name)
class TestEntries:
    def test_it_speaks_of_a_requirement_and_says_why(self, entry: Deviation):
        assert entry.requirement in BY_ID
        assert len(entry.cause) > 80
        assert entry.fingerprints

    def test_it_has_not_expired(self, entry: Deviation):
        assert not entry.expired(), (
            f"{entry.name}: look whether {entry.engine} still does it, and remove or renew it"
        )

    def test_its_forms_speak_of_requirements(self, entry: Deviation):
        assert {requirement for form in entry.forms for requirement in form.requirements} <= set(BY_ID)

    def test_its_trigger_exists(self, entry: Deviation):
        assert entry.trigger in {None, *TRIGGERS}

    def test_its_trigger_occurs_in_its_smallest_history(self, entry: Deviation):
        assert {entry.trigger} - {None} <= triggers_of(History.from_json(entry.history))


@pytest.mark.parametrize("entry", WITHOUT_JVM, ids=lambda entry: entry.name)
def test_its_smallest_history_still_shows_it(entry: Deviation, tmp_path):
    history = History.from_json(entry.history)
    others = [Reference()] if any(step.slot == "B" for step in history.steps) else []
    played = play(
        DeltaRs(),
        tmp_path / "table",
        [(step.operation, step.slot or "A") for step in history.steps],
        *others,
    )
    keys = [key_of(each.observation, violation) for each in played.result for violation in each.violations]
    assert set(entry.fingerprints) & {key.fingerprint for key in keys}, (
        played.told() or "it no longer happens"
    )
    assert {known_deviation(key, history=history) for key in keys} | ALWAYS_KNOWN == {
        entry.name
    } | ALWAYS_KNOWN, played.told()


@pytest.mark.parametrize("name", ABORTS)
def test_what_ends_the_process_still_ends_one(name: str):
    path = Path(__file__).parents[2] / "tools" / "deviations" / f"{name.replace('-', '_')}.py"
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("fault", "cut"),
    (
        (DeadTableAt("stream-plan", "before"), True),
        (DeadTableAt("stream-plan-staging", "after"), True),
        (DeadTableAt("side", "before", 4), True),  # Hadoop's checksum of the plan's temporary file
        (DeadTableAt("side", "before", 3), False),
        (DeadTableAt("stream-done", "before"), False),
    ),
)
def test_a_stream_is_cut_while_it_plans_at_its_plan_and_at_the_checksum_of_that(
    fault: DeadTableAt, cut: bool
):
    history = History("crashes", "dev", 0, 1, (Step(fault),))
    assert ("stream-plan-cut" in triggers_of(history)) is cut


def test_every_trigger_is_one_of_an_entry():
    assert {deviation.trigger for deviation in all_deviations()} - {None} == set(TRIGGERS)


def write(folder: Path, text: str = ENTRY, name: str = "one") -> Path:
    (folder / f"{name}.toml").write_text(text)
    (folder / f"{name}.history.json").write_text(json.dumps({"format": 1}))
    return folder


class TestLoading:
    def test_an_entry_is_read(self, tmp_path):
        (entry,) = load_deviations(write(tmp_path))
        assert (entry.name, entry.engine, entry.fingerprints) == ("one", "delta-rs", ("9f3c21aa",))
        assert entry.expires == date(2027, 6, 30)

    @pytest.mark.parametrize(
        ("old", "new", "why"),
        (
            ('requirement = "read.filter"', "", "requirement is missing"),
            ('cause = "It does so."', 'cause = " "', "cause is missing"),
            ('["9f3c21aa"]', '["9f3c*"]', "no fingerprint"),
            ('["9f3c21aa"]', "[]", "fingerprints is missing"),
            ('["9f3c21aa"]', '["9f3c21aa", "9f3c21aa"]', "twice"),
            ("2027-06-30", '"soon"', "expires is missing or no date"),
            ('"not reported"', '"#7"', "issue is a link"),
            (">=1.6.0,<1.7", "1.6", "bounds such as"),
            ("issue =", "colour = 1\nissue =", "unknown keys colour"),
            ("issue =", "trigger = 3\nissue =", "trigger is no text"),
            ("requirement =", "requirement", "one.toml"),
        ),
    )
    def test_a_malformed_entry_is_named_with_the_reason(self, tmp_path, old: str, new: str, why: str):
        write(tmp_path, ENTRY.replace(old, new))
        with pytest.raises(BadDeviation, match=why):
            load_deviations(tmp_path)

    @pytest.mark.parametrize(
        ("old", "new", "why"),
        (
            ('outcomes = ["answered"]', "", "a form without outcomes"),
            ("other_types", "more_types", "unknown keys more_types"),
            ('["where", "columns"]', '"where"', "options are a list"),
        ),
    )
    def test_a_malformed_form_is_named_with_the_reason(self, tmp_path, old: str, new: str, why: str):
        write(tmp_path, ENTRY + FORM.replace(old, new))
        with pytest.raises(BadDeviation, match=why):
            load_deviations(tmp_path)

    def test_an_entry_without_its_history_is_refused(self, tmp_path):
        write(tmp_path)
        (tmp_path / "one.history.json").unlink()
        with pytest.raises(BadDeviation, match=r"one\.history\.json"):
            load_deviations(tmp_path)

    def test_a_fingerprint_stands_in_one_entry_of_a_trigger_only(self, tmp_path):
        write(write(tmp_path), name="two")
        with pytest.raises(BadDeviation, match="stands in one as well"):
            load_deviations(tmp_path)
        write(tmp_path, ENTRY + 'trigger = "nan"', name="two")
        assert {load_deviation.name for load_deviation in load_deviations(tmp_path)} == {"one", "two"}


def test_an_entry_that_is_met_after_faults_says_in_which_files_they_strike():
    struck = [
        (deviation.name, operation, options)
        for deviation in all_deviations()
        for form in deviation.forms
        for operation, options in form.operations.items()
        if any(option.startswith("fault=") for option in options)
    ]
    assert struck
    for name, operation, options in struck:
        assert any(option.startswith("role=") for option in options), (name, operation)


class TestKnowing:
    @pytest.fixture(autouse=True)
    def only_these(self, tmp_path, monkeypatch):
        found = load_deviations(write(tmp_path, ENTRY + FORM))
        monkeypatch.setattr(entries, "all_deviations", lambda: found)

    def test_a_fingerprint_is_known_for_its_engine_and_versions_only(self):
        day = date(2026, 12, 1)
        assert known("9f3c21aa", "delta-rs", "1.6.6", day)
        assert known("9f3c21aa", "delta-rs", None, day)
        assert known("9f3c21aa", "delta-rs", "1.7.0", day) is None
        assert known("9f3c21aa", "delta-rs", "1.5.9", day) is None
        assert known("9f3c21aa", "delta-spark", "1.6.6", day) is None
        assert known("00000000", "delta-rs", "1.6.6", day) is None

    def test_an_expired_entry_knows_nothing(self):
        assert known("9f3c21aa", "delta-rs", "1.6.6", date(2027, 6, 30)) is None

    def test_an_entry_with_a_trigger_covers_only_histories_in_which_it_occurred(self, tmp_path, monkeypatch):
        found = load_deviations(write(tmp_path, ENTRY + 'trigger = "nan"' + FORM))
        monkeypatch.setattr(entries, "all_deviations", lambda: found)
        day = date(2026, 12, 1)
        assert known("9f3c21aa", "delta-rs", "1.6.6", day, triggers={"nan", "long-decimal"})
        assert known("9f3c21aa", "delta-rs", "1.6.6", day, triggers={"long-decimal"}) is None
        assert known("00000000", "delta-rs", "1.6.6", day, KEY, {"nan"})
        assert known("00000000", "delta-rs", "1.6.6", day, KEY, ()) is None
        assert known("9f3c21aa", "delta-rs", "1.6.6", day), "where the history is not at hand"

    @pytest.mark.parametrize(
        ("part", "other"),
        (
            ("requirement", "read.latest"), ("operation", "Delete"), ("options", ["version"]), ("features", ["2/5"]),
            ("types", ["long"]), ("types", ["string partition", "date"]), ("outcome", "refused"),
        ),
    )  # fmt: skip
    def test_a_form_is_a_finite_set_of_keys(self, part: str, other: object):
        day = date(2026, 12, 1)
        assert known("00000000", "delta-rs", "1.6.6", day, KEY)
        assert known("00000000", "delta-rs", "1.6.6", day, {**KEY, part: other}) is None
