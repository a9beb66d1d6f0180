"""One run: plans it, hands chunks to worker processes, and passes on what they tell, until all is done or
something ends it.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from conformance._version import harness_version
from conformance.engine_pool import runs_on_jvm
from conformance.events.types import (  # fmt: skip
    FORMAT,
    BudgetSpent,
    Bus,
    ChunkEnded,
    EngineReady,
    EngineUnavailable,
    Event,
    EventError,
    FindingFound,
    HarnessFault,
    Note,
    RunStarted,
    from_json,
    name_of,
)
from conformance.options import RunOptions
from conformance.planning.plan import Chunk, Plan, load_profile, make_plan
from conformance.runner.worker import Settings
from delta_adapters.registry import KNOWN, EngineSpec, engine_names, parse_engine, prepare

TIDY_UP = 30.0
GRACE = 5.0  # seconds after the deadline in which an operation may still end


def run_campaign(options: RunOptions, bus: Bus) -> None:
    """Play what the options ask for and tell all of it to the bus. Nothing is left running, however it ends."""
    start = time.monotonic()
    specs = [parse_engine(engine) for engine in options.engines or default_engines()]
    plan = plan_of(options, specs)
    bus.emit(header_of(options, specs, plan))
    deadline = None if options.budget is None else start + options.budget
    with tempfile.TemporaryDirectory(prefix="conformance-") as work:
        campaign = Campaign(options, plan, bus, work=Path(work), deadline=deadline)
        with campaign.workers():  # they load their modules while the engines are looked for
            if able := [spec for spec in specs if _is_able(spec, bus)]:
                campaign.run(able)
    if deadline is not None and not campaign.complete and time.monotonic() >= deadline:
        bus.emit(BudgetSpent(round(time.monotonic() - start, 3)))


def default_engines() -> tuple[str, ...]:
    """The project's own engines, whether they can run here or not; not the honest one, which is no evidence."""
    return tuple(
        engine_name
        for engine_name in engine_names()
        if engine_name in KNOWN and KNOWN[engine_name].counts and KNOWN[engine_name].by_default
    )


def plan_of(options: RunOptions, specs: Sequence[EngineSpec]) -> Plan:
    """The plan of a run. Raises PlanError."""
    return make_plan(
        load_profile(options.profile), options.seed, engines=tuple(dict.fromkeys(spec.name for spec in specs)),
        suites=options.suites, tables=options.tables, examples=options.examples, steps=options.steps,
    )  # fmt: skip


def _is_able(spec: EngineSpec, bus: Bus) -> bool:
    found = prepare(spec)
    if not found:
        bus.emit(EngineUnavailable(str(spec), found.why, found.cure))
    return bool(found)


class WorkerProcess:
    """One worker process and the stream of its events. A `heavy` one gets to run engines on a JVM."""

    def __init__(self, number: int, work: Path) -> None:
        self.number = number
        self.work = work
        self.heavy = False
        self.chunk: Chunk | None = None
        self._log = work / "worker.log"
        with self._log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "conformance.runner.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True,
            )  # fmt: skip
        self._unread = b""

    def begin(self, settings: Settings) -> None:
        """Tell it what it must know of the run; it asks for jobs from then on."""
        self.heavy = settings.heavy
        self._send(settings.to_line())

    @property
    def events(self) -> IO[bytes]:
        """Where its lines come from."""
        assert self.process.stdout is not None  # noqa: S101 - it was asked for
        return self.process.stdout

    def lines(self) -> Iterator[bytes] | None:
        """The lines that have come; None when there will be no more."""
        data = os.read(self.events.fileno(), 1 << 16)
        if not data:
            return None
        *lines, self._unread = (self._unread + data).split(b"\n")
        return iter(lines)

    def give(self, chunk: Chunk | None) -> None:
        """A job, or word that there are no more."""
        self.chunk = chunk
        if chunk is not None:
            self._send(json.dumps({"chunk": chunk.to_json()}))
        elif self.process.stdin is not None:
            self.process.stdin.close()

    def end(self) -> None:
        """Nothing of it is left afterwards; its hosts die with it."""
        self.process.kill()
        self.process.wait()
        self.events.close()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def stderr_tail(self) -> str:
        """Its last words."""
        return self._log.read_bytes()[-2000:].decode("utf-8", "replace").strip()

    def _send(self, line: str) -> None:
        assert self.process.stdin is not None  # noqa: S101 - it was asked for
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it is dead; the end of its events tells the campaign


