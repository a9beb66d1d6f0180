"""A run inside pytest: the engines of the session, its recording, and what one chunk showed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conformance.engine_pool import EnginePool
from conformance.events.types import EngineUnavailable, Event, FindingFound, HarnessFault
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.options import RunOptions
from conformance.planning.plan import Chunk
from conformance.reporting.recorder import Recorder
from conformance.reporting.results import Results
from conformance.runner.chunk import play_chunk
from conformance.runner.coordinator import default_engines, header_of, plan_of
from conformance.suites.context import SuiteContext
from delta_adapters.registry import parse_engine, prepare


@dataclass(slots=True)
class ChunkReport:
    """What one chunk showed: the findings that nobody knew of, and the harness' own faults."""

    folder: Path
    findings: dict[str, FindingFound] = field(default_factory=dict)
    faults: list[HarnessFault] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        """Listen."""
        if isinstance(event, FindingFound) and event.fresh:
            self.findings.setdefault(event.fingerprint, event)
        elif isinstance(event, HarnessFault):
            self.faults.append(event)

    def check(self) -> None:
        """Fail the test that played the chunk, once and at its end."""
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
    """One run, from its header to its reports; `close` ends it."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._recorder = Recorder(options.folder)
        self._listener: Callable[[Event], None] | None = None
        self._recorder.bus.add(self._pass_on)
        specs = [parse_engine(engine) for engine in options.engines or default_engines()]
        self._recorder.bus.emit(header_of(options, specs, plan_of(options, specs)))
        able = []
        for spec in specs:
            found = prepare(spec)
            if found:
                able.append(spec)
            else:
                self._recorder.bus.emit(EngineUnavailable(str(spec), found.why, found.cure))
        self._work = tempfile.TemporaryDirectory(prefix="conformance-")
        work = Path(self._work.name)
        self._hosts = EnginePool(able, work / "hosts", self._recorder.bus.emit)
        self._hosts.start(on_jvm=False)
        finding_recorder = FindingRecorder(options.folder, options.known)
        self._arena = InstrumentedEngines({str(each): each for each in able}, work, self._recorder.bus.emit)
        self._dealer = SuiteContext(
            self._hosts, finding_recorder, self._recorder.bus.emit, lambda: False, self._arena
        )

    def play(self, chunk: Chunk) -> ChunkReport:
        """Play a chunk with all engines of the session."""
        shown = ChunkReport(self._options.folder)
        self._listener = shown
        try:
            play_chunk(self._dealer, chunk, Path(self._work.name))
        finally:
            self._listener = None
        return shown

    def close(self) -> Results:
        """Stop the engines, judge the run, write its reports."""
        self._arena.close()
        self._hosts.close()
        self._work.cleanup()
        return self._recorder.finish()

    def _pass_on(self, event: Event) -> None:
        if self._listener is not None:
            self._listener(event)
