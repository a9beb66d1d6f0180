"""`conformance new-adapter` makes a package that works at once, outside of this repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.cli.new_adapter import CAUSES, PLACES
from conformance.findings.catalogue import catalogue
from conformance.reporting import summary_json
from delta_adapters.capabilities import Capabilities


@pytest.fixture
def made(tmp_path, monkeypatch, capsys):
    """A package, made where a user stands, and what the command said."""
    monkeypatch.chdir(tmp_path)
    assert main(["new-adapter", "four-ops"]) == 0
    return tmp_path / "four-ops", capsys.readouterr().out


def in_package(package: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the package, which can be imported as if pip had installed it, with its entry point."""
    installed = package.parent / "installed"
    info = installed / "four_ops_conformance-0.1.0.dist-info"
    if not info.exists():
        info.mkdir(parents=True)
        form = tomllib.loads((package / "pyproject.toml").read_text())["project"]
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {form['name']}\nVersion: {form['version']}\n"
        )
        points = form["entry-points"]
        lines = [
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in of.items())
            for group, of in points.items()
        ]
        (info / "entry_points.txt").write_text("".join(lines))
        (installed / "four_ops_conformance").symlink_to(package / "src" / "four_ops_conformance")
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=package,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_says_what_it_made_and_what_to_type_next(made):
    package, said = made
    assert "cd four-ops\n" in said
    assert "conformance run\n" in said
    files = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    assert files == {
        "src/four_ops_conformance/__init__.py",
        *(place.replace("@MODULE@", "four_ops_conformance") for place in PLACES.values()),
        *(f"causes/four-ops-{cause}.{form}" for cause in CAUSES for form in ("toml", "history.json")),
    }
    assert {cause.engine for cause in catalogue(package / "causes")} >= {"four-ops"}
    assert not [path for path in package.rglob("*") if path.is_file() and "@NAME@" in path.read_text()]


def test_its_claims_are_four_operations_and_its_baseline_one_that_a_run_takes(made):
    package, _ = made
    document = json.loads((package / "src/four_ops_conformance/capabilities.json").read_text())
    claims = Capabilities.validated(document)
    assert set(claims.operations) == {"Create", "Append", "Overwrite", "Read"}
    assert summary_json.baseline(package / "conformance-baseline.json") == frozenset()


def test_its_own_tests_pass(made):
    package, _ = made
    done = in_package(package, "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_a_run_without_options_tests_it_and_finds_nothing(made):
    package, _ = made
    done = in_package(
        package, "conformance", "run", "--format", "plain", "--profile", "dev", "--suite", "lockstep",
        "--examples", "2", "--steps", "8",
    )  # fmt: skip
    summary = json.loads((package / "conformance-results/latest/summary.json").read_text())
    assert [engine["name"] for engine in summary["engines"]] == ["four-ops"], done.stdout + done.stderr
    assert done.returncode == 3  # too little to say that it holds; a violation would be 1
    assert sum(suite["steps"] for suite in summary["suites"]) == 16


@pytest.mark.slow
@pytest.mark.timeout(1200)  # four minutes on a machine with nothing else to do
def test_a_default_run_of_it_ends_with_0(made):
    package, _ = made
    done = in_package(package, "conformance", "run", "--format", "plain")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    (
        ("Four Ops", "'Four Ops' is no name for an engine"),
        ("../four", "is no name for an engine"),
        ("delta-rs", "delta-rs is an engine that the project knows"),
    ),
)
def test_a_name_that_is_none_makes_nothing(tmp_path, monkeypatch, capsys, name, words):
    monkeypatch.chdir(tmp_path)
    assert main(["new-adapter", name]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_left_as_it_is(made, capsys):
    package, _ = made
    (package / "README.md").write_text("mine")
    assert main(["new-adapter", "four-ops"]) == 2
    assert "there is four-ops already" in capsys.readouterr().err
    assert (package / "README.md").read_text() == "mine"
