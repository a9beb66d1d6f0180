"""Recordings into results: of one run, or of several that are alike enough to be one."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.events.types import RunStarted
from conformance.reporting.aggregation import ResultAggregator
from conformance.reporting.event_log import Recording
from conformance.reporting.results import Results


class UnlikeRuns(ValueError):
    """The runs differ in what their claims mean. The message says in what."""


def merge(recordings: Sequence[Recording]) -> Results:
    """The results of all recordings together. Seed, machine and engine versions may differ."""
    first = recordings[0]
    ledger = ResultAggregator(first.path.parent)
    for recording in recordings:
        _check_alike(first, recording)
        ledger.at(recording.path.parent)
        for event in recording.events:
            ledger(event)
        for problem in recording.problems:
            ledger.missing(str(problem))
    return ledger.results()


def _check_alike(one: Recording, other: Recording) -> None:
    for name in ("harness", "profile", "storage"):
        ours, theirs = _say(one.header, name), _say(other.header, name)
        if ours != theirs:
            message = (
                f"runs that can't be merged: {name} is {ours} in {one.path} and {theirs} in {other.path}"
            )
            raise UnlikeRuns(message)


def _say(header: RunStarted, name: str) -> str:
    return str(getattr(header, name))
