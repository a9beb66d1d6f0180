"""Merge the recordings of one run, or of several comparable runs, into results."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.events.types import RunStarted
from conformance.reporting.aggregation import ResultAggregator
from conformance.reporting.comparable_runs import UnlikeRuns
from conformance.reporting.event_log import Recording
from conformance.reporting.results import Results


def merge(recordings: Sequence[Recording]) -> Results:
    """The results of all recordings together. Seeds, machines and engine versions may differ. Raises UnlikeRuns."""
    first = recordings[0]
    aggregator = ResultAggregator(first.path.parent)
    for recording in recordings:
        _check_alike(first, recording)
        aggregator.enter_run(recording.path.parent)
        for event in recording.events:
            aggregator(event)
        for problem in recording.problems:
            aggregator.add_problem(str(problem))
    return aggregator.results()


def _check_alike(one: Recording, other: Recording) -> None:
    for name in ("harness", "profile", "storage"):
        ours, theirs = _text(one.header, name), _text(other.header, name)
        if ours != theirs:
            message = (
                f"runs that can't be merged: {name} is {ours} in {one.path} and {theirs} in {other.path}"
            )
            raise UnlikeRuns(message)


def _text(header: RunStarted, name: str) -> str:
    return str(getattr(header, name))
