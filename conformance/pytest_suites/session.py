"""A run inside pytest: the engines of the session, its record, and the report of each chunk."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from conformance.engine_pool import available_engines, runs_on_jvm
from conformance.events.types import EngineLost, EngineUnavailable, Event, FindingFound, HarnessFault
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.options import RunOptions
from conformance.planning.plan import Plan, engine_specs
from conformance.reporting.recorder import Recorder
from conformance.reporting.results import Results
from conformance.runner.chunk import play_chunk
from conformance.runner.context import open_suite_context
from conformance.runner.header import run_header
from conformance.runner.losses import LossSummary


@dataclass(slots=True)
class ChunkReport:
    """What one chunk showed: its new findings, and the faults of the harness itself."""

    folder: Path
    findings: dict[str, FindingFound] = field(default_factory=dict)
    faults: list[HarnessFault] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        """Keep the event if it counts."""
        if isinstance(event, FindingFound) and event.fresh:
            self.findings.setdefault(event.fingerprint, event)
        elif isinstance(event, HarnessFault):
            self.faults.append(event)

    def check(self) -> None:
        """Fail the test of the chunk if there is a new finding or a fault, with all of them in one message."""
        __tracebackhide__ = True
        lines = [f"the harness is at fault: {fault.message}\n{fault.detail}" for fault in self.faults]
        for finding in self.findings.values():
            lines += [
                (
                    f"{finding.engine} breaks {finding.requirement} ({finding.strength}) at step "
                    f"{finding.step}: {finding.detail}"
                ),
                f"    conformance replay {self.folder / finding.folder}",
            ]
        if lines:
            pytest.fail("\n".join(lines), pytrace=False)


class EngineUnusable(Exception):
    """An engine that the user named can't be tested. Carries the results of the run, which has ended."""

    def __init__(self, results: Results) -> None:
        super().__init__("\n".join(results.outcome.reasons))
        self.results = results


class PytestRun:
    """One run inside pytest, from its header to its reports; `close` ends it."""

    def __init__(self, options: RunOptions, plan: Plan) -> None:
        """Start the engines. Raises EngineUnusable if one that the user named can't be tested."""
        self._options = options
        self._recorder = Recorder(options.folder)
        self._chunk_report: ChunkReport | None = None
        self._playing = False
        self._losses = LossSummary()
        self._recorder.bus.add(self._pass_on)
        emit = self._recorder.bus.emit
        specs = engine_specs(options)
        emit(run_header(options, specs, plan))
        available = available_engines(specs, emit, asked=bool(options.engines))
        if options.engines and not available:
            raise EngineUnusable(self._recorder.finish())
        asked = tuple(map(str, available)) if options.engines else ()
        with ExitStack() as stack:
            self._work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-")))
            self._context = stack.enter_context(
                open_suite_context(
                    available,
                    FindingRecorder(options.folder, options.known),
                    self._emit_engine,
                    self._work,
                    is_over=lambda: False,
                    start_heavy=any(map(runs_on_jvm, available)) and bool(asked),
                    asked=asked,
                )
            )
            self._stack = stack.pop_all()
        self._playing = True
        if any(self._context.engine_pool.engines[name].host is None for name in asked):
            raise EngineUnusable(self.close())

    def play(self, chunk: Chunk) -> ChunkReport:
        """Play a chunk with all engines of the session."""
        self._chunk_report = report = ChunkReport(self._options.folder)
        try:
            play_chunk(self._context, chunk, self._work)
        finally:
            self._chunk_report = None
        return report

    def close(self) -> Results:
        """Stop the engines, judge the run and write its reports."""
        self._stack.close()
        for loss in self._losses.rest():
            self._recorder.bus.emit(loss)
        return self._recorder.finish()

    def _emit_engine(self, event: Event) -> None:
        """Emit an event of the engines. The run ends if one that the user named can't run before anything is played."""
        if isinstance(event, EngineUnavailable) and self._options.engines and not self._playing:
            event = replace(event, asked=True)
        if not isinstance(event, EngineLost) or self._losses.is_first(event):
            self._recorder.bus.emit(event)

    def _pass_on(self, event: Event) -> None:
        if self._chunk_report is not None:
            self._chunk_report(event)
