"""`conformance replay` exits with 1 while a finding fails, 0 when it is fixed, 3 when it can't be replayed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.engine_pool import EnginePool
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.suites.context import SuiteContext
from conformance.suites.generated import GeneratedHistories
from delta_adapters.registry import parse_engine
from tests.command_runs import ENGINES


@pytest.fixture(scope="module")
def finding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finding about an engine that says it appended, kept in a folder of its own beside a copy of the engines."""
    folder = tmp_path_factory.mktemp("finding")
    shutil.copy(ENGINES, folder / "engines.py")
    with EnginePool(
        [parse_engine(f"{folder / 'engines.py'}:Lies")], folder / "hosts", lambda _: None
    ) as hosts:
        context = SuiteContext(
            hosts,
            FindingRecorder(folder),
            lambda _: None,
            lambda: False,
            InstrumentedEngines({}, folder, lambda _: None),
        )
        GeneratedHistories(context, Chunk("lockstep", "dev", 0, 6, 1, 12), folder / "work").play_all()
    kept = list((folder / "sightings").iterdir())
    assert len(kept) == 1
    return kept[0]


def engines_of(finding: Path) -> Path:
    return finding.parent.parent / "engines.py"


def test_a_finding_that_still_fails_ends_with_1_and_says_how(finding, capsys):
    assert main(["replay", str(finding)]) == 1
    message = capsys.readouterr().out
    assert f"{finding.name} (lies@1.0, outcome.commits) still fails" in message


def test_a_fixed_finding_ends_with_0(finding, tmp_path, capsys):
    text = engines_of(finding).read_text()
    engines_of(finding).write_text(
        text.replace("Lies(Honest)", "Lied(Honest)").replace("(Lies)", "(Lied)") + MENDED
    )
    try:
        assert main(["replay", str(finding)]) == 0
    finally:
        engines_of(finding).write_text(text)
    assert "is fixed" in capsys.readouterr().out


MENDED = '''

class Lies(Honest):
    """Has been mended."""
'''


def test_an_engine_that_is_gone_ends_with_3_and_says_so(finding, capsys):
    hidden = engines_of(finding).rename(engines_of(finding).with_name("elsewhere"))
    try:
        assert main(["replay", str(finding)]) == 3
    finally:
        hidden.rename(engines_of(finding))
    assert "could not run: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "damage"),
    (
        ("history.json", lambda text: text[: len(text) // 2]),
        ("finding.json", lambda text: text.replace('"format": 2', '"format": 99')),
        ("finding.json", lambda text: json.dumps({**json.loads(text), "fingerprint": "00000000"})),
    ),
    ids=("torn", "newer", "changed"),
)
def test_a_damaged_finding_ends_with_3_and_names_the_file(finding, tmp_path, capsys, name, damage):
    copy = tmp_path / finding.name
    shutil.copytree(finding, copy)
    (copy / name).write_text(damage((copy / name).read_text()))
    assert main(["replay", str(copy)]) == 3
    assert name in capsys.readouterr().out


@pytest.mark.slow
def test_the_worst_of_several_counts(finding, tmp_path, capsys):
    copy = tmp_path / finding.name
    shutil.copytree(finding, copy)
    (copy / "history.json").unlink()
    assert main(["replay", str(copy), str(finding)]) == 1
    assert len(capsys.readouterr().out.splitlines()) >= 2
