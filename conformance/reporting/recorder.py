"""The recorder of a run: its bus and its event file, and at its end its verdict and its reports."""

from __future__ import annotations

import time
from pathlib import Path

from conformance.events.bus import Bus, Listener
from conformance.events.types import RunEnded
from conformance.reporting.aggregation import ResultAggregator
from conformance.reporting.event_log import NAME, EventLog
from conformance.reporting.formats import write_all
from conformance.reporting.results import Results
from conformance.reporting.run_folder import point_latest


class Recorder:
    """Records a run in its folder. The run emits its events on `bus`."""

    def __init__(self, folder: Path, *listeners: Listener) -> None:
        self.folder = folder
        self._began = time.monotonic()
        self._aggregator = ResultAggregator(folder)
        self._log = EventLog(folder / NAME)
        self.bus = Bus(self._log, self._aggregator, *listeners)

    @property
    def began(self) -> bool:
        """Whether the run emitted its header."""
        return self._aggregator.has_begun

    def finish(self) -> Results:
        """End the record, write the reports and return the results. Call it once, after the last event."""
        seconds = round(time.monotonic() - self._began, 3)
        results = self._aggregator.results(seconds)
        try:
            self.bus.emit(RunEnded(results.outcome.verdict, results.outcome.exit, seconds))
        finally:
            self._log.close()
        write_all(results, self.folder)
        point_latest(self.folder)
        return results
