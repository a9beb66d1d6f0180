"""Replays findings of faults and races in a fresh clone of the repository.

Each replay has another path, hash seed and time zone, and an empty cache, while another process keeps a core busy.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from conformance.engine_pool import EnginePool
from conformance.events.types import FindingFound
from conformance.execution.history_recorder import HistoryRecorder
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk, History
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.crashes.session import CrashTableSession
from conformance.suites.races.writer_groups import WriterGroup
from delta_adapters.deviations import all_causes
from delta_adapters.registry import parse_engine

ROOT = Path(__file__).parents[2]
PACKAGES = ("", "adapters", "models")  # folders of a checkout that are on its path
RACE, CRASH = "delta-rs-append-refused-after-removal", "delta-rs-commit-found-taken"  # known in deltalake
ZONES = ("Pacific/Kiritimati", "America/St_Johns", "Asia/Kathmandu", "Pacific/Marquesas", "UTC")
BUSY = "while True: pass"
FILE_NAME = re.compile(r"part-[0-9a-f-]+-c000")  # an engine draws another name each time


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The exit code and the output of a replay."""

    exit: int
    output: str


def record_finding(deviation: str, folder: Path) -> Path:
    """Play the smallest history of a known deviation. Return the folder of its finding."""
    entry = next(entry for entry in all_causes() if entry.id == deviation)
    history = History.from_json(entry.history)
    events: list[object] = []
    instrumented_engines = InstrumentedEngines(
        {entry.engine: parse_engine(entry.engine)}, folder / "arena", events.append
    )
    try:
        context = SuiteContext(
            EnginePool([], folder / "hosts", events.append),
            FindingRecorder(folder),
            events.append,
            lambda: False,
            instrumented_engines,
        )
        players = [
            player for slot in "AB" if (player := instrumented_engines.get(entry.engine, slot)) is not None
        ]
        table_session = (
            WriterGroup(tuple(players)).table_session(context, folder / "table", "kept")
            if history.suite == "races"
            else CrashTableSession(
                folder / "table",
                [engine_session_of(players[0].engine)],
                players[0].instrumented_process,
                1,
                "kept",
            )
        )
        history_recorder = HistoryRecorder(
            Chunk(history.suite, "dev", 0, 1), 0, context.finding_recorder, events.append
        )
        history_recorder.take(table_session, table_session.open_all())
        for step in history.steps:
            history_recorder.begin_step(step)
            history_recorder.take(table_session, table_session.execute(step))
    finally:
        instrumented_engines.close()
    findings = [
        event for event in events if isinstance(event, FindingFound) and deviation in event.candidates
    ]
    return folder / findings[0].folder


def fresh_clone(folder: Path) -> Path:
    """Copy the files that a clone of the repository would hold, as they are now, into this folder."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return folder


@contextmanager
def busy_core() -> Iterator[None]:
    """Keep a core busy meanwhile."""
    with subprocess.Popen([sys.executable, "-c", BUSY]) as other:
        try:
            yield
        finally:
            other.kill()


def run_python(clone: Path, number: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a clone, with a hash seed, time zone and cache of its own."""
    path = os.pathsep.join(str(clone / package) for package in PACKAGES)
    environment = {
        **os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(number + 1), "TZ": ZONES[number % len(ZONES)],
        "XDG_CACHE_HOME": str(clone.parent / "cache"), "TMPDIR": str(clone.parent), "COLUMNS": "1000",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-P", *command], cwd=clone.parent, env=environment, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip


def replays(finding: Path, folder: Path, times: int, *, busy: bool = True) -> Iterator[ReplayResult]:
    """Replay a finding several times, from a folder of another name each time, beside a busy core if `busy`."""
    clone = fresh_clone(folder / "clone")
    there = shutil.copytree(finding, folder / "elsewhere" / finding.name)
    with busy_core() if busy else nullcontext():
        for number in range(times):
            clone = clone.rename(folder / f"clone of {number}")
            there = there.rename(folder / "elsewhere" / f"finding {number}")
            completed = run_python(clone, number, "-m", "conformance", "replay", str(there))
            yield ReplayResult(
                completed.returncode, FILE_NAME.sub("part-...", completed.stdout + completed.stderr)
            )
