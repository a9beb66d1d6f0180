"""Who triages which sighting, when, and for how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.events.types import FindingFound
from conformance.runner.triage_queue import TriageJob, TriageQueue
from tests.reporting.samples import SIGHTING, explained, shrunk, triaged

PLAYING = {"heavy": True, "has_chunk": True, "plays_on": True}
IDLE = {"heavy": True, "has_chunk": False, "plays_on": True}
AFTER = {"heavy": True, "has_chunk": False, "plays_on": False}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def queue(
    clock: Clock, workers: int = 1, budget: float | None = None, allowance: float = 60.0
) -> TriageQueue:
    return TriageQueue(workers, budget=budget, allowance=allowance, clock=clock)


def sighting(name: str, **changes: object) -> FindingFound:
    return replace(SIGHTING, fingerprint=name, **changes)  # type: ignore[arg-type]


def explain(queue: TriageQueue, clock: Clock, seconds: float, **where: bool) -> TriageJob | None:
    """Let worker 0 explain the next sighting, which no cause explains."""
    job = queue.next_job(0, **where)
    if job is not None and job.doing == "explain":
        clock.now += seconds
        queue.take(triaged("unexplained", sighting(job.sighting)))
        queue.ended(0)
    return job


def test_a_sighting_is_explained_once_however_often_it_is_seen(clock):
    jobs = queue(clock, workers=2)
    for _ in range(3):
        jobs.take(sighting("a"))
    assert jobs.next_job(0, **IDLE) == TriageJob("explain", "a")
    assert jobs.next_job(1, **IDLE) is None
    jobs.take(sighting("a"))
    jobs.take(explained(sighting("a")))
    jobs.ended(0)
    jobs.take(sighting("a"))
    assert jobs.next_job(0, **AFTER) is None


def test_what_is_must_comes_first_and_then_what_is_unlike_the_others(clock):
    jobs = queue(clock)
    for name, strength, cause in (
        ("a", "should", "x"), ("b", "must", "x"), ("c", "must", "x"), ("d", "must", "y"), ("e", "should", "z"),
    ):  # fmt: skip
        jobs.take(sighting(name, strength=strength, candidates=(cause,)))
    order = [explain(jobs, clock, 0.1, **IDLE) for _ in range(5)]
    assert [job and job.sighting for job in order] == ["b", "d", "c", "e", "a"]


def test_what_an_engine_does_not_promise_is_not_triaged(clock):
    jobs = queue(clock)
    jobs.take(sighting("a", promised=False))
    assert jobs.next_job(0, **AFTER) is None
    jobs.take(sighting("a"))
    assert jobs.next_job(0, **AFTER) == TriageJob("explain", "a")


def test_explaining_takes_at_most_a_fifth_of_the_time_of_a_worker_that_has_chunks_to_play(clock):
    jobs = queue(clock)
    for number in range(100):
        jobs.take(sighting(str(number)))
    spent = 0
    while clock.now < 1600:
        if explain(jobs, clock, 3, **PLAYING) is None:
            clock.now += 5  # it plays a chunk
        else:
            spent += 3
    assert 0.18 * 600 <= spent <= 0.2 * 600 + 3


def test_a_short_run_explains_what_it_saw_all_the_same(clock):
    jobs = queue(clock)
    for number in range(100):
        jobs.take(sighting(str(number)))
    done = 0
    while (job := explain(jobs, clock, 1, **AFTER)) is not None and job.doing == "explain":
        done += 1
    assert done == 15


def test_with_a_budget_a_fifth_of_it_is_for_explaining(clock):
    jobs = queue(clock, budget=20)
    for number in range(100):
        jobs.take(sighting(str(number)))
    done = 0
    while (job := explain(jobs, clock, 1, **PLAYING)) is not None and job.doing == "explain":
        done += 1
    assert done == 4


@pytest.mark.parametrize("budget", (10, None))
def test_what_needs_no_play_is_explained_whatever_time_is_left(clock, budget):
    jobs = queue(clock, budget=budget)
    for number in range(40):
        jobs.take(sighting(str(number), told=number % 2 == 1))
    done = []
    while (job := explain(jobs, clock, 3, **PLAYING)) is not None and job.doing == "explain":
        done.append(int(job.sighting))
    assert done[:20] == [*range(1, 40, 2)], "it goes first, and costs nothing of the time"
    assert len(done) == 20 + (1 if budget else 5)


def test_after_the_end_of_the_budget_only_what_needs_no_play_is_explained(clock):
    jobs = queue(clock, budget=10)
    jobs.take(sighting("played"))
    jobs.take(sighting("told", told=True))
    jobs.take(sighting("on a JVM", told=True, dear=True))
    clock.now += 11
    assert jobs.last_job(0, heavy=False) == TriageJob("explain", "told")
    assert jobs.last_job(0, heavy=False) is None
    assert jobs.last_job(1, heavy=True) == TriageJob("explain", "on a JVM")
    assert jobs.last_job(1, heavy=True) is None


def test_a_worker_with_nothing_left_to_play_explains_at_once(clock):
    jobs = queue(clock, workers=2, budget=10)
    for number in range(50):
        jobs.take(sighting(str(number)))
    for _ in range(50):
        job = explain(jobs, clock, 1, **IDLE)
        assert job is not None
        assert job.doing == "explain"


def test_what_needs_a_jvm_is_left_to_the_worker_that_has_it(clock):
    jobs = queue(clock, workers=2)
    jobs.take(sighting("dear", dear=True))
    assert jobs.next_job(0, heavy=False, has_chunk=False, plays_on=True) is None
    assert jobs.next_job(1, **PLAYING) == TriageJob("explain", "dear")


def test_the_worker_with_the_jvms_leaves_the_rest_to_others_while_it_has_chunks(clock):
    jobs = queue(clock, workers=2)
    jobs.take(sighting("cheap"))
    assert jobs.next_job(1, **PLAYING) is None
    assert jobs.next_job(0, heavy=False, has_chunk=True, plays_on=True) == TriageJob("explain", "cheap")
    assert queue(clock, workers=1).next_job(0, **PLAYING) is None
    alone = queue(clock, workers=1)
    alone.take(sighting("cheap"))
    assert alone.next_job(0, **PLAYING) == TriageJob("explain", "cheap")


def test_shrinking_begins_after_the_chunks_and_each_sighting_gets_what_it_needs(clock):
    jobs = queue(clock, allowance=40)
    for name in "ab":
        jobs.take(sighting(name))
        explain(jobs, clock, 1, **PLAYING)
    assert jobs.next_job(0, **PLAYING) is None
    assert jobs.next_job(0, **AFTER) == TriageJob("shrink", "a", clock.now + 30)
    end = clock.now + 40
    clock.now += 25
    jobs.take(shrunk(sighting("a")))
    jobs.ended(0)
    assert jobs.next_job(0, **AFTER) == TriageJob("shrink", "b", end)


def test_what_is_unlike_those_before_it_is_shrunk_first_and_then_what_is_short(clock):
    jobs = queue(clock, allowance=1000)
    for name, requirement, steps in (("a", "x", 9), ("b", "x", 3), ("c", "y", 20), ("d", "x", 5)):
        jobs.take(sighting(name, requirement=requirement, steps=steps))
        explain(jobs, clock, 1, **PLAYING)
    order = []
    while (job := jobs.next_job(0, **AFTER)) is not None:
        order.append(job.sighting)
        jobs.take(shrunk(sighting(job.sighting)))
        jobs.ended(0)
    assert order == ["b", "c", "d", "a"]


def test_no_shrinking_begins_when_the_time_is_over(clock):
    jobs = queue(clock, allowance=60)
    jobs.take(sighting("a"))
    explain(jobs, clock, 1, **PLAYING)
    assert jobs.next_job(1, heavy=False, has_chunk=False, plays_on=False) is not None
    jobs.ended(1)
    jobs.take(sighting("b"))
    explain(jobs, clock, 1, **AFTER)
    clock.now += 60
    assert jobs.next_job(0, **AFTER) is None


def test_near_the_end_of_a_budget_a_violation_goes_before_further_chunks(clock):
    jobs = queue(clock, budget=100)
    jobs.take(sighting("a"))
    explain(jobs, clock, 1, **PLAYING)
    clock.now = 1070
    assert jobs.next_job(0, **PLAYING) is None
    clock.now = 1080
    assert jobs.next_job(0, **PLAYING) == TriageJob("shrink", "a", 1099.0)


def test_a_job_whose_worker_dies_is_not_done_again(clock):
    jobs = queue(clock, workers=2)
    jobs.take(sighting("a"))
    jobs.next_job(0, **IDLE)
    jobs.ended(0)
    assert jobs.next_job(1, **AFTER) is None


@pytest.mark.parametrize(
    "said",
    (
        triaged("unstable", sighting("a")),
        triaged("unexplained", sighting("a"), reproduced=None),
        explained(sighting("a")),
    ),
)
def test_only_what_shows_again_without_a_cause_is_shrunk(clock, said):
    jobs = queue(clock)
    jobs.take(sighting("a"))
    jobs.next_job(0, **AFTER)
    jobs.take(said)
    jobs.ended(0)
    assert jobs.next_job(0, **AFTER) is None


def test_the_terminal_learns_how_far_it_is(clock):
    jobs = queue(clock)
    for name in "abc":
        jobs.take(sighting(name))
    explain(jobs, clock, 1, **IDLE)
    job = jobs.next_job(0, **IDLE)
    assert job is not None
    progress = jobs.progress(job)
    assert (progress.doing, progress.number, progress.total) == ("explain", 2, 3)


@pytest.mark.parametrize("dear", (True, False))
def test_no_sighting_takes_over_the_cause_of_another(clock, dear):
    jobs = queue(clock)
    for name in "ab":
        jobs.take(sighting(name, dear=dear))
    jobs.next_job(0, **IDLE)
    jobs.take(explained(sighting("a", dear=dear)))
    jobs.ended(0)
    assert jobs.next_job(0, **IDLE) == TriageJob("explain", "b")


def test_on_a_jvm_the_longest_history_goes_first_because_its_play_answers_for_its_beginnings(clock):
    jobs = queue(clock)
    for name, steps in (("a", 2), ("b", 20), ("c", 9)):
        jobs.take(sighting(name, dear=True, steps=steps))
    assert jobs.next_job(0, **IDLE) == TriageJob("explain", "b")
