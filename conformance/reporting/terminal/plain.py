"""Progress as plain lines, for logs and pipes: a line for each event, and how far the run is at intervals."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from conformance.events import types
from conformance.events.types import Event, FindingFound
from conformance.reporting.terminal.progress import Progress, doing_words
from conformance.reporting.text import harmless, one_line, plural, seconds


class PlainTerminal:
    """A listener that writes lines."""

    def __init__(
        self, out: TextIO, *, interval: float = 10.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._out = out
        self._interval = interval
        self._clock = clock
        self._last_line = clock()
        self._progress = Progress(clock)
        self._shown: set[tuple[str, str, str]] = set()

    def __call__(self, event: Event) -> None:
        """Write the lines of the event, if it has any."""
        self._progress(event)
        for line in event_lines(event, self._shown):
            self._say(line)
        if (
            isinstance(event, types.Progress | types.HistoryEnded)
            and self._clock() - self._last_line >= self._interval
        ):
            self._say(progress_line(self._progress))

    def close(self) -> None:
        """Do nothing, since nothing is open."""

    def _say(self, line: str) -> None:
        self._last_line = self._clock()
        self._out.write(f"{line}\n")
        self._out.flush()


def progress_line(progress: Progress) -> str:
    """How far the run is, as a line."""
    of_plan = f" of {progress.planned:,}" if progress.steps <= progress.planned else ""
    parts = [
        f"{progress.steps:,}{of_plan} steps",
        plural(progress.histories, "history", "histories"),
        findings_so_far(progress),
    ]
    if progress.doing:
        parts.append(progress.doing)
    if progress.left is not None:
        parts.append(f"about {seconds(progress.left)} left")
    return f"[{seconds(progress.elapsed)}] {', '.join(parts)}"


def findings_so_far(progress: Progress) -> str:
    """How many findings there are: new ones, known ones, and those that triage has not come to."""
    parts = [plural(progress.fresh, "finding")]
    parts += [f"{progress.known} known"] if progress.known else []
    parts += [f"{progress.waiting} to explain"] if progress.waiting else []
    return parts[0] if len(parts) == 1 else f"{parts[0]} (and {', '.join(parts[1:])})"


def event_lines(event: Event, shown: set[tuple[str, str, str]]) -> list[str]:
    """The lines of an event. A finding of one kind is shown once; `shown` remembers which were."""
    match event:
        case types.RunStarted():
            return [f"conformance {event.harness}, profile {event.profile}, seed {event.seed}"]
        case types.EngineReady():
            return [f"{event.engine} is ready after {seconds(event.seconds)}"]
        case types.EngineUnavailable() if not event.asked:  # else the last lines of the run say it
            lines = [f"{event.engine} can't run here: {one_line(event.why)}"]
            return [*lines, f"  to mend it: {harmless(event.cure)}"] if event.cure else lines
        case FindingFound() if not (event.fresh and event.state):  # the others wait for triage
            return [finding_line(event)] if _is_first(event, event.kind, shown) else []
        case types.FindingTriaged() if _is_first(event, event.state, shown):
            return [triaged_line(event)]
        case types.FindingTriaged() if event.shrunk and event.cause is None:
            return [f"{event.sighting} is finding {event.fingerprint} too"]
        case types.Triaging(doing="shrink") if event.number:  # its beginning
            return [doing_words(event)]
        case types.EngineLost():
            after = f" in {event.operation}" if event.operation else ""
            return [
                f"{event.engine} {one_line(event.how)}{after}"
                + ("; started again" if event.restarted else "")
                + (f", {event.times:,} times" if event.times > 1 else "")
            ]
        case types.HarnessFault():
            return [f"the harness is at fault: {one_line(event.message)}"]
        case types.Note():
            return [f"note: {one_line(event.message)}"]
        case types.BudgetSpent():
            return [f"the budget was spent after {seconds(event.seconds)}"]
        case types.Interrupted():
            return ["stopping: the engines are being ended and the report is written"]
    return []


def _is_first(
    event: FindingFound | types.FindingTriaged, kind: str, shown: set[tuple[str, str, str]]
) -> bool:
    key = (event.fingerprint, event.engine, kind)
    first = key not in shown
    shown.add(key)
    return first


def triaged_line(event: types.FindingTriaged) -> str:
    """What triage said of a sighting, as a line."""
    if event.cause is not None:
        return f"known cause {event.cause}: {event.engine} {event.requirement}: {one_line(event.summary)}"
    steps = f", {plural(event.minimal_steps, 'step')}" if event.minimal_steps is not None else ""
    kind = "known, in the baseline" if event.state == "known" else f"{event.state} {event.strength}"
    return f"finding {event.fingerprint} ({kind}{steps}): {event.engine} {event.requirement}: {one_line(event.detail)}"


def finding_line(event: FindingFound) -> str:
    """A finding as a line."""
    return f"finding {event.fingerprint} ({event.kind}): {event.engine} {event.requirement}: {one_line(event.detail)}"
