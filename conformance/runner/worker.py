"""A worker process: it plays chunks and triages sightings on hosts of its own, and sends events.

    coordinator -> worker   a line of settings, then a line for each job, then the end of the stream. A job is
                            {"chunk": ...}, {"explain": SIGHTING}, or {"shrink": SIGHTING, "deadline": TIME}
    worker -> coordinator   {"idle": true} when it wants a job, and events (`events.serialization.to_line`)

Its stdout belongs to this protocol alone, so `main` redirects descriptor 1 to stderr before any import that might
print. SIGTERM, or the end of the coordinator's process, ends the worker with all its hosts.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
import time
import traceback
from dataclasses import asdict, dataclass, replace
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, TextIO

from conformance.events.serialization import to_line
from conformance.events.types import Event, HarnessFault
from conformance.signals import interrupt, stoppable

PR_SET_PDEATHSIG = 1
STOPPED = 130
BEHIND = 10  # the niceness that a worker adds if the run does not wait for it


@dataclass(frozen=True, slots=True)
class Settings:
    """What a worker needs to know about its run. `known` and `deviations` are those of `RunOptions`.

    Before it asks for a chunk, it starts the engines in `asked` and reports of each whether it works. If `gives_way`
    is set, the run waits for another worker, one with a JVM, so this one is nicer. If `brief` is set, engines on a JVM
    get few calls, so their JVMs are started for that. `deadline` is a time of the monotonic clock, which processes
    share. `kept` are the JSON forms of kept histories. `slow` are those of `engines` that have said that their steps
    take long.
    """

    engines: tuple[str, ...]
    folder: str
    work: str
    heavy: bool = True
    gives_way: bool = False
    brief: bool = False
    known: tuple[str, ...] = ()
    deviations: str | None = None
    deadline: float | None = None
    kept: tuple[Any, ...] = ()
    asked: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()

    def to_line(self) -> str:
        """The first line that the coordinator sends."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Settings:
        """Read the settings from their line."""
        form: dict[str, Any] = json.loads(line)
        form |= {key: tuple(part) for key, part in form.items() if isinstance(part, list)}
        return cls(**form)


class CoordinatorLink:
    """The worker's connection to the coordinator."""

    def __init__(self, jobs: TextIO, out: TextIO) -> None:
        self._jobs = jobs
        self._out = out

    def emit(self, event: Event) -> None:
        """Send an event."""
        self._send(to_line(event))

    def settings(self) -> Settings:
        """Read the settings, which are the first line."""
        return Settings.from_line(self._jobs.readline())

    def next_job(self) -> dict[str, Any] | None:
        """Ask for a job; None if there are no more."""
        self._send(json.dumps({"idle": True}))
        line = self._jobs.readline()
        job: dict[str, Any] | None = json.loads(line) if line.strip() else None
        return job

    def _send(self, line: str) -> None:
        self._out.write(line + "\n")
        self._out.flush()


def main() -> int:
    """Do jobs until there are no more; return the exit code of the process."""
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    coordinator = CoordinatorLink(sys.stdin, out)
    try:
        with stoppable(interrupt):
            _end_with_parent()
            _do_jobs(coordinator)
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        return STOPPED  # the coordinator is gone, so no process reads the events
    except Exception as error:  # noqa: BLE001 - the coordinator must learn of any error
        coordinator.emit(
            HarnessFault(f"a worker failed: {type(error).__name__}: {error}", traceback.format_exc())
        )
        return 1
    return 0


def _do_jobs(coordinator: CoordinatorLink) -> None:
    sys.meta_path.insert(0, _Unneeded())
    gc.disable()  # the collector finds nothing in modules that are loading, and takes a tenth of the time
    # The heavy imports come after the streams are safe.
    from conformance.findings.recorder import FindingRecorder  # noqa: PLC0415
    from conformance.histories import Chunk  # noqa: PLC0415
    from conformance.runner.chunk import play_chunk  # noqa: PLC0415
    from conformance.runner.context import open_suite_context  # noqa: PLC0415
    from conformance.runner.triage_jobs import triage_jobs  # noqa: PLC0415
    from conformance.suites.kept_histories import KeptHistory  # noqa: PLC0415
    from delta_adapters.deviations import all_causes  # noqa: PLC0415
    from delta_adapters.host_supervisor import session_gives_way  # noqa: PLC0415
    from delta_adapters.registry import parse_engine  # noqa: PLC0415
    from delta_adapters.spark.java import BRIEF  # noqa: PLC0415

    gc.freeze()  # modules stay, so no collection has to go through them again
    gc.enable()
    settings = coordinator.settings()
    if settings.brief:
        os.environ[BRIEF] = "1"  # hosts inherit it
    work = Path(settings.work)
    if settings.gives_way:
        os.nice(BEHIND)
        session_gives_way()  # the worker's own session, because the coordinator starts each worker in one
    folder, causes = (
        Path(settings.folder),
        all_causes(Path(settings.deviations) if settings.deviations else None),
    )
    with (
        open_suite_context(
            [replace(parse_engine(engine), heavy=engine in settings.slow) for engine in settings.engines],
            FindingRecorder(folder, causes),
            coordinator.emit,
            work,
            is_over=_Clock(settings.deadline),
            start_heavy=settings.heavy,
            kept=tuple(map(KeptHistory.from_json, settings.kept)),
            asked=settings.asked,
        ) as context,
        triage_jobs(context, folder, work, causes, frozenset(settings.known)) as triage,
    ):
        while (job := coordinator.next_job()) is not None:
            if "explain" in job:
                triage.explain(job["explain"])
            elif "shrink" in job:
                triage.shrink(job["shrink"], job["deadline"])
            else:
                play_chunk(context, Chunk.from_json(job["chunk"]), work)


class _Unneeded(MetaPathFinder):
    """Keeps pyarrow from importing what costs time and what a worker does not need: hosts import what engines need."""

    NAMES = frozenset({"numpy", "pandas"})

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:  # noqa: ARG002 - the import system's
        """Refuse to import them."""
        if fullname in self.NAMES:
            raise ModuleNotFoundError(f"{fullname} is not used in a worker", name=fullname)


class _Clock:
    """Says whether the deadline is over. Once it is, it stays so."""

    def __init__(self, deadline: float | None) -> None:
        self._deadline = deadline

    def __call__(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline


def _end_with_parent() -> None:
    """Have the kernel send SIGTERM when the coordinator's process ends.

    A system without that call closes the pipes, which ends the worker when it sends its next line.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() == 1:
            raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
