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

from conformance.accounts import Account
from conformance.crashes.desk import CrashDesk
from conformance.dealer import Dealer, seat_of
from conformance.events import FindingFound
from conformance.history import History
from conformance.hosts import Hosts
from conformance.keeper import Keeper
from conformance.plan import Chunk
from conformance.player import play
from conformance.races.groups import Group
from conformance.turnstile.arena import Arena
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
    arena = Arena({entry.engine: parse_engine(entry.engine)}, folder / "arena", told.append)
    try:
        dealer = Dealer(
            Hosts([], folder / "hosts", told.append), Keeper(folder), told.append, lambda: False, arena
        )
        players = [each for place in "AB" if (each := arena.player(entry.engine, place)) is not None]
        desk = (
            Group(tuple(players)).desk(dealer, folder / "table", "kept")
            if history.suite == "races"
            else CrashDesk(folder / "table", [seat_of(players[0].engine)], players[0].actor, 1, "kept")
        )
        account = Account(Chunk(history.suite, "dev", 0, 1), 0, dealer.keeper, told.append)
        account.take(desk, desk.sit_down())
        for step in history.steps:
            account.begin_step(step)
            account.take(desk, (judged for _, judged in play([desk], step)))
    finally:
        arena.close()
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
    path = os.pathsep.join(str(clone / each) for each in PACKAGES)
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
