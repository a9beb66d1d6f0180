"""The files of causes: what is read, and what a malformed one is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from delta_adapters.deviations import BadCause, Names, Prediction, all_causes, cause_named, load_causes

CAUSE = """
engine = "delta-rs"
summary = "It does so."
requirement = "read.filter"
trigger = "nan"
issue = "not reported"
cause = "It does so, since."

[[predictions]]
requirements = ["read.filter", "read.latest"]
difference = "rows-left-out"

[[predictions]]
requirements = ["stats.max-values"]
"""
NAMES = Names({"read.filter", "read.latest", "stats.max-values"}, {"rows-left-out"})


def write(folder: Path, text: str = CAUSE, name: str = "one") -> Path:
    (folder / f"{name}.toml").write_text(text)
    (folder / f"{name}.history.json").write_text(json.dumps({"format": 1}))
    return folder


def test_a_cause_is_read(tmp_path):
    (cause,) = load_causes(write(tmp_path), NAMES)
    assert (cause.id, cause.engine, cause.trigger, cause.unsteady) == ("one", "delta-rs", "nan", False)
    assert cause.predictions == (
        Prediction(("read.filter", "read.latest"), "rows-left-out"),
        Prediction(("stats.max-values",)),
    )
    assert cause.requirements == ("read.filter", "read.latest", "stats.max-values")
    assert cause.history == {"format": 1}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    (
        ('requirement = "read.filter"', "", "requirement is missing"),
        ('cause = "It does so, since."', 'cause = " "', "cause is missing"),
        ('issue = "not reported"', 'issue = "#7"', "issue is '#7'; a link"),
        ("issue =", "colour = 1\nissue =", "unknown key 'colour'"),
        ("summary =", "sumary =", "unknown key 'sumary'; did you mean 'summary'?"),
        ("issue =", 'versions = "1"\nissue =', "unknown key 'versions'"),
        ('trigger = "nan"', 'trigger = "nann"', "unknown trigger 'nann'; did you mean 'nan'?"),
        ('trigger = "nan"', "trigger = 3", "unknown trigger 3; there are: "),
        ('trigger = "nan"', 'shown_in = "now"', "shown_in is 'now'; a version such as 1.5.0"),
        ('trigger = "nan"', 'unsteady = "yes"', "unsteady is 'yes'; true or false"),
        ('"stats.max-values"', '"stats.max-value"', "unknown requirement 'stats.max-value'; did you mean"),
        ('"stats.max-values"', '"max values"', "'max values' is no requirement"),
        ('"rows-left-out"', '"row-left-out"', "unknown difference 'row-left-out'; did you mean"),
        ('difference = "rows-left-out"', "difference = 3", "difference is 3"),
        ("difference =", "differences =", "unknown key of a prediction 'differences'; did you mean"),
        ('requirements = ["stats.max-values"]', "requirements = []", "a prediction without requirements"),
        ('["read.filter", "read.latest"]', '["read.latest"]', "no prediction names read.filter"),
        ("[[predictions]]", "[[prediction]]", "unknown key 'prediction'; did you mean 'predictions'?"),
        ("requirement =", "requirement", "one.toml"),
    ),
)
def test_a_malformed_cause_is_named_with_the_fault_and_what_was_meant(tmp_path, old: str, new: str, why: str):
    assert old in CAUSE
    write(tmp_path, CAUSE.replace(old, new))
    with pytest.raises(BadCause) as error:
        load_causes(tmp_path, NAMES)
    assert "one.toml" in str(error.value)
    assert why in str(error.value)


def test_a_cause_names_the_build_that_shows_it(tmp_path):
    (cause,) = load_causes(write(tmp_path), NAMES)
    assert cause.spec == "delta-rs"
    write(tmp_path, CAUSE.replace('trigger = "nan"', 'shown_in = "1.5.0"'))
    (cause,) = load_causes(tmp_path, NAMES)
    assert cause.spec == "delta-rs@1.5.0"


def test_a_cause_without_predictions_is_refused(tmp_path):
    write(tmp_path, CAUSE.partition("[[")[0])
    with pytest.raises(BadCause, match="predictions are missing"):
        load_causes(tmp_path, NAMES)


@pytest.mark.parametrize(("text", "why"), (("", "Expecting value"), ("[]", "an object is expected")))
def test_a_cause_with_a_broken_history_is_refused(tmp_path, text: str, why: str):
    (write(tmp_path) / "one.history.json").write_text(text)
    with pytest.raises(BadCause, match=rf"one\.history\.json: {why}"):
        load_causes(tmp_path)


def test_a_cause_without_its_history_is_refused(tmp_path):
    (write(tmp_path) / "one.history.json").unlink()
    with pytest.raises(BadCause, match=r"one\.history\.json: not there"):
        load_causes(tmp_path)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadCause, match="no such folder"):
        load_causes(tmp_path / "nowhere")


def test_causes_of_a_user_are_added_to_those_of_the_project(tmp_path):
    both = all_causes(write(tmp_path))
    assert both[:-1] == all_causes()
    assert both[-1].id == "one"
    assert cause_named("one") is None
    assert cause_named("one", tmp_path) is both[-1]


def test_a_cause_of_a_user_has_a_name_of_its_own(tmp_path):
    write(tmp_path, name="delta-rs-no-checksums")
    with pytest.raises(BadCause, match=r"delta-rs-no-checksums\.toml: a cause of this name comes with"):
        all_causes(tmp_path)
