"""Engines that can't be seen, places where no turnstile can stand, writers that hang, runs that are ended: each is told
with its cause, is no evidence, and leaves nothing running."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.types import (
    Event,
    Evidence,
    EvidenceThreshold,
    FindingFound,
    HarnessFault,
    HistoryEnded,
    Note,
)
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.reporting.aggregation import ResultAggregator
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext
from delta_adapters.host_supervisor import descendants
from delta_adapters.registry import EngineSpec, parse_engine
from tests.reporting.samples import HEADER

STRANGERS = Path(__file__).with_name("strangers.py")
COMMITTED = Chunk("crashes", "dev", 0, 1, histories=1, table="changes")
DRAWN = Chunk("crashes", "dev", 1, 5, histories=1, steps=4)


def stranger(name: str) -> EngineSpec:
    return parse_engine(f"{STRANGERS}:{name}")


def told_of(spec: EngineSpec, folder: Path, *chunks: Chunk, work: Path | None = None) -> list[Event]:
    told: list[Event] = []
    instrumented_engines = InstrumentedEngines({str(spec): spec}, work or folder / "arena", told.append)
    try:
        with EnginePool([spec], folder / "hosts", told.append) as hosts:
            context = SuiteContext(
                hosts, FindingRecorder(folder / "findings"), told.append, lambda: False, instrumented_engines
            )
            for chunk in chunks:
                play_chunk(context, chunk, folder / "work")
    finally:
        instrumented_engines.close()
    assert [each for each in told if isinstance(each, HarnessFault)] == []
    return told


def notes(told: list[Event]) -> list[str]:
    return [each.message for each in told if isinstance(each, Note)]


def crash_checks(told: list[Event]) -> int:
    checks = (each.checks for each in told if isinstance(each, Evidence))
    return sum(count for check in checks for name, count in check.items() if name.startswith("crash."))


def cells(told: list[Event], folder: Path) -> set[str]:
    """What the report says of the promise that a run of these events asks a strange engine for."""
    core = (EvidenceThreshold("crash.all-or-nothing", "stranger", checks=10, histories=1, suite="crashes"),)
    ledger = ResultAggregator(folder)
    for each in (replace(HEADER, engines=("stranger",), suites=("crashes",), core=core), *told):
        ledger(each)
    claims = [
        claim for claim in ledger.results(1.0).claims if claim.setting.requirement == core[0].requirement
    ]
    assert all(claim.core for claim in claims)
    return {claim.verdict for claim in claims}


@pytest.mark.parametrize("name", ("LeavesItsFilesToAnother", "LeavesItsFilesToAStaticProgram"))
@pytest.mark.parametrize("first", (COMMITTED, DRAWN), ids=("committed", "drawn"))
def test_an_engine_whose_files_come_from_a_static_program_is_no_evidence(
    first: Chunk, name: str, tmp_path: Path
):
    told = told_of(stranger(name), tmp_path, first, DRAWN if first is COMMITTED else COMMITTED)
    assert 1 <= len(notes(told)) <= 2, "what was being drawn when it was seen, and whatever is played later"
    assert all("the turnstile saw nothing of it" in note for note in notes(told))
    assert crash_checks(told) == 0
    assert sum(each.crash_points for each in told if isinstance(each, HistoryEnded)) == 0
    assert cells(told, tmp_path) == {"not-enough-evidence"}


def test_the_same_engine_in_its_own_process_is_evidence(tmp_path: Path):
    told = told_of(stranger("Stranger"), tmp_path, COMMITTED)
    assert notes(told) == []
    assert crash_checks(told) > 0
    assert cells(told, tmp_path) == {"holds"}


def test_where_no_socket_can_be_made_there_is_a_note_and_no_evidence(tmp_path: Path):
    (tmp_path / "file").touch()
    told = told_of(stranger("Stranger"), tmp_path, COMMITTED, DRAWN, work=tmp_path / "file" / "arena")
    (note,) = notes(told)
    assert "there are no faults and no schedules: can't make the turnstile's socket in" in note
    assert crash_checks(told) == 0


def test_a_writer_that_hangs_is_named_and_ended_and_the_table_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CONFORMANCE_CALL_TIMEOUT", "2")
    before = set(descendants(os.getpid()))
    told: list[Event] = []
    spec = stranger("HangsOnceItsStorageFails")
    instrumented_engines = InstrumentedEngines({str(spec): spec}, tmp_path / "arena", told.append)
    with EnginePool([spec], tmp_path / "hosts", told.append) as hosts:
        context = SuiteContext(
            hosts, FindingRecorder(tmp_path), told.append, lambda: any(hung(told)), instrumented_engines
        )
        play_chunk(context, COMMITTED, tmp_path / "work")
        instrumented_engines.close()
    found = next(hung(told))
    assert found.engine == "stranger@1.0"
    kept = tmp_path / found.folder / "table-before"
    assert list(kept.rglob("*.json"))
    assert set(descendants(os.getpid())) == before


def hung(told: list[Event]) -> Iterator[FindingFound]:
    return (each for each in told if isinstance(each, FindingFound) and each.requirement == "host.answers")


def begin(out: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A run of crashes and races in a process of its own, in the middle of its work, and all that descends from it."""
    words = [
        "--engine",
        str(stranger("Stranger")),
        "--profile",
        "nightly",
        "--suite",
        "crashes",
        "--suite",
        "races",
    ]
    command = [
        sys.executable,
        "-m",
        "conformance",
        "run",
        "--format",
        "json",
        "--jobs",
        "2",
        "--out",
        str(out),
    ]
    process = subprocess.Popen([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    suites = set()
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "HistoryEnded" and (event.get("crash_points") or event.get("schedules")):
            suites.add(event["suite"])
        if suites == {"crashes", "races"}:
            return process, descendants(process.pid)
    pytest.fail(f"it ended before both suites had played: {process.communicate()[1]}")


@pytest.mark.slow
@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGKILL))
def test_no_process_is_left_of_faults_and_races_that_are_ended(tmp_path: Path, number: signal.Signals):
    process, family = begin(tmp_path)
    watched = [os.pidfd_open(each) for each in family]
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert len(family) >= 5, "two workers, a host and its warden at each"
    for each in watched:
        assert select.select([each], [], [], 30)[0], "a process outlived the run"
        os.close(each)
