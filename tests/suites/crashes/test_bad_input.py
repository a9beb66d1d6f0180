"""Uninstrumented engines, a turnstile that cannot start, hanging writers and interrupted runs are reported.

Each report names the cause. They give no evidence, and leave no process running."""

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
from tests.suites.chunks import play_chunks

STRANGERS = Path(__file__).with_name("strangers.py")
COMMITTED = Chunk("crashes", "dev", 0, 1, histories=1, table="changes")
DRAWN = Chunk("crashes", "dev", 1, 5, histories=1, steps=4)


def stranger(name: str) -> EngineSpec:
    return parse_engine(f"{STRANGERS}:{name}")


def play_stranger(spec: EngineSpec, folder: Path, *chunks: Chunk, arena: Path | None = None) -> list[Event]:
    """Play chunks with a strange engine and return their events."""
    return play_chunks([spec], chunks, folder, arena=arena)


def notes(events: list[Event]) -> list[str]:
    return [event.message for event in events if isinstance(event, Note)]


def crash_checks(events: list[Event]) -> int:
    checks = (event.checks for event in events if isinstance(event, Evidence))
    return sum(count for check in checks for name, count in check.items() if name.startswith("crash."))


def cells(events: list[Event], folder: Path) -> set[str]:
    """Return the verdicts on the one guarantee that a run of these events requires."""
    core = (EvidenceThreshold("crash.all-or-nothing", "stranger", checks=10, histories=1, suite="crashes"),)
    aggregator = ResultAggregator(folder)
    for event in (replace(HEADER, engines=("stranger",), suites=("crashes",), core=core), *events):
        aggregator(event)
    claims = [
        claim for claim in aggregator.results(1.0).claims if claim.setting.requirement == core[0].requirement
    ]
    assert all(claim.core for claim in claims)
    return {claim.verdict for claim in claims}


@pytest.mark.parametrize("name", ("LeavesItsFilesToAnother", "LeavesItsFilesToAStaticProgram"))
@pytest.mark.parametrize("first", (COMMITTED, DRAWN), ids=("committed", "drawn"))
def test_an_engine_that_writes_by_a_static_program_gives_no_evidence(first: Chunk, name: str, tmp_path: Path):
    events = play_stranger(stranger(name), tmp_path, first, DRAWN if first is COMMITTED else COMMITTED)
    assert 1 <= len(notes(events)) <= 2, "what was being drawn when it was seen, and whatever is played later"
    assert all("the turnstile saw nothing of it" in note for note in notes(events))
    assert crash_checks(events) == 0
    assert sum(event.crash_points for event in events if isinstance(event, HistoryEnded)) == 0
    assert cells(events, tmp_path) == {"not-enough-evidence"}


def test_the_same_engine_in_its_own_process_gives_evidence(tmp_path: Path):
    events = play_stranger(stranger("Stranger"), tmp_path, COMMITTED)
    assert notes(events) == []
    assert crash_checks(events) > 0
    assert cells(events, tmp_path) == {"holds"}


def test_without_a_socket_there_is_a_note_and_no_evidence(tmp_path: Path):
    (tmp_path / "file").touch()
    events = play_stranger(
        stranger("Stranger"), tmp_path, COMMITTED, DRAWN, arena=tmp_path / "file" / "arena"
    )
    (note,) = notes(events)
    assert "there are no faults and no schedules: can't make the turnstile's socket in" in note
    assert crash_checks(events) == 0


def test_a_hanging_writer_is_named_and_killed_and_its_table_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CONFORMANCE_CALL_TIMEOUT", "2")
    before = set(descendants(os.getpid()))
    events: list[Event] = []
    spec = stranger("HangsOnceItsStorageFails")
    instrumented_engines = InstrumentedEngines({str(spec): spec}, tmp_path / "arena", events.append)
    with EnginePool([spec], tmp_path / "hosts", events.append) as hosts:
        context = SuiteContext(
            hosts, FindingRecorder(tmp_path), events.append, lambda: any(hung(events)), instrumented_engines
        )
        play_chunk(context, COMMITTED, tmp_path / "work")
        instrumented_engines.close()
    finding_event = next(hung(events))
    assert finding_event.engine == "stranger@1.0"
    kept = tmp_path / finding_event.folder / "table-before"
    assert list(kept.rglob("*.json"))
    assert set(descendants(os.getpid())) == before


def hung(events: list[Event]) -> Iterator[FindingFound]:
    return (
        event for event in events if isinstance(event, FindingFound) and event.requirement == "host.answers"
    )


def begin(out: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a run of crashes and races; return its process, in the middle of its work, and its descendants."""
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
def test_no_process_outlives_interrupted_faults_and_races(tmp_path: Path, number: signal.Signals):
    process, family = begin(tmp_path)
    descriptors = [os.pidfd_open(process) for process in family]
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert len(family) >= 5, "two workers, a host and its warden at each"
    for descriptor in descriptors:
        assert select.select([descriptor], [], [], 30)[0], "a process outlived the run"
        os.close(descriptor)
