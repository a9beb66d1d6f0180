"""A worker process: plays the chunks that it is handed, with hosts of its own, and sends events as lines of
JSON.

    campaign -> worker   one line of settings, then one line a job: {"chunk": ...}; the end of the stream means no more
    worker -> campaign   {"idle": true} when it wants a job, and events (`conformance.events.to_line`)

Its stdout belongs to this protocol alone: descriptor 1 is turned to stderr before anything is imported that
might print. SIGTERM, or the end of the campaign's process, ends it with all its hosts.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
import traceback
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from conformance.events.types import Event, HarnessFault, to_line

PR_SET_PDEATHSIG = 1
STOPPED = 130
BEHIND = 10  # how much nicer a worker is that the run does not wait for


@dataclass(frozen=True, slots=True)
class Settings:
    """What a worker must know of its run.

    `gives_way` says that another one, with a JVM, is what the run waits for. `deadline` is in the time of the monotonic
    clock, which processes share.
    """

    engines: tuple[str, ...]
    folder: str
    work: str
    heavy: bool = True
    gives_way: bool = False
    known: tuple[str, ...] = ()
    deadline: float | None = None

    def to_line(self) -> str:
        """The first line that a worker gets."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Settings:
        """The inverse of `to_line`."""
        form: dict[str, Any] = json.loads(line)
        form |= {key: tuple(part) for key, part in form.items() if isinstance(part, list)}
        return cls(**form)


class CoordinatorLink:
    """The campaign as its worker sees it."""

    def __init__(self, jobs: TextIO, out: TextIO) -> None:
        self._jobs = jobs
        self._out = out

    def tell(self, event: Event) -> None:
        """Send an event."""
        self._send(to_line(event))

    def settings(self) -> Settings:
        """The first line."""
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
    """Play until there are no more jobs."""
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, _stop)
    _end_with_parent()
    campaign = CoordinatorLink(sys.stdin, out)
    try:
        _work(campaign)
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        return STOPPED  # the campaign is gone, and nobody is left to tell
    except Exception as error:  # noqa: BLE001 - whatever it is, the campaign must hear of it
        campaign.tell(
            HarnessFault(f"a worker failed: {type(error).__name__}: {error}", traceback.format_exc())
        )
        return 1
    return 0


def _work(campaign: CoordinatorLink) -> None:
    sys.meta_path.insert(0, _NoPandas())
    # The heavy imports come after the streams are safe.
    from conformance.engine_pool import EnginePool  # noqa: PLC0415
    from conformance.fault_injection.instrumented_engines import InstrumentedEngines  # noqa: PLC0415
    from conformance.findings.recorder import FindingRecorder  # noqa: PLC0415
    from conformance.planning.plan import Chunk  # noqa: PLC0415
    from conformance.runner.chunk import play_chunk  # noqa: PLC0415
    from conformance.suites.context import SuiteContext  # noqa: PLC0415
    from delta_adapters.host_supervisor import session_gives_way  # noqa: PLC0415
    from delta_adapters.registry import parse_engine  # noqa: PLC0415

    settings = campaign.settings()
    work = Path(settings.work)
    if settings.gives_way:
        os.nice(BEHIND)
        session_gives_way()  # its own: whoever starts a worker starts a session
    specs = [parse_engine(engine) for engine in settings.engines]
    with EnginePool(specs, work / "hosts", campaign.tell) as hosts:
        hosts.start(on_jvm=False)
        if settings.heavy:
            hosts.start(on_jvm=True)
        finding_recorder = FindingRecorder(Path(settings.folder), frozenset(settings.known))
        with closing(
            InstrumentedEngines({str(spec): spec for spec in specs}, work, campaign.tell)
        ) as instrumented_engines:
            context = SuiteContext(
                hosts, finding_recorder, campaign.tell, _Clock(settings.deadline), instrumented_engines
            )
            while (job := campaign.next_job()) is not None:
                play_chunk(context, Chunk.from_json(job["chunk"]), work)


class _NoPandas(MetaPathFinder):
    """pyarrow imports pandas where it is installed; nothing of the harness needs it, and it costs half a second."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:  # noqa: ARG002 - the import system's
        """Refuse."""
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is not used in a worker", name=fullname)


class _Clock:
    """Whether time is up; once it is, it stays up."""

    def __init__(self, deadline: float | None) -> None:
        self._deadline = deadline

    def __call__(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline


def _stop(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: what follows is tidying up
    raise KeyboardInterrupt


def _end_with_parent() -> None:
    """Have the kernel send SIGTERM when the campaign's process ends, however it ends; where there is no such call, the
    closed pipes end the worker at its next word."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() == 1:
            raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
