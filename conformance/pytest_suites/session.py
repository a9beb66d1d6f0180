"""A run inside pytest: the engines of the session, its record, and the report of each chunk."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from conformance.engine_pool import available_engines, runs_on_jvm
from conformance.events.types import (
    EngineLost,
    EngineReady,
    EngineUnavailable,
    Event,
    FindingFound,
    FindingTriaged,
    HarnessFault,
    Note,
)
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.options import RunOptions
from conformance.planning.plan import Plan, engine_specs
from conformance.reporting.exit_status import REFERENCE_ENGINE, is_strict
from conformance.reporting.recorder import Recorder
from conformance.reporting.results import Results
from conformance.reporting.text import plural
from conformance.runner.chunk import play_chunk
from conformance.runner.context import open_suite_context
from conformance.runner.header import run_header
from conformance.runner.losses import LossSummary
from conformance.runner.reserve import Reserve
from conformance.runner.triage_jobs import triage_jobs
from delta_adapters.deviations import all_causes


@dataclass(slots=True)
class ChunkReport:
    """What one chunk showed: its sightings, those that fail a run, and the faults of the harness itself."""

    folder: Path
    sightings: dict[str, FindingFound] = field(default_factory=dict)
    findings: dict[str, FindingTriaged] = field(default_factory=dict)
    faults: list[HarnessFault] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        """Keep the event if it counts."""
        if isinstance(event, FindingFound) and event.fresh:
            self.sightings.setdefault(event.fingerprint, event)
        elif isinstance(event, HarnessFault):
            self.faults.append(event)

    def check(self) -> None:
        """Fail the test of the chunk if a finding fails a run or the harness is at fault. One message says all."""
        __tracebackhide__ = True
        lines = [f"the harness is at fault: {fault.message}\n{fault.detail}" for fault in self.faults]
        for finding in self.findings.values():
            lines += [
                (
                    f"{finding.engine} breaks {finding.requirement} ({finding.state} {finding.strength}, "
                    f"{plural(finding.minimal_steps or finding.steps, 'step')}): {finding.detail}"
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


def fails_a_run(sighting: FindingFound, triaged: FindingTriaged, *, strict: bool) -> bool:
    """Whether a sighting fails a run: it is not known, and the engine has to keep the requirement."""
    if triaged.state == "known":
        return False
    undecided = triaged.state == "unexplained" and sighting.candidates  # a known cause may explain it
    wrong_rule = sighting.engine == REFERENCE_ENGINE and sighting.strength == "reference" and not undecided
    return "must" in {sighting.strength, triaged.strength} or strict or bool(wrong_rule)


def untriaged(sighting: FindingFound) -> FindingTriaged:
    """A sighting that triage could say nothing of."""
    return FindingTriaged(
        sighting.fingerprint, sighting.fingerprint, "unexplained", sighting.engine, sighting.requirement,
        sighting.strength, sighting.detail, sighting.folder, steps=sighting.steps, step=sighting.step,
    )  # fmt: skip


class PytestRun:
    """One run inside pytest, from its header to its reports; `close` ends it."""

    def __init__(self, options: RunOptions, plan: Plan) -> None:
        """Start the engines. Raises EngineUnusable if one that the user named can't be tested."""
        self._options = options
        self._recorder = Recorder(options.folder)
        self._chunk_report: ChunkReport | None = None
        self._playing = False
        self._losses = LossSummary()
        self._triaged: dict[str, FindingTriaged] = {}
        self._strict: set[str] = set()
        self._shrinking_left = plan.profile.shrinking
        self._recorder.bus.add(self._pass_on)
        emit = self._recorder.bus.emit
        specs = engine_specs(options)
        self._reserve = Reserve(plan, specs)
        self._recorder.bus.add(self._reserve.take)
        emit(run_header(options, specs, plan))
        for note in plan.notes:
            emit(Note(note))
        available = available_engines(specs, emit, asked=bool(options.engines))
        if options.engines and not available:
            raise EngineUnusable(self._recorder.finish())
        asked = tuple(map(str, available)) if options.engines else ()
        causes = all_causes(options.deviations)
        with ExitStack() as stack:
            self._work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-")))
            self._context = stack.enter_context(
                open_suite_context(
                    available,
                    FindingRecorder(options.folder, causes),
                    self._emit_engine,
                    self._work,
                    is_over=lambda: False,
                    start_heavy=any(map(runs_on_jvm, available)) and bool(asked),
                    kept=plan.kept,
                    asked=asked,
                )
            )
            self._triage = stack.enter_context(
                triage_jobs(self._context, options.folder, self._work, causes, options.known)
            )
            self._stack = stack.pop_all()
        self._playing = True
        if any(self._context.engine_pool.engines[name].host is None for name in asked):
            raise EngineUnusable(self.close())

    def play(self, chunk: Chunk) -> ChunkReport:
        """Play a chunk with all engines of the session, and triage what it shows."""
        report = ChunkReport(self._options.folder)
        self._play([chunk], report)
        return report

    def play_reserve(self) -> ChunkReport:
        """Play chunks of the reserve until there is evidence for all of the core, or they are used up."""
        report = ChunkReport(self._options.folder)
        self._play(self._needed_chunks(), report)
        return report

    def _needed_chunks(self) -> Iterator[Chunk]:
        while chunks := self._reserve.next_chunks():
            yield from chunks

    def _play(self, chunks: Iterable[Chunk], report: ChunkReport) -> None:
        self._chunk_report = report
        try:
            for chunk in chunks:
                play_chunk(self._context, chunk, self._work)
            for sighting in report.sightings.values():
                self._judge(report, sighting)
        finally:
            self._chunk_report = None

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

    def _judge(self, report: ChunkReport, sighting: FindingFound) -> None:
        """Triage a sighting once in the session. It fails the test of each chunk that shows it, if it fails a run."""
        triaged = self._triaged.get(sighting.fingerprint) or self._explained_and_shrunk(sighting)
        self._triaged[sighting.fingerprint] = triaged
        if fails_a_run(sighting, triaged, strict=sighting.engine in self._strict):
            report.findings.setdefault(triaged.fingerprint, triaged)

    def _explained_and_shrunk(self, sighting: FindingFound) -> FindingTriaged:
        explained = self._triage.explain(sighting.fingerprint)
        if explained is None:
            return untriaged(sighting)
        if explained.state != "unexplained" or not explained.reproduced or self._shrinking_left <= 0:
            return explained
        began = time.monotonic()
        shrunk = self._triage.shrink(sighting.fingerprint, began + self._shrinking_left)
        self._shrinking_left -= time.monotonic() - began
        return shrunk or explained

    def _pass_on(self, event: Event) -> None:
        if isinstance(event, EngineReady) and is_strict(event.compatible_with):
            self._strict.add(event.engine)
        if self._chunk_report is not None:
            self._chunk_report(event)
