"""Which sighting is explained or shrunk next, by which worker, and for how long.

Explaining goes on while chunks are played. On a worker that has chunks to play it takes at most a fifth of the time; a
worker with nothing left to play explains at once. Shrinking begins on a worker that has nothing to play or to explain.
What is *must* comes first, then what is unlike those before it, then what is short. A sighting is triaged once in a
run, and none takes over what was found out about another.

What exact predictions alone decide is always explained, whatever time is left: no history is played for it. It comes
before everything else, and it is asked for after the end of the budget too.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from conformance.events.types import Event, FindingFound, FindingTriaged, Triaging

SHARE = 0.2  # of the elapsed time, or of the budget, for explaining
AT_LEAST = 15.0  # seconds for explaining in a run without a budget, however short it is
RESERVE = 0.2  # of the budget: in it, a violation that is not minimal goes before further chunks
MOST, MOST_ON_A_JVM = 30.0, 300.0  # seconds for shrinking one sighting
MARGIN = 1.0  # seconds before the end of the time in which nothing begins

Doing = Literal["explain", "shrink"]
Phase = Literal["waiting", "explaining", "explained", "shrinking", "done"]


@dataclass(frozen=True, slots=True)
class TriageJob:
    """A job for a worker: explain a sighting, or shrink it until the deadline."""

    doing: Doing
    sighting: str
    deadline: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The JSON form, as the coordinator sends it."""
        return {self.doing: self.sighting, "deadline": self.deadline}


@dataclass(slots=True)
class _Sighting:
    """A sighting, and how far its triage is.

    `dear` says that it needs an engine on a JVM, and `told` that exact predictions alone decide.
    """

    id: str
    must: bool
    dear: bool
    steps: int
    told: bool = False
    requirement: str = ""
    candidates: tuple[str, ...] = ()
    phase: Phase = "waiting"
    deadline: float | None = None


@dataclass(slots=True)
class _Running:
    job: TriageJob
    began: float
    costs: bool


