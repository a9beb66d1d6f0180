"""The coordinator of a run: it hands the chunks of a plan to worker processes and passes on their events.

It goes on until the plan is complete, or until the budget, a limit of findings or a person ends the run.
"""

from __future__ import annotations

import json
import selectors
import signal
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from conformance.engine_pool import available_engines, runs_on_jvm
from conformance.events.bus import Bus
from conformance.events.serialization import (
    EventError,
    from_json,
    name_of,
)
from conformance.events.types import (
    BudgetSpent,
    ChunkEnded,
    EngineLost,
    EngineReady,
    EngineUnavailable,
    Event,
    FindingFound,
    HarnessFault,
    Note,
)
from conformance.histories import Chunk
from conformance.options import RunOptions
from conformance.planning.plan import Plan, engine_specs
from conformance.runner.builds import builds_of
from conformance.runner.header import run_header
from conformance.runner.losses import LossSummary
from conformance.runner.worker import Settings
from conformance.runner.worker_process import WorkerProcess
from delta_adapters.registry import EngineSpec

TIDY_UP = 30.0  # seconds that workers have to end after SIGTERM
GRACE = 5.0  # seconds after the deadline in which an operation may still end


def run_plan(options: RunOptions, plan: Plan, bus: Bus) -> None:
    """Play a plan and emit all its events on the bus. No process is left running, however it ends."""
    start = time.monotonic()
    specs = engine_specs(options)
    bus.emit(run_header(options, specs, plan))
    deadline = None if options.budget is None else start + options.budget
    with tempfile.TemporaryDirectory(prefix="conformance-") as work:
        coordinator = Coordinator(options, plan, bus, work=Path(work), deadline=deadline)
        try:
            with coordinator.workers():  # they load their modules while this process looks for the engines
                if available := available_engines(specs, bus.emit, asked=bool(options.engines)):
                    coordinator.run(available)
        finally:
            for loss in coordinator.losses.rest():
                bus.emit(loss)
    if deadline is not None and not coordinator.complete and time.monotonic() >= deadline:
        bus.emit(BudgetSpent(round(time.monotonic() - start, 3)))


