"""A project's own defaults stand in its pyproject.toml; a mistake in them is said before anything is played."""

from __future__ import annotations

import pytest

from conformance.cli import main
from conformance.planning.own_settings import OwnSettings, own_settings
from conformance.planning.profile import PlanError


def write(folder, text):
    (folder / "pyproject.toml").write_text(f"[tool.conformance]\n{text}\n")
    return folder


def test_paths_are_relative_to_the_file_wherever_one_stands_in_the_project(tmp_path):
    write(
        tmp_path, 'engines = ["mine"]\nprofile = "own.toml"\nbaseline = "known.json"\ndeviations = "causes"'
    )
    (tmp_path / "deep" / "down").mkdir(parents=True)
    assert own_settings(tmp_path / "deep" / "down") == OwnSettings(
        ("mine",), str(tmp_path / "own.toml"), tmp_path / "known.json", tmp_path / "causes"
    )


def test_a_project_without_the_table_wants_nothing(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert own_settings(tmp_path) == OwnSettings()


@pytest.mark.parametrize(
    ("text", "words"),
    (
        ("engine = ['mine']", "has unknown engine; it may have baseline, deviations, engines, profile"),
        ("engines = 'mine'", "a list of texts was expected"),
        ("baseline = 3", "baseline is 3; a text was expected"),
        ("profile = 'weekly'", "no profile 'weekly'; there are dev, ci"),
        ("profile = ", "can't be read"),
    ),
)
def test_a_wrong_table_is_refused(tmp_path, text, words):
    with pytest.raises(PlanError, match=words):
        own_settings(write(tmp_path, text))


def test_a_run_takes_what_it_says_and_the_command_line_comes_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(write(tmp_path, 'engines = ["nobody"]\nprofile = "none.toml"'))
    assert main(["run"]) == 2
    assert "no engine is called 'nobody'" in capsys.readouterr().err
    assert main(["run", "--engine", "reference"]) == 2
    assert "none.toml can't be read" in capsys.readouterr().err


def test_a_run_with_a_wrong_table_ends_with_2(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(write(tmp_path, "engine = 'mine'"))
    assert main(["run"]) == 2
    assert "[tool.conformance] has unknown engine" in capsys.readouterr().err
