"""The campaign, played once for all processes of a session, and what it says of each engine."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conformance.events.types import ChunkEnded, EngineReady, Evidence, FindingFound
from conformance.histories import REGRESSIONS
from conformance.pytest_suites.planned import Campaign
from conformance.reporting import event_log
from conformance.reporting.event_log import Recording, RecordingError
from conformance.reporting.merge import merge
from conformance.reporting.results import Results

LOCK, DONE, FOLDER, STDERR, PROGRESS = "lock", "done.json", "folder", "stderr", "progress"
FAULT = 2
TIDY_UP = 120.0  # seconds in which a campaign that is stopped ends its engines and writes its reports
TAIL = 2000  # characters of stderr that a message shows

Echo = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Played:
    """A campaign that has ended. Without a recording there are no results, and `error` says why.

    `exit` is the exit code of the run. `error` is set too if the run did not end by itself.
    """

    exit: int
    folder: Path | None = None
    recording: Recording | None = None
    results: Results | None = None
    error: str = ""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the run does not hold, the weightiest first."""
        told = self.results.outcome.reasons if self.results is not None else ()
        return (*([self.error] if self.error else []), *told)

    def label_of(self, spec: str) -> str | None:
        """The identity of an engine, as claims name it; None if it never ran."""
        events = self.recording.events if self.recording is not None else ()
        ready = (event.engine for event in events if isinstance(event, EngineReady) and event.spec == spec)
        return next(ready, None)

    def kept(self, number: int) -> tuple[bool, tuple[FindingFound, ...]]:
        """Whether a kept history was judged to its end, and the violations in it."""
        events = self.recording.events if self.recording is not None else ()
        found = (event for event in events if isinstance(event, FindingFound))
        violations = tuple(event for event in found if event.kept and event.chunk == number)
        ended = any(
            isinstance(event, ChunkEnded)
            and (event.suite, event.number) == (REGRESSIONS, number)
            and event.complete
            for event in events
        )
        judged = any(
            isinstance(event, Evidence) and (event.suite, event.chunk) == (REGRESSIONS, number)
            for event in events
        )
        return ended and judged, violations


def play_once(campaign: Campaign, echo: Echo) -> tuple[Played, bool]:
    """Play the campaign, or wait until another process of the session has; say whether this process played it.

    If that process dies, the lock is free again, and the next one plays.
    """
    with (campaign.home / LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        mine = not is_played(campaign)
        if mine:
            _play(campaign, echo)
    return read_played(campaign), mine


def is_played(campaign: Campaign) -> bool:
    """Whether a process of this session has played the campaign, however that ended."""
    return (campaign.home / DONE).exists()


def read_played(campaign: Campaign) -> Played:
    """Read what the campaign of this session left."""
    done = json.loads((campaign.home / DONE).read_text("utf-8"))
    code, folder, said = int(done["exit"]), done["folder"], str(done["stderr"])
    if folder is None:
        return Played(FAULT, error=f"the campaign did not begin: {_how(code, said)}")
    try:
        recording = event_log.read(Path(folder))
    except RecordingError as error:
        return Played(FAULT, Path(folder), error=f"the campaign left no record: {_how(code, said)}; {error}")
    results = merge([recording])
    if code == results.outcome.exit:
        return Played(code, Path(folder), recording, results)
    cut = f"the campaign was cut short: {_how(code, said)}"
    seen = (
        results.outcome.exit if code < 0 else FAULT
    )  # a signal takes nothing away from what was seen before it
    return Played(seen or FAULT, Path(folder), recording, results, cut)


def _play(campaign: Campaign, echo: Echo) -> None:
    """Play the campaign in a process of its own, and hand on what it says, but for its last lines."""
    home = campaign.home
    code = FAULT
    echo(f"conformance: playing the campaign once, profile {campaign.profile}")
    with (home / STDERR).open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "conformance.pytest_suites.child", str(home / FOLDER), *campaign.words],
            cwd=campaign.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    try:
        assert process.stdout is not None
        progress = True
        for line in process.stdout:
            progress = progress and bool(line.strip())
            if progress:
                echo(f"  {line.rstrip()}")
        code = process.wait()
    except BaseException:
        code = _stop(process)
        raise
    finally:
        _write_done(home, code)


def _stop(process: subprocess.Popen[str]) -> int:
    """End the campaign with its reports; the first signal that it gets counts, so a second one does no harm."""
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=TIDY_UP)
    except subprocess.TimeoutExpired:
        process.kill()
    return process.wait()


def _write_done(home: Path, code: int) -> None:
    folder = home / FOLDER
    form = {
        "exit": code,
        "folder": folder.read_text("utf-8") if folder.exists() else None,
        "stderr": (home / STDERR).read_text("utf-8", "replace")[-TAIL:],
    }
    making = home / f"{DONE}.new"
    making.write_text(json.dumps(form), "utf-8")
    making.replace(home / DONE)


def _how(code: int, said: str) -> str:
    how = (
        f"its process was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit {code}"
    )
    return f"{how}{f'; it said: {said.strip()}' if said.strip() else ''}"
