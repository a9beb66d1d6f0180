"""`conformance shrink` exits with 0 once a finding is shrunk, with 3 if it can't be; what it reached is kept."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.engine_pool import EnginePool
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.findings.storage import load_finding
from conformance.histories import Chunk
from conformance.suites.context import SuiteContext
from conformance.suites.generated import GeneratedHistories
from delta_adapters.registry import parse_engine
from tests.command_runs import ENGINES


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finding about an engine that says it appended, in a folder beside a copy of the engines."""
    folder = tmp_path_factory.mktemp("finding")
    shutil.copy(ENGINES, folder / "engines.py")
    spec = parse_engine(f"{folder / 'engines.py'}:Lies")
    with EnginePool([spec], folder / "hosts", lambda _: None) as hosts:
        arena = InstrumentedEngines({}, folder, lambda _: None)
        context = SuiteContext(hosts, FindingRecorder(folder), lambda _: None, lambda: False, arena)
        GeneratedHistories(context, Chunk("lockstep", "dev", 0, 6, 1, 12), folder / "work").play_all()
    (kept,) = (folder / "sightings").iterdir()
    return kept


@pytest.fixture
def finding(recorded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(recorded, tmp_path / recorded.name)


def test_a_finding_is_shrunk_and_its_folder_holds_both_histories(finding, capsys):
    before = (finding / "history.json").read_text()
    steps = len(load_finding(finding).history.steps)
    assert main(["shrink", str(finding)]) == 0
    told = capsys.readouterr().out
    assert f"{finding.name} (lies@1.0, outcome.commits): {steps} steps -> 2 steps, " in told
    assert told.splitlines()[0].endswith(f" s: {finding}/minimal.json")
    assert "Nothing smaller fails in this way." in told
    assert (finding / "history.json").read_text() == before
    kept = load_finding(finding)
    assert kept.minimal is not None
    assert [type(step.operation).__name__ for step in kept.minimal.steps] == ["Create", "Append"]
    assert (kept.minimal_step, kept.reproduced) == (1, True)
    assert kept.requirements[0] == "outcome.commits"
    assert kept.minimal_detail == "Append (committed) adds 1 versions, but added 0"

    assert main(["shrink", str(finding)]) == 0, "a second time there is nothing to do"
    assert "2 steps" in capsys.readouterr().out


def test_a_finding_that_is_fixed_ends_with_3_and_says_so(finding, tmp_path, capsys):
    mended = tmp_path / "engines.py"
    mended.write_text(f"{ENGINES.read_text()}\n\nclass Lies(Honest):\n    pass\n")
    form = json.loads((finding / "finding.json").read_text())
    form["versions"]["lies@1.0"] = f"{mended}:Lies"
    (finding / "finding.json").write_text(json.dumps(form))
    assert main(["shrink", str(finding)]) == 3
    assert "was not shrunk: it does not show again, its " in capsys.readouterr().out
    assert not (finding / "minimal.json").exists()


def test_an_engine_that_is_gone_ends_with_3_and_the_other_findings_are_shrunk(finding, tmp_path, capsys):
    gone = shutil.copytree(finding, tmp_path / "gone")
    form = json.loads((gone / "finding.json").read_text())
    form["versions"]["lies@1.0"] = f"{tmp_path}/nowhere.py:Lies"
    (gone / "finding.json").write_text(json.dumps(form))
    assert main(["shrink", str(gone), str(finding)]) == 3
    told = capsys.readouterr().out
    assert f"{gone} could not be shrunk: " in told
    assert "there is no file" in told
    assert (finding / "minimal.json").exists()


@pytest.mark.parametrize(
    "words",
    (["{tmp}/none"], ["{tmp}", "--budget", "soon"], ["{tmp}", "--deviations", "{tmp}/none"], []),
    ids=("none", "budget", "deviations", "empty"),
)
def test_bad_arguments_end_with_2_and_one_message(tmp_path, capsys, words):
    assert main(["shrink", *(word.format(tmp=tmp_path) for word in words)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "Traceback" not in told.err


def test_a_budget_that_is_over_keeps_what_was_reached_and_the_next_call_goes_on(finding, capsys):
    assert main(["shrink", str(finding), "--budget", "0.01s"]) == 0
    assert (
        "Its time is over before all was tried. The same command goes on from here."
        in capsys.readouterr().out
    )
    assert load_finding(finding).minimal is not None
    assert main(["shrink", str(finding)]) == 0
    assert "-> 2 steps" in capsys.readouterr().out


def is_smaller(finding: Path) -> bool:
    """Whether a shrinker that is at work has found something smaller."""
    state, whole = finding / "shrink.json", json.loads((finding / "history.json").read_text())
    return state.exists() and len(json.loads(state.read_text())["history"]["steps"]) < len(whole["steps"])


def test_an_interrupt_keeps_what_was_reached_and_the_next_call_goes_on(finding, capsys):
    command = [sys.executable, "-m", "conformance", "shrink", str(finding)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as shrinking:
        deadline = time.monotonic() + 60
        while not is_smaller(finding) and time.monotonic() < deadline:
            time.sleep(0.002)
        shrinking.send_signal(signal.SIGINT)
        told, _ = shrinking.communicate(timeout=60)
    reached = load_finding(finding)
    assert reached.minimal is not None, told
    assert shrinking.returncode in {130, 0}, told
    assert len(reached.minimal.steps) < len(reached.history.steps)
    assert main(["shrink", str(finding)]) == 0
    assert "-> 2 steps" in capsys.readouterr().out
