"""One run on the record: its bus, its event file, and at its end its verdict and reports."""

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
    """Listens to a run and writes into its folder. `bus` is what the run emits to."""

    def __init__(self, folder: Path, *listeners: Listener) -> None:
        self.folder = folder
        self._began = time.monotonic()
        self._ledger = ResultAggregator(folder)
        self._log = EventLog(folder / NAME)
        self.bus = Bus(self._log, self._ledger, *listeners)

    @property
    def began(self) -> bool:
        """Whether the run got as far as its header."""
        return self._ledger.heard

    def finish(self) -> Results:
        """End the record with its footer, judge the run and write its reports. Once, after the run's last event."""
        seconds = time.monotonic() - self._began
        outcome = self._ledger.results(seconds).outcome
        try:
            self.bus.emit(RunEnded(outcome.verdict, outcome.exit, round(seconds, 3)))
        finally:
            self._log.close()
        results = self._ledger.results()
        write_all(results, self.folder)
        point_latest(self.folder)
        return results
