"""Entries of known deviations: which are malformed, and which findings they cover."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from delta_adapters.deviations import (
    BadDeviation,
    covering_deviation,
    entries,
    load_deviations,
)

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


class TestCovering:
    @pytest.fixture(autouse=True)
    def only_these(self, tmp_path, monkeypatch):
        loaded = load_deviations(write(tmp_path, ENTRY + FORM))
        monkeypatch.setattr(entries, "all_deviations", lambda: loaded)

    def test_a_fingerprint_is_known_for_its_engine_and_versions_only(self):
        day = date(2026, 12, 1)
        assert covering_deviation("9f3c21aa", "delta-rs", "1.6.6", day)
        assert covering_deviation("9f3c21aa", "delta-rs", None, day)
        assert covering_deviation("9f3c21aa", "delta-rs", "1.7.0", day) is None
        assert covering_deviation("9f3c21aa", "delta-rs", "1.5.9", day) is None
        assert covering_deviation("9f3c21aa", "delta-spark", "1.6.6", day) is None
        assert covering_deviation("00000000", "delta-rs", "1.6.6", day) is None

    def test_an_expired_entry_knows_nothing(self):
        assert covering_deviation("9f3c21aa", "delta-rs", "1.6.6", date(2027, 6, 30)) is None

    def test_an_entry_with_a_trigger_covers_only_histories_in_which_it_occurred(self, tmp_path, monkeypatch):
        loaded = load_deviations(write(tmp_path, ENTRY + 'trigger = "nan"' + FORM))
        monkeypatch.setattr(entries, "all_deviations", lambda: loaded)
        day = date(2026, 12, 1)
        assert covering_deviation("9f3c21aa", "delta-rs", "1.6.6", day, triggers={"nan", "long-decimal"})
        assert covering_deviation("9f3c21aa", "delta-rs", "1.6.6", day, triggers={"long-decimal"}) is None
        assert covering_deviation("00000000", "delta-rs", "1.6.6", day, KEY, {"nan"})
        assert covering_deviation("00000000", "delta-rs", "1.6.6", day, KEY, ()) is None
        assert covering_deviation("9f3c21aa", "delta-rs", "1.6.6", day), "where the history is not at hand"

    @pytest.mark.parametrize(
        ("part", "other"),
        (
            ("requirement", "read.latest"), ("operation", "Delete"), ("options", ["version"]), ("features", ["2/5"]),
            ("types", ["long"]), ("types", ["string partition", "date"]), ("outcome", "refused"),
        ),
    )  # fmt: skip
    def test_a_form_is_a_finite_set_of_keys(self, part: str, other: object):
        day = date(2026, 12, 1)
        assert covering_deviation("00000000", "delta-rs", "1.6.6", day, KEY)
        assert covering_deviation("00000000", "delta-rs", "1.6.6", day, {**KEY, part: other}) is None