class Coordinator:
    """Hands the chunks of a plan to its worker processes."""

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
        self._reported: set[str] = set()
        self._new: set[str] = set()
        self._workers: list[WorkerProcess] = []
        self._selector = selectors.DefaultSelector()
        self.losses = LossSummary()
        self._awaited: set[str] = (
            set()
        )  # engines that the user named and that have not shown yet that they work
        self._waiting: list[WorkerProcess] = []
        self._unusable = False
        self._builds: dict[str, str] = {}

    @property
    def complete(self) -> bool:
        """Whether the workers played every chunk to its end."""
        return self._done == len(self._plan.chunks)

    @contextmanager
    def workers(self) -> Iterator[None]:
        """Start the worker processes; end them all when the block ends."""
        try:
            count = min(self._options.jobs, len(self._plan.chunks))
            for number in range(count):
                work = self._work / f"worker-{number}"
                work.mkdir()
                self._workers.append(WorkerProcess(number, work))
                self._selector.register(self._workers[-1].events, selectors.EVENT_READ, self._workers[-1])
            yield
        finally:
            self._end_workers()

    def run(self, specs: Sequence[EngineSpec]) -> None:
        """Play the plan with these engines, until every worker has ended or one overruns the deadline.

        Nothing is played before each engine that the user named has shown that it works. If one does not, the run ends.
        """
        if self._options.engines:
            self._awaited = {str(spec) for spec in specs}
        self._start_workers(specs)
        self._builds = builds_of(specs)  # while the engines start
        while self._selector.get_map():
            if not self._listen(self._time_left()) or self._unusable:
                return
            if self._reached_max_findings():
                self._bus.emit(
                    Note(f"ended after {len(self._new)} new findings, as asked for by --max-findings")
                )
                return

    def _start_workers(self, specs: Sequence[EngineSpec]) -> None:
        """Send each worker its settings.

        Only half of the workers run JVMs, because a JVM needs more than a core while it warms up.
        """
        any_heavy = any(map(runs_on_jvm, specs))
        asked = tuple(sorted(self._awaited))
        self._heavy.extend(chunk for chunk in self._plan.chunks if chunk.heavy and any_heavy)
        self._light.extend(chunk for chunk in self._plan.chunks if not (chunk.heavy and any_heavy))
        for worker in self._workers:
            first = worker.number == 0
            heavy = bool(self._heavy) and worker.number < max(1, len(self._workers) // 2)
            worker.begin(
                Settings(
                    engines=tuple(map(str, specs)),
                    folder=str(self._options.folder.absolute()),
                    work=str(worker.work),
                    heavy=heavy or (first and bool(asked) and any_heavy),
                    gives_way=bool(self._heavy) and not heavy,
                    known=tuple(sorted(self._options.known)),
                    deadline=self._deadline,
                    kept=tuple(kept.to_json() for kept in self._plan.kept),
                    asked=asked if first else (),
                )
            )

    def _time_left(self) -> float | None:
        """Seconds to wait for an event. Workers see the deadline themselves, unless an engine does not answer."""
        return None if self._deadline is None else max(0.0, self._deadline + GRACE - time.monotonic())

    def _listen(self, timeout: float | None) -> bool:
        """Handle what workers send; False if none sent anything in time."""
        ready = self._selector.select(timeout)
        for key, _ in ready:
            worker: WorkerProcess = key.data
            lines = worker.lines()
            if lines is None:
                self._selector.unregister(worker.events)
                self._report_end(worker)
                continue
            for line in lines:
                self._handle(worker, line)
        return bool(ready)

    def _handle(self, worker: WorkerProcess, line: bytes) -> None:
        try:
            form = json.loads(line)
            if form.get("idle"):
                self._waiting.append(worker)
                self._give_chunks()
                return
            event = from_json(form)
        except (ValueError, EventError, AttributeError) as error:
            self._bus.emit(
                HarnessFault(f"worker {worker.number} sent what is no event: {error}", repr(line[:500]))
            )
            return
        if not self._is_news(event) or (isinstance(event, EngineLost) and not self.losses.is_first(event)):
            return
        if isinstance(event, EngineUnavailable) and self._awaited:
            event, self._unusable = replace(event, asked=True), True
        if isinstance(event, EngineReady):
            event = replace(event, build=self._builds.get(event.spec, ""))
        if isinstance(event, ChunkEnded) and event.complete:
            self._done += 1
        if isinstance(event, FindingFound) and event.fresh:
            self._new.add(event.fingerprint)
        self._bus.emit(event)
        if isinstance(event, EngineReady) and event.spec in self._awaited:
            self._awaited.remove(event.spec)
            self._give_chunks()

    def _give_chunks(self) -> None:
        """Give a chunk to each worker that waits for one, once all engines that the user named work."""
        while self._waiting and not self._awaited:
            worker = self._waiting.pop(0)
            worker.give(self._next_chunk(worker))

    def _is_news(self, event: Event) -> bool:
        """Whether to pass the event on: several workers start the same engine, and the run reports it once."""
        if not isinstance(event, EngineReady | EngineUnavailable | Note):
            return True
        text = f"{name_of(event)} {event.message if isinstance(event, Note) else event.engine}"
        known = text in self._reported
        self._reported.add(text)
        return not known

    def _next_chunk(self, worker: WorkerProcess) -> Chunk | None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return None
        queues = (self._heavy, self._light) if worker.heavy else (self._light,)
        return next((queue.popleft() for queue in queues if queue), None)

    def _reached_max_findings(self) -> bool:
        return self._options.max_findings is not None and len(self._new) >= self._options.max_findings

    def _report_end(self, worker: WorkerProcess) -> None:
        code = worker.process.wait()
        if code == 0 or self._stopping:
            return
        during = f" in chunk {worker.chunk.name}" if worker.chunk else ""
        why = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        message = f"worker {worker.number} ended {why}{during}; what it had told until then is kept"
        self._bus.emit(HarnessFault(message, worker.stderr_tail()))

    def _end_workers(self) -> None:
        """End the workers: by SIGTERM, so that they stop their hosts and send their last events, then by SIGKILL."""
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
