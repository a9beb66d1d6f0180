"""Triage on the engines of one worker, or of tests in pytest: explains and shrinks sightings, and reports it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from conformance.events.types import FindingTriaged, HarnessFault, Triaging
from conformance.findings.storage import FindingError
from conformance.suites.context import SuiteContext
from conformance.triage.liveness import Liveness
from conformance.triage.replayer import Replayer
from conformance.triage.shrink import Progress
from conformance.triage.steps import Triage
from delta_adapters.deviations import Cause


class TriageJobs:
    """Does the triage of a run's sightings, one at a time. What it finds out is an event."""

    def __init__(self, context: SuiteContext, triage: Triage) -> None:
        self._context = context
        self._triage = triage

    def explain(self, sighting: str) -> FindingTriaged | None:
        """Reproduce and explain a sighting; None if the harness failed, which is reported."""
        return self._do(sighting, lambda: self._triage.explain(sighting))

    def shrink(self, sighting: str, deadline: float) -> FindingTriaged | None:
        """Make a sighting's history minimal; None if the harness failed, which is reported."""
        seen: list[int] = []  # the numbers of steps so far

        def shrunk_to(progress: Progress) -> None:
            if progress.steps not in seen:
                seen.append(progress.steps)
                self._context.emit(Triaging("shrink", sighting, steps=seen[0], left=progress.steps))

        return self._do(sighting, lambda: self._triage.shrink(sighting, deadline, shrunk_to))

    def _do(self, sighting: str, job: Callable[[], FindingTriaged]) -> FindingTriaged | None:
        began = time.monotonic()
        try:
            event = replace(job(), seconds=round(time.monotonic() - began, 3))
        except (FindingError, OSError):
            raise  # the run's folder fails, so going on is useless
        except Exception as error:  # noqa: BLE001 - whatever it is, it says nothing of the engines
            trace = "".join(traceback.format_exception(error))
            self._context.emit(
                HarnessFault(f"triage of sighting {sighting}: {type(error).__name__}: {error}", trace)
            )
            return None
        self._context.emit(event)
        return event


@contextmanager
def triage_jobs(
    context: SuiteContext, folder: Path, work: Path, causes: Sequence[Cause], known: frozenset[str]
) -> Iterator[TriageJobs]:
    """Triage on the engines of a suite context.

    Args:
        context: the engines, and where events go.
        folder: the folder of the run.
        work: a folder for tables.
        causes: those that may explain a sighting.
        known: the fingerprints of the baseline.
    """
    with Replayer.in_worker(context, work / "triage") as replayer:
        yield TriageJobs(context, Triage(folder, replayer, causes, Liveness(replayer=replayer), known))