class Campaign:
    """Hands out the chunks of a plan."""

    def __init__(
        self,
        options: RunOptions,
        plan: Plan,
        bus: Bus,
        *,
        work: Path,
        deadline: float | None,
    ) -> None:
        self._options = options
        self._plan = plan
        self._bus = bus
        self._work = work
        self._deadline = deadline
        self._heavy: deque[Chunk] = deque()
        self._light: deque[Chunk] = deque()
        self._done = 0
        self._stopping = False
        self._told: set[str] = set()
        self._new: set[str] = set()
        self._workers: list[WorkerProcess] = []
        self._selector = selectors.DefaultSelector()

    @property
    def complete(self) -> bool:
        """Whether every chunk was played to its end."""
        return self._done == len(self._plan.chunks)

    @contextmanager
    def workers(self) -> Iterator[None]:
        """Worker processes, none of which is left afterwards."""
        try:
            hands = min(self._options.jobs, len(self._plan.chunks))
            for number in range(hands):
                work = self._work / f"worker-{number}"
                work.mkdir()
                self._workers.append(WorkerProcess(number, work))
                self._selector.register(self._workers[-1].events, selectors.EVENT_READ, self._workers[-1])
            yield
        finally:
            self._dismiss()

    def run(self, specs: Sequence[EngineSpec]) -> None:
        """Until every worker has gone home, or the budget is spent and somebody does not notice."""
        self._deal(specs)
        while self._selector.get_map():
            if not self._listen(self._patience()):
                return
            if self._enough():
                self._bus.emit(
                    Note(f"ended after {len(self._new)} new findings, as asked for by --max-findings")
                )
                return

    def _deal(self, specs: Sequence[EngineSpec]) -> None:
        """Tell workers who plays. Only half of them run JVMs, which need more than a core each while they warm up."""
        dear = any(map(runs_on_jvm, specs))
        self._heavy.extend(chunk for chunk in self._plan.chunks if chunk.heavy and dear)
        self._light.extend(chunk for chunk in self._plan.chunks if not (chunk.heavy and dear))
        for worker in self._workers:
            heavy = bool(self._heavy) and worker.number < max(1, len(self._workers) // 2)
            worker.begin(
                Settings(
                    engines=tuple(map(str, specs)),
                    folder=str(self._options.folder.absolute()),
                    work=str(worker.work),
                    heavy=heavy,
                    gives_way=bool(self._heavy) and not heavy,
                    known=tuple(sorted(self._options.known)),
                    deadline=self._deadline,
                )
            )

    def _patience(self) -> float | None:
        """How long to wait for a word; workers see the deadline themselves, unless an engine keeps them waiting."""
        return None if self._deadline is None else max(0.0, self._deadline + GRACE - time.monotonic())

    def _listen(self, patience: float | None) -> bool:
        """Take in what workers say; False if none said anything in time."""
        heard = self._selector.select(patience)
        for key, _ in heard:
            worker: WorkerProcess = key.data
            lines = worker.lines()
            if lines is None:
                self._selector.unregister(worker.events)
                self._gone(worker)
                continue
            for line in lines:
                self._hear(worker, line)
        return bool(heard)

    def _hear(self, worker: WorkerProcess, line: bytes) -> None:
        try:
            form = json.loads(line)
            if form.get("idle"):
                worker.give(self._next(worker))
                return
            event = from_json(form)
        except (ValueError, EventError, AttributeError) as error:
            self._bus.emit(
                HarnessFault(f"worker {worker.number} sent what is no event: {error}", repr(line[:500]))
            )
            return
        if not self._is_news(event):
            return
        if isinstance(event, ChunkEnded) and event.complete:
            self._done += 1
        if isinstance(event, FindingFound) and event.fresh:
            self._new.add(event.fingerprint)
        self._bus.emit(event)

    def _is_news(self, event: Event) -> bool:
        """Workers start the same engines; that is told once."""
        if not isinstance(event, EngineReady | EngineUnavailable | Note):
            return True
        words = f"{name_of(event)} {event.message if isinstance(event, Note) else event.engine}"
        known = words in self._told
        self._told.add(words)
        return not known

    def _next(self, worker: WorkerProcess) -> Chunk | None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return None
        queues = (self._heavy, self._light) if worker.heavy else (self._light,)
        return next((queue.popleft() for queue in queues if queue), None)

    def _enough(self) -> bool:
        return self._options.max_findings is not None and len(self._new) >= self._options.max_findings

    def _gone(self, worker: WorkerProcess) -> None:
        code = worker.process.wait()
        if code == 0 or self._stopping:
            return
        during = f" in chunk {worker.chunk.name}" if worker.chunk else ""
        why = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        message = f"worker {worker.number} ended {why}{during}; what it had told until then is kept"
        self._bus.emit(HarnessFault(message, worker.stderr_tail()))

    def _dismiss(self) -> None:
        """End what still runs: first kindly, so that hosts are taken down and last words are heard, then not."""
        self._stopping = True
        limit = time.monotonic() + TIDY_UP
        for worker in self._workers:
            if worker.process.poll() is None:
                worker.process.terminate()
        try:
            while self._selector.get_map() and self._listen(max(0.0, limit - time.monotonic())):
                pass
        finally:
            for worker in self._workers:
                worker.end()
            self._selector.close()


def header_of(options: RunOptions, specs: Sequence[EngineSpec], plan: Plan) -> RunStarted:
    """The first event of a run."""
    heavy = [runs_on_jvm(spec) for spec in specs]
    return RunStarted(
        format=FORMAT,
        harness=harness_version(),
        command=options.command,
        seed=options.seed,
        profile=options.profile,
        storage=options.storage,
        machine=_machine(),
        python=platform.python_version(),
        started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        engines=tuple(str(spec) for spec in specs),
        suites=plan.suites,
        core=plan.core,
        plan=plan.planned(light=not all(heavy), heavy=any(heavy)),
        budget=options.budget,
    )


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GB"
