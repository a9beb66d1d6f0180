"""A run inside pytest: the engines of the session, its record, and the report of each chunk."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conformance.engine_pool import available_engines
from conformance.events.types import Event, FindingFound, HarnessFault
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.options import RunOptions
from conformance.planning.plan import Plan, engine_specs
from conformance.reporting.recorder import Recorder
from conformance.reporting.results import Results
from conformance.runner.chunk import play_chunk
from conformance.runner.context import open_suite_context
from conformance.runner.header import run_header
from conformance.runner.reserve import Reserve


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


class PytestRun:
    """One run inside pytest, from its header to its reports; `close` ends it."""

    def __init__(self, options: RunOptions, plan: Plan) -> None:
        self._options = options
        self._recorder = Recorder(options.folder)
        self._chunk_report: ChunkReport | None = None
        self._recorder.bus.add(self._pass_on)
        emit = self._recorder.bus.emit
        specs = engine_specs(options)
        self._reserve = Reserve(plan, specs)
        self._recorder.bus.add(self._reserve.take)
        emit(run_header(options, specs, plan))
        available = available_engines(specs, emit)
        with ExitStack() as stack:
            self._work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-")))
            self._context = stack.enter_context(
                open_suite_context(
                    available,
                    FindingRecorder(options.folder, options.known),
                    emit,
                    self._work,
                    is_over=lambda: False,
                    start_heavy=False,
                )
            )
            self._stack = stack.pop_all()

    def play(self, chunk: Chunk) -> ChunkReport:
        """Play a chunk with all engines of the session."""
        return self._play([chunk])

    def play_reserve(self) -> ChunkReport:
        """Play chunks of the reserve until there is evidence for all of the core, or they are used up."""
        report = ChunkReport(self._options.folder)
        while chunks := self._reserve.next_chunks():
            report = self._play(chunks, report)
        return report

    def _play(self, chunks: Sequence[Chunk], report: ChunkReport | None = None) -> ChunkReport:
        self._chunk_report = report = report or ChunkReport(self._options.folder)
        try:
            for chunk in chunks:
                play_chunk(self._context, chunk, self._work)
        finally:
            self._chunk_report = None
        return report

    def close(self) -> Results:
        """Stop the engines, judge the run and write its reports."""
        self._stack.close()
        return self._recorder.finish()

    def _pass_on(self, event: Event) -> None:
        if self._chunk_report is not None:
            self._chunk_report(event)
