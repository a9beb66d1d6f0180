"""`conformance diff` over real runs of an honest engine and of a mutant of the same name, and over what is no run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conformance.cli import main

HONEST = "reference"
MUTANT = """
from pathlib import Path
from delta_adapters.contract import Answer
from delta_adapters.reference import Reference
from delta_adapters.smoke import TABLE

class LosesARow(Reference):
    def open(self, location):
        self.tested = Path(location).name == TABLE  # a mutant that fails the smoke test would not be played
        super().open(location)

    def read(self, read):
        answer = super().read(read)
        loses = isinstance(answer, Answer) and not self.tested
        return Answer(answer.table.slice(1), answer.version) if loses else answer
"""


def play(engine: str, seed: int, out: Path, exit_code: int) -> Path:
    """The folder of a small run."""
    words = ["run", "--engine", engine, "--profile", "dev", "--suite", "lockstep", "--jobs", "1"]
    small = ["--examples", "80", "--steps", "6", "--seed", str(seed), "--format", "plain"]
    assert main([*words, *small, "--out", str(out)]) == exit_code
    return (out / "latest").resolve()


@pytest.fixture(scope="module")
def mutant(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An engine of the honest one's name and version, with a fault."""
    file = tmp_path_factory.mktemp("mutant") / "mutant.py"
    file.write_text(MUTANT)
    return f"{file}:LosesARow"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, mutant: str) -> dict[str, Path]:
    """Two small runs: of the honest engine and of the mutant."""
    return {
        "honest": play(HONEST, 1, tmp_path_factory.mktemp("runs"), 0),
        "mutant": play(mutant, 2, tmp_path_factory.mktemp("runs"), 1),
    }


@pytest.fixture
def again(tmp_path_factory: pytest.TempPathFactory, mutant: str, capsys: pytest.CaptureFixture[str]) -> Path:
    """A run of the mutant with another seed."""
    folder = play(mutant, 3, tmp_path_factory.mktemp("runs"), 1)
    capsys.readouterr()
    return folder


@pytest.mark.slow
def test_one_build_is_known_by_its_content_and_has_not_regressed_with_another_seed(talk, runs, again):
    builds = {
        name: json.loads((folder / "summary.json").read_text())["engines"][0]["build"]
        for name, folder in {**runs, "again": again}.items()
    }
    assert builds["honest"] != builds["mutant"] == builds["again"]
    assert all(builds.values())
    answer = talk.ask("diff", runs["mutant"], again)
    assert answer.exit == 0
    assert "(must)" in answer.out


def test_a_fault_that_only_new_has_is_regressed_with_its_history_and_its_replay(talk, runs):
    answer = talk.ask("diff", runs["honest"], runs["mutant"])
    assert answer.exit == 1
    assert answer.out.startswith("REGRESSED: ")
    assert "read.latest (must)" in answer.out
    assert "      0. Create (" in answer.out
    command = next(line.split() for line in answer.out.splitlines() if "conformance replay " in line)
    assert main(command[1:]) == 1, "the replay shows it again"


def test_a_fault_that_only_old_has_is_fixed(talk, runs):
    answer = talk.ask("diff", runs["mutant"], runs["honest"], "--format", "json")
    assert answer.exit == 0
    document = json.loads(answer.out)
    changes = {finding["change"] for finding in document["engines"][0]["findings"]}
    assert "fixed" in changes <= {"fixed", "not seen again"}


def test_a_fault_that_both_have_still_fails(talk, runs):
    answer = talk.ask("diff", runs["mutant"], runs["mutant"] / "summary.json", "--format", "markdown")
    assert answer.exit == 0
    assert "still failing" in answer.out
    assert "regressed" not in answer.out.lower().replace("nothing regressed", "")


def test_what_can_not_be_compared_is_one_message(talk, runs):
    folder = talk.folder / "damaged"
    shutil.copytree(runs["honest"], folder)
    document = json.loads((folder / "summary.json").read_text())
    for other in (
        {**document, "format": 2},
        {**document, "incomplete": ["the run is incomplete: its footer is missing"]},
        {**document, "claims": []},
        {**document, "claims": [{"requirement": "read.latest"}]},
        {**document, "engines": [{**document["engines"][0], "name": "other"}]},
        {**document, "suites": [{**document["suites"][0], "name": "races"}]},
    ):
        (folder / "summary.json").write_text(json.dumps(other))
        answer = talk.ask("diff", runs["honest"], "damaged")
        assert (answer.exit, answer.out) == (2, "")
        assert answer.err.startswith("conformance: ")
        assert "Traceback" not in answer.err
    (folder / "summary.json").write_text(json.dumps(document)[:-40])
    assert "no JSON" in talk.ask("diff", runs["honest"], "damaged").err
    (folder / "summary.json").unlink()
    assert "no such file" in talk.ask("diff", runs["honest"], "damaged").err
    assert "--format" in talk.ask("diff", "damaged", "damaged", "--format", "html").err


def test_a_folder_regressions_is_played_first_wherever_a_run_starts(talk, runs):
    findings = sorted((runs["mutant"] / "findings").iterdir())
    shutil.copytree(findings[0], talk.folder / "regressions" / findings[0].name)
    words = [
        "run",
        "--engine",
        HONEST,
        "--profile",
        "dev",
        "--suite",
        "lockstep",
        "--jobs",
        "1",
        "--seed",
        "1",
    ]
    small = ["--examples", "1", "--steps", "1", "--format", "plain", "--out", "out"]
    assert talk.ask(*words, *small).exit == 3
    lines = (talk.folder / "out" / "latest" / "events.jsonl").read_text().splitlines()
    started = [event["suite"] for event in map(json.loads, lines) if event["event"] == "ChunkStarted"]
    assert started == ["regressions", "lockstep"]
    kept = next(
        suite for suite in json.loads((talk.folder / "out/latest/summary.json").read_text())["suites"]
    )
    assert (kept["name"], kept["complete"]) == ("regressions", True)


def test_a_malformed_kept_history_is_one_message_before_anything_starts(talk):
    (talk.folder / "regressions").mkdir()
    (talk.folder / "regressions" / "a.json").write_text("{")
    answer = talk.ask("run", "--engine", HONEST, "--out", "out")
    assert answer.exit == 2
    assert answer.err.startswith("conformance: regressions/a.json: no JSON")
    assert not (talk.folder / "out").exists()
    assert "nowhere: no such folder" in talk.ask("run", "--regressions", "nowhere").err
