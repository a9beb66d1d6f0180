"""Findings of storage that fails and of writers that race, played again where nothing is as it was: in a fresh clone at
another path, under another hash seed and another zone, while somebody keeps a core busy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.engine_pool import EnginePool
from conformance.events.types import FindingFound
from conformance.execution.history_recorder import HistoryRecorder
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import History
from conformance.planning.plan import Chunk
from conformance.suites.context import SuiteContext, engine_session_of
from conformance.suites.crashes.session import CrashTableSession
from conformance.suites.races.writer_groups import WriterGroup
from delta_adapters.deviations import all_deviations
from delta_adapters.registry import parse_engine

ROOT = Path(__file__).parents[2]
PACKAGES = ("", "adapters", "models")  # folders of a checkout that are on its path
RACE, CRASH = "delta-rs-append-refused-after-removal", "delta-rs-commit-found-taken"  # known in deltalake
ZONES = ("Pacific/Kiritimati", "America/St_Johns", "Asia/Kathmandu", "Pacific/Marquesas", "UTC")
BUSY = "while True: pass"
MADE_UP = re.compile(r"part-[0-9a-f-]+-c000")  # what an engine calls its files is another name each time


@dataclass(frozen=True, slots=True)
class Ended:
    """How a replay ended, and what it said."""

    exit: int
    said: str


def kept(deviation: str, folder: Path) -> Path:
    """A known deviation's smallest history, played and kept as a finding."""
    entry = next(each for each in all_deviations() if each.name == deviation)
    history = History.from_json(entry.history)
    told: list[object] = []
    instrumented_engines = InstrumentedEngines(
        {entry.engine: parse_engine(entry.engine)}, folder / "arena", told.append
    )
    try:
        context = SuiteContext(
            EnginePool([], folder / "hosts", told.append),
            FindingRecorder(folder),
            told.append,
            lambda: False,
            instrumented_engines,
        )
        players = [
            each for place in "AB" if (each := instrumented_engines.player(entry.engine, place)) is not None
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
            Chunk(history.suite, "dev", 0, 1), 0, context.finding_recorder, told.append
        )
        history_recorder.take(table_session, table_session.open_all())
        for step in history.steps:
            history_recorder.begin_step(step)
            history_recorder.take(table_session, table_session.execute(step))
    finally:
        instrumented_engines.close()
    found = [each for each in told if isinstance(each, FindingFound) and each.deviation == deviation]
    return folder / found[0].folder


def fresh_clone(folder: Path) -> Path:
    """What a clone of the repository as it stands would hold, and nothing that was made in it since."""
    asked = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(asked, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return folder


@contextmanager
def busy_core() -> Iterator[None]:
    """Somebody who works for as long as this lasts."""
    with subprocess.Popen([sys.executable, "-c", BUSY]) as other:
        try:
            yield
        finally:
            other.kill()


def elsewhere(clone: Path, number: int, *command: str) -> subprocess.CompletedProcess[str]:
    """A command of Python in a clone, with a cache of its own, as nobody before has had it."""
    path = os.pathsep.join(str(clone / package) for package in PACKAGES)
    environment = {
        **os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(number + 1), "TZ": ZONES[number % len(ZONES)],
        "XDG_CACHE_HOME": str(clone.parent / "cache"), "TMPDIR": str(clone.parent), "COLUMNS": "1000",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-P", *command], cwd=clone.parent, env=environment, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip


def replays(finding: Path, folder: Path, times: int) -> Iterator[Ended]:
    """A finding again and again, each time from a folder of another name."""
    clone = fresh_clone(folder / "clone")
    there = shutil.copytree(finding, folder / "elsewhere" / finding.name)
    with busy_core():
        for number in range(times):
            clone = clone.rename(folder / f"clone of {number}")
            there = there.rename(folder / "elsewhere" / f"found {number}")
            ended = elsewhere(clone, number, "-m", "conformance", "replay", str(there))
            yield Ended(ended.returncode, MADE_UP.sub("part-...", ended.stdout + ended.stderr))