class TriageQueue:
    """The sightings of a run, and who triages which.

    Args:
        workers: how many workers there are.
        budget: the seconds of the run; None if it has no budget.
        allowance: without a budget, the seconds that shrinking may take after all chunks.
        clock: gives seconds; tests replace it.
    """

    def __init__(
        self,
        workers: int,
        *,
        budget: float | None,
        allowance: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers = workers
        self._budget = budget
        self._allowance = allowance
        self._clock = clock
        self._began = clock()
        self._chunks_ended: float | None = None
        self._sightings: dict[str, _Sighting] = {}
        self._running: dict[int, _Running] = {}
        self._spent: dict[int, float] = {}
        self._explained = 0

    def take(self, event: Event) -> None:
        """Take an event of a worker into account."""
        if isinstance(event, FindingFound) and event.fresh and event.state == "unexplained":
            sighting = _Sighting(
                event.fingerprint,
                event.strength == "must",
                event.dear,
                event.steps,
                event.told,
                event.requirement,
                event.candidates,
            )
            self._sightings.setdefault(event.fingerprint, sighting)
        elif isinstance(event, FindingTriaged) and event.sighting in self._sightings:
            sighting = self._sightings[event.sighting]
            shows = event.state == "unexplained" and event.reproduced is True
            sighting.phase = "explained" if shows and sighting.phase == "explaining" else "done"

    def next_job(self, worker: int, *, heavy: bool, has_chunk: bool, plays_on: bool) -> TriageJob | None:
        """The next job of a worker; None if it shall play a chunk, or if there is nothing that it may do.

        Args:
            worker: the number of the worker.
            heavy: whether it holds the engines on a JVM.
            has_chunk: whether there is a chunk that it could play.
            plays_on: whether any worker plays a chunk, or will.
        """
        if not plays_on and self._chunks_ended is None:
            self._chunks_ended = self._clock()
        costs = has_chunk or not plays_on
        waiting = self._of("waiting", heavy=heavy, has_chunk=has_chunk)
        if waiting and (waiting.told or not costs or self._may_explain(worker)):
            return self._begin(worker, waiting, "explain", None, costs=costs and not waiting.told)
        ready = self._of("explained", heavy=heavy, has_chunk=has_chunk)
        if ready and (not has_chunk or (ready.must and self._in_reserve())):
            deadline = self._shrink_until(ready)
            if deadline is not None:
                return self._begin(worker, ready, "shrink", deadline, costs=costs)
        return None

    def last_job(self, worker: int, *, heavy: bool) -> TriageJob | None:
        """The next job of a worker after the end of the budget: to explain what needs no play."""
        waiting = self._of("waiting", heavy=heavy, has_chunk=False)
        return (
            self._begin(worker, waiting, "explain", None, costs=False) if waiting and waiting.told else None
        )

    def ended(self, worker: int) -> None:
        """Note that a worker has ended its job, or died in it."""
        running = self._running.pop(worker, None)
        if running is None:
            return
        if running.costs and running.job.doing == "explain":
            self._spent[worker] = self._spent.get(worker, 0.0) + self._clock() - running.began
        sighting = self._sightings[running.job.sighting]
        if sighting.phase in {"explaining", "shrinking"}:
            sighting.phase = "done"  # no word came: it stays as it is

    def progress(self, job: TriageJob) -> Triaging:
        """The event that says what the job does."""
        steps = self._sightings[job.sighting].steps
        return Triaging(job.doing, job.sighting, self._explained, len(self._sightings), steps, steps)

    def _begin(
        self, worker: int, sighting: _Sighting, doing: Doing, deadline: float | None, *, costs: bool
    ) -> TriageJob:
        sighting.phase = "explaining" if doing == "explain" else "shrinking"
        self._explained += doing == "explain"
        sighting.deadline = deadline
        job = TriageJob(doing, sighting.id, deadline)
        self._running[worker] = _Running(job, self._clock(), costs)
        return job

    def _of(self, phase: Phase, *, heavy: bool, has_chunk: bool) -> _Sighting | None:
        """The first sighting of a phase that a worker may take.

        The worker with the JVMs is the one that a run waits for: as long as it has chunks, others take what they can.
        """
        spares = heavy and has_chunk and self._workers > 1
        able = [
            sighting
            for sighting in self._sightings.values()
            if sighting.phase == phase and (sighting.dear if spares else heavy or not sighting.dear)
        ]
        if not able:
            return None
        if phase == "waiting":
            tried = Counter(
                other.candidates for other in self._sightings.values() if other.phase != "waiting"
            )
            # A play of a long history answers for its beginnings (`triage.shared_plays`): on a JVM it goes first.
            return min(
                able,
                key=lambda sighting: (
                    not sighting.told,
                    not sighting.must,
                    tried[sighting.candidates],
                    -sighting.steps if sighting.dear else 0,
                ),
            )
        shrunk = Counter(
            other.requirement for other in self._sightings.values() if other.deadline is not None
        )
        return min(
            able, key=lambda sighting: (not sighting.must, shrunk[sighting.requirement], sighting.steps)
        )

    def _may_explain(self, worker: int) -> bool:
        elapsed = self._clock() - self._began
        allowed = max(SHARE * elapsed, AT_LEAST) if self._budget is None else SHARE * self._budget
        return self._spent.get(worker, 0.0) < allowed

    def _in_reserve(self) -> bool:
        return self._budget is not None and self._clock() - self._began >= (1 - RESERVE) * self._budget

    def _shrink_until(self, sighting: _Sighting) -> float | None:
        """Until when a sighting may be shrunk; None if there is no time left.

        It gets what it needs: a few small findings are worth more than many that are half as long as before.
        """
        now = self._clock()
        if self._budget is not None:
            end = self._began + self._budget - MARGIN
        else:
            end = (now if self._chunks_ended is None else self._chunks_ended) + self._allowance
        left = end - now
        return None if left < MARGIN else min(end, now + (MOST_ON_A_JVM if sighting.dear else MOST))
