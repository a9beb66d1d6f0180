"""`conformance needs` says what a machine must have before a run."""

from __future__ import annotations

import json

import pytest

from conformance.cli import main


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def needs(capsys, *words: str) -> tuple[list[str], bool]:
    assert main(["needs", *words, "--format", "json"]) == 0
    form = json.loads(capsys.readouterr().out)
    return form["extras"], form["java"]


@pytest.mark.parametrize(
    ("words", "extras", "java"),
    (
        (("--engine", "delta-rs"), ["delta-rs"], False),
        (("--engine", "pyspark"), ["pyspark"], True),
        (("--engine", "delta-spark", "--engine", "delta-rs"), ["delta-rs", "delta-spark"], True),
        (("--engine", "reference"), [], False),
        (("--engine", "mine=./my-host --fast"), [], False),
        (("--engine", "json:JSONDecoder"), [], False),
        (("--engine", "delta-rs@0.25.0"), [], False),  # an environment of its own
        ((), ["delta-rs", "delta-spark"], True),
    ),
)
def test_of_an_engine(capsys, words, extras, java):
    assert needs(capsys, *words) == (extras, java)


def test_the_engines_of_the_project_count_where_none_is_named(capsys, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.conformance]\nengines = ["pyspark"]\nprofile = "gate"\n')
    assert needs(capsys) == (["pyspark"], True)


def test_as_the_outputs_of_a_step(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    assert main(["needs", "--engine", "delta-spark", "--engine", "delta-rs", "--format", "github"]) == 0
    assert (tmp_path / "outputs").read_text() == "extras=delta-rs,delta-spark\njava=true\n"
    assert "delta-conformance[delta-rs,delta-spark]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    (
        (("--engine", "detla-rs"), "no engine is called 'detla-rs'"),
        (("--engine", "delta-rs", "--profile", "gate", "--part", "kore"), "no part 'kore'"),
        (("--profile", "gaet"), "unknown profile 'gaet'"),
    ),
)
def test_what_does_not_exist_is_named(capsys, words, says):
    assert main(["needs", *words]) == 2
    assert says in capsys.readouterr().err
