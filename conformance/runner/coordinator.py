"""The coordinator of a run: it hands chunks and triage to worker processes and passes on their events.

It goes on until the plan is complete and its sightings are triaged, or until the budget, a limit of findings or a
person ends the run. Once all planned chunks are played, it hands out chunks of the plan's reserve, if evidence for the
core is missing.
"""

from __future__ import annotations

import json
import math
import selectors
import signal
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
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
    FindingTriaged,
    HarnessFault,
    Note,
)
from conformance.histories import Chunk
from conformance.options import RunOptions
from conformance.planning.plan import Plan, engine_specs
from conformance.runner.chunk_parts import ChunkParts
from conformance.runner.header import run_header
from conformance.runner.losses import LossSummary
from conformance.runner.reserve import Reserve
from conformance.runner.triage_queue import TriageJob, TriageQueue
from conformance.runner.worker import Settings
from conformance.runner.worker_process import WorkerProcess
from delta_adapters.builds import build_hash
from delta_adapters.delta_spark.jars import JarsError
from delta_adapters.environments import EnvironmentProblem
from delta_adapters.registry import EngineSpec
from delta_adapters.spark.java import JavaError

TIDY_UP = 30.0  # seconds that workers have to end after SIGTERM
GRACE = 5.0  # seconds after the deadline in which an operation may still end
# Seconds after it for each sighting that is still explained. A cause of it may need one play.
LAST_WORD = 20.0


