"""Causes of a user's own: checked before a run, and told if their minimal histories fail no more."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conformance.cli import doctor
from conformance.cli.errors import UsageError
from conformance.findings.catalogue import catalogue
from delta_adapters.deviations import BadCause, all_causes
from delta_adapters.deviations.causes import FOLDER

NAN = "delta-rs-nan-left-out-of-bounds"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with a copy of a cause under a name of its own."""
    folder = tmp_path / "own"
    folder.mkdir()
    for ending in (".toml", ".history.json"):
        shutil.copyfile(FOLDER / f"{NAN}{ending}", folder / f"ours{ending}")
    return folder


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "ours.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def cut(folder: Path, steps: int) -> None:
    path = folder / "ours.history.json"
    form = json.loads(path.read_text())
    path.write_text(json.dumps({**form, "steps": form["steps"][:steps]}))


def test_causes_of_a_user_come_after_those_of_the_project(own: Path):
    assert [cause.id for cause in catalogue(own)] == [*(cause.id for cause in all_causes()), "ours"]
    assert catalogue() == all_causes()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    (
        ('trigger = "nan"', 'trigger = "nann"', "unknown trigger 'nann'; did you mean 'nan'?"),
        (
            '"read.filter"',
            '"read.filters"',
            "unknown requirement 'read.filters'; did you mean 'read.filter'?",
        ),
        ("nan-read-as-the-bound", "nan-read-as-bound", "did you mean 'nan-read-as-the-bound'?"),
    ),
)
def test_a_name_that_there_is_not_is_told_with_the_closest_one(own: Path, old: str, new: str, why: str):
    edit(own, old, new)
    with pytest.raises(BadCause) as error:
        catalogue(own)
    assert str(error.value).startswith(f"{own}/ours.toml: ")
    assert why in str(error.value)


def test_a_history_that_does_not_set_the_cause_off_is_told(own: Path):
    cut(own, 1)
    with pytest.raises(
        BadCause, match=r"ours\.history\.json: none of its 1 steps sets off nan, the trigger of ours"
    ):
        catalogue(own)


def test_a_history_of_another_format_is_told(own: Path):
    (own / "ours.history.json").write_text('{"format": 99}')
    with pytest.raises(BadCause, match=r"ours\.history\.json: .*99"):
        catalogue(own)


def test_a_run_ends_with_2_and_the_reason_before_anything_is_played(own: Path, talk):
    edit(own, 'trigger = "nan"', 'trigger = "nann"')
    answer = talk.ask("run", "--deviations", str(own), "--engine", "reference")
    assert answer.exit == 2
    assert "unknown trigger 'nann'; did you mean 'nan'?" in answer.err


def test_the_doctor_says_which_cause_is_live_and_which_fails_no_more(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (live,) = doctor.causes_examined(own, known=False)
    assert (live.state, live.seen) == (doctor.OK, "is live in delta-rs")
    cut(own, 2)  # without the read
    own.rename(tmp_path / "other")
    (dead,) = doctor.causes_examined(tmp_path / "other", known=False)
    assert dead.state == doctor.NOTE
    assert dead.seen.startswith("fails no more: on delta-rs read.filter is not violated as predicted, ")
    assert "Remove it, or keep it for the versions in which it is live." in dead.cure


def test_the_doctor_refuses_what_is_no_cause(own: Path):
    edit(own, "summary =", "sumary =")
    with pytest.raises(UsageError, match="did you mean 'summary'"):
        doctor.causes_examined(own, known=False)
