"""The progress of a run, counted from its events, for the terminal."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from conformance.events import types
from conformance.events.types import Event, FindingFound
from conformance.reporting.text import plural


def doing_words(event: types.Triaging) -> str:
    """What triage does: `explaining 3 of 12`, `shrinking ab12cd34: 18 -> 4 steps`."""
    if event.doing == "explain":
        return f"explaining {event.number} of {event.total}"
    if event.left < event.steps:
        return f"shrinking {event.sighting}: {event.steps} -> {plural(event.left, 'step')}"
    return f"shrinking {event.sighting}: {plural(event.steps, 'step')}"


class Progress:
    """The counts of a running run. `clock` gives seconds; tests replace it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._first_step: float | None = None
        self._done: Counter[bool] = Counter()  # steps by whether they wait for a JVM
        self._not_played: Counter[bool] = Counter()  # steps of histories that ended early
        self.header: types.RunStarted | None = None
        self.engines: dict[str, str] = {}
        self.operations: Counter[str] = Counter()
        self.steps = 0
        self.histories = 0
        self.suite = ""
        self.doing = ""
        self._sightings: dict[tuple[str, str], FindingFound] = {}
        self._triaged: dict[tuple[str, str], types.FindingTriaged] = {}
        self.lost = 0
        self._steps_by_history: dict[tuple[str, int, int], int] = {}

    @property
    def planned(self) -> int:
        """The steps of the plan."""
        return sum(suite.steps for suite in self.header.plan) if self.header else 0

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._began

    @property
    def fresh(self) -> int:
        """Findings that nothing known explains."""
        untriaged = sum(finding.fresh and not finding.state for finding in self._sightings.values())
        return untriaged + len(self._fingerprints(known=False))

    @property
    def known(self) -> int:
        """Findings that a cause explains, that the baseline has, or that break no promise."""
        untriaged = sum(not finding.fresh for finding in self._sightings.values())
        return untriaged + len(self._fingerprints(known=True))

    @property
    def waiting(self) -> int:
        """Sightings that triage has not come to."""
        return sum(
            bool(finding.state) and finding.fresh and key not in self._triaged
            for key, finding in self._sightings.items()
        )

    def _fingerprints(self, *, known: bool) -> set[tuple[str, str]]:
        return {
            (triaged.fingerprint, triaged.engine)
            for triaged in self._triaged.values()
            if (triaged.state == "known") is known
        }

    @property
    def left(self) -> float | None:
        """Seconds until the end; None while there is no estimate.

        Steps with and without engines on a JVM go on side by side, each at its own pace. The slower one decides.
        """
        ends = []
        budget = self.header.budget if self.header else None
        if budget is not None:
            ends.append(max(budget - self.elapsed, 0.0))
        if self._first_step is not None and self.steps <= self.planned:
            spent = self._clock() - self._first_step
            on_jvm = sum(suite.dear for suite in self.header.plan) if self.header else 0
            planned = {True: on_jvm, False: self.planned - on_jvm}
            planned = {kind: steps - self._not_played[kind] for kind, steps in planned.items()}
            paces = [spent * max(planned[kind] - done, 0) / done for kind, done in self._done.items() if done]
            ends += [max(paces)] if paces else []
        return min(ends, default=None)

    def __call__(self, event: Event) -> None:
        """Take an event into account."""
        match event:
            case types.RunStarted():
                self.header = event
            case types.EngineReady():
                self.engines[event.engine] = "ready"
            case types.EngineUnavailable():
                self.engines[event.engine] = "not available"
            case types.Progress():
                self._step(event)
            case types.HistoryEnded():
                self._end_history(event)
            case FindingFound():
                key = (event.fingerprint, event.engine)
                if event.fresh or key not in self._sightings:
                    self._sightings[key] = event
            case types.FindingTriaged():
                self._triaged[event.sighting, event.engine] = event
                self.doing = ""
            case types.Triaging():
                self.doing = doing_words(event)
            case types.EngineLost():
                self.lost += 1
            case _:
                return

    def _step(self, event: types.Progress) -> None:
        if self._first_step is None:
            self._first_step = self._clock()
        self.steps += 1
        self._done[event.dear] += 1
        self.suite = event.suite
        key = (event.suite, event.chunk, event.history)
        self._steps_by_history[key] = self._steps_by_history.get(key, 0) + 1
        self.operations.update(event.engines)

    def _end_history(self, event: types.HistoryEnded) -> None:
        """Take the exact count of a history's steps, in place of the steps that were announced one by one."""
        if self._first_step is None:
            self._first_step = self._clock()
        announced = self._steps_by_history.pop((event.suite, event.chunk, event.history), 0)
        self.steps += event.steps - announced
        self._done[event.dear] += event.steps - announced
        self._not_played[event.dear] += max(self._length(event.suite) - event.steps, 0)
        self.suite = event.suite
        self.histories += 1

    def _length(self, suite: str) -> int:
        """The steps of one history of a suite."""
        plans = [planned for planned in self.header.plan if planned.suite == suite] if self.header else []
        return max((plan.steps // plan.histories for plan in plans if plan.histories), default=0)