def run_plan(options: RunOptions, plan: Plan, bus: Bus) -> None:
    """Play a plan and emit all its events on the bus. No process is left running, however it ends."""
    start = time.monotonic()
    specs = engine_specs(options)
    bus.emit(run_header(options, specs, plan))
    for cells in plan.cells:
        bus.emit(cells)
    for note in plan.notes:
        bus.emit(Note(note))
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
    """Hands the chunks of a plan, and the triage of what they show, to its worker processes."""

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
        self._patience = math.inf if deadline is None else deadline + GRACE
        self._heavy: deque[Chunk] = deque()
        self._light: deque[Chunk] = deque()
        self._parts = ChunkParts()
        self._reserve = Reserve(plan, engine_specs(options))
        self._planned = len(plan.chunks)
        self._done = 0
        self._stopping = False
        self._reported: set[str] = set()
        self._new: set[str] = set()
        self._workers: list[WorkerProcess] = []
        self._idle: list[WorkerProcess] = []
        self._triage = TriageQueue(
            min(options.jobs, len(plan.chunks)),
            budget=options.budget,
            allowance=plan.profile.shrinking,
        )
        self._selector = selectors.DefaultSelector()
        self.losses = LossSummary()
        self._awaited: set[str] = set()  # engines that the user named, until they have shown that they work
        self._unusable = False
        self._builds: dict[str, str] = {}

    @property
    def complete(self) -> bool:
        """Whether the workers played every chunk to its end."""
        return self._done == self._planned

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

        Only half of the workers run JVMs, because a JVM needs more than a core while it warms up. If there is nothing
        to play without one, all workers do.
        """
        all_heavy, any_heavy = all(map(runs_on_jvm, specs)), any(map(runs_on_jvm, specs))
        asked = tuple(sorted(self._awaited))
        several = len(self._workers) > 1 and any_heavy and not all_heavy
        chunks = list(self._parts.split(self._plan.chunks) if several else self._plan.chunks)
        self._heavy.extend(chunk for chunk in chunks if chunk.heavy and any_heavy)
        self._light.extend(chunk for chunk in chunks if not (chunk.heavy and any_heavy))
        own = self._options.deviations
        count = len(self._workers)
        on_jvm = count if self._plan.profile.parts and not self._light else max(1, count // 2)
        for worker in self._workers:
            first = worker.number == 0
            heavy = bool(self._heavy) and worker.number < on_jvm
            worker.begin(
                Settings(
                    engines=tuple(map(str, specs)),
                    folder=str(self._options.folder.absolute()),
                    work=str(worker.work),
                    heavy=heavy or (first and bool(asked) and any_heavy),
                    gives_way=bool(self._heavy) and not heavy,
                    brief=self._plan.is_brief,
                    known=tuple(sorted(self._options.known)),
                    deviations=None if own is None else str(own.absolute()),
                    deadline=self._deadline,
                    kept=tuple(kept.to_json() for kept in self._plan.kept),
                    asked=asked if first else (),
                    slow=tuple(str(spec) for spec in specs if spec.heavy),
                )
            )

    def _time_left(self) -> float | None:
        """Seconds to wait for an event. Workers see the deadline themselves, unless an engine does not answer."""
        return None if self._deadline is None else max(0.0, self._patience - time.monotonic())

    def _listen(self, timeout: float | None) -> bool:
        """Handle what workers send; False if none sent anything in time."""
        ready = self._selector.select(timeout)
        for key, _ in ready:
            worker: WorkerProcess = key.data
            lines = worker.lines()
            if lines is None:
                self._selector.unregister(worker.events)
                self._report_end(worker)
                worker.job = None
                self._triage.ended(worker.number)
                self._end_wait(worker)
                self._give_work()
                continue
            for line in lines:
                self._handle(worker, line)
        return bool(ready)

    def _handle(self, worker: WorkerProcess, line: bytes) -> None:
        try:
            form = json.loads(line)
            if form.get("idle"):
                self._triage.ended(worker.number)
                worker.job = None
                self._end_wait(worker)
                self._idle.append(worker)
                self._give_work()
                return
            event = self._parts.join(from_json(form))
        except (ValueError, EventError, AttributeError) as error:
            self._bus.emit(
                HarnessFault(f"worker {worker.number} sent what is no event: {error}", repr(line[:500]))
            )
            return
        if event is None or not self._is_news(event):
            return
        if isinstance(event, EngineLost) and not self.losses.is_first(event):
            return
        self._reserve.take(event)
        if isinstance(event, EngineUnavailable) and self._awaited:
            event, self._unusable = replace(event, asked=True), True
        if isinstance(event, EngineReady):
            event = replace(event, build=self._builds.get(event.spec, ""))
        if isinstance(event, ChunkEnded) and event.complete:
            self._done += 1
        if isinstance(event, FindingTriaged) and event.state != "known":
            self._new.add(event.sighting)
        self._triage.take(event)
        self._bus.emit(event)
        if isinstance(event, EngineReady):
            self._awaited.discard(event.spec)
        if isinstance(event, FindingFound | FindingTriaged | EngineReady):
            self._give_work()

    def _is_news(self, event: Event) -> bool:
        """Whether to pass the event on: several workers start the same engine, and the run reports it once."""
        if not isinstance(event, EngineReady | EngineUnavailable | Note):
            return True
        text = f"{name_of(event)} {event.message if isinstance(event, Note) else event.engine}"
        known = text in self._reported
        self._reported.add(text)
        return not known

    def _end_wait(self, worker: WorkerProcess) -> None:
        """Wait no longer for engines if this is the worker that starts them: it is done with that, or it has ended."""
        if worker.number == 0:
            self._awaited.clear()

    def _give_work(self) -> None:
        """Give each idle worker a job. Once nobody works any more, there will be no further jobs: end them all.

        Until then an idle worker waits, because another one may still see what it can explain.
        """
        if self._stopping or self._awaited or self._unusable:
            return
        for worker in list(self._idle):
            job = self._next_job(worker)
            if job is not None:
                self._idle.remove(worker)
                worker.give(job)
                if isinstance(job, TriageJob):
                    self._bus.emit(self._triage.progress(job))
        working = {key.data.number for key in self._selector.get_map().values()}
        if working <= {worker.number for worker in self._idle}:
            for worker in self._idle:
                worker.give(None)
            self._idle.clear()

    def _open_reserve(self) -> None:
        """Queue further chunks for the evidence that is missing at the end of all others."""
        words = self._reserve.words()
        chunks = self._reserve.next_chunks()
        if not chunks:
            return
        self._planned += len(chunks)
        self._heavy.extend(chunk for chunk in chunks if chunk.heavy)
        self._light.extend(chunk for chunk in chunks if not chunk.heavy)
        kinds = ", ".join(f"{chunk.suite} {chunk.table}".rstrip() for chunk in chunks)
        self._bus.emit(Note(f"{words}: chunks of the reserve are played ({kinds})"))

    def _next_job(self, worker: WorkerProcess) -> Chunk | TriageJob | None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            job = self._triage.last_job(worker.number, heavy=worker.heavy)
            if job is not None:
                self._patience = time.monotonic() + LAST_WORD
            return job
        plays_on = any(isinstance(other.job, Chunk) for other in self._workers)
        if not (plays_on or self._heavy or self._light):
            self._open_reserve()
        queues = [
            queue for queue in ((self._heavy, self._light) if worker.heavy else (self._light,)) if queue
        ]
        job = self._triage.next_job(
            worker.number,
            heavy=worker.heavy,
            has_chunk=bool(queues),
            plays_on=plays_on or bool(self._heavy) or bool(self._light),
        )
        if job is not None:
            return job
        return next((chunk for queue in queues for chunk in _pop(queue, worker)), None)

    def _reached_max_findings(self) -> bool:
        return self._options.max_findings is not None and len(self._new) >= self._options.max_findings

    def _report_end(self, worker: WorkerProcess) -> None:
        code = worker.process.wait()
        if code == 0 or self._stopping:
            return
        why = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        message = f"worker {worker.number} ended {why}{worker.during}; what it had told until then is kept"
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


def builds_of(specs: Iterable[EngineSpec]) -> dict[str, str]:
    """The hash of each engine's build, by its spec. One that can't be had is left out; its start says why."""
    builds = {}
    for spec in specs:
        try:
            builds[str(spec)] = build_hash(spec)
        except (EnvironmentProblem, JarsError, JavaError):
            continue
    return builds


def _pop(queue: deque[Chunk], worker: WorkerProcess) -> Iterator[Chunk]:
    """Take the next chunk for a worker from a queue, if it has one.

    Races on a JVM need two more of them, so the first worker alone plays these.
    """
    for position, chunk in enumerate(queue):
        if worker.number == 0 or chunk.suite != "races" or not chunk.heavy:
            del queue[position]
            yield chunk
            return
