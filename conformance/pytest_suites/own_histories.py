"""Histories that a test of one's own writes, step by step, each judged by the model as a run judges it.

The test gets a `HistoryTable`. Whatever it has the engine do passes all checks of a lockstep history, the reads that a
run adds included. What breaks a requirement is reproduced, explained by the known causes, and kept as a finding.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from conformance.events.types import EngineReady, EngineUnavailable, Event, FindingFound, HarnessFault
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession, execute_step
from conformance.findings.recorder import FindingRecorder
from conformance.generation.table_shapes import shape_made_by
from conformance.histories import Chunk, Step
from conformance.pytest_suites.failures import finding_lines
from conformance.pytest_suites.planned import CampaignEngine
from conformance.reporting.aggregation import ResultAggregator
from conformance.reporting.finding_groups import says
from conformance.reporting.requirement_verdicts import fails_run
from conformance.reporting.results import FindingResult
from conformance.reporting.run_folder import new_run_folder
from conformance.runner.context import open_suite_context
from conformance.runner.triage_jobs import triage_jobs
from conformance.suites.context import SuiteContext
from conformance.suites.generated import GeneratedHistories
from conformance.suites.kept_histories import WITHOUT_CLAIM
from delta_adapters.deviations import all_causes
from delta_adapters.registry import parse_engine
from delta_models.operations import Interleave, Operation
from delta_models.outcomes import NoChange, Outcome
from delta_models.values import Row

SHRINKING = 20.0  # seconds for making the history of one violation small


class OwnEngines:
    """The engines of a session, each started when a test first needs it, and the folder of what the tests find."""

    def __init__(
        self, engines: Sequence[CampaignEngine], out: Path, deviations: Path | None, known: frozenset[str]
    ) -> None:
        """Start nothing yet. Raises CannotWrite if no folder can be made."""
        self.folder = new_run_folder(out)
        self.ready: dict[str, EngineReady] = {}
        self._problems: dict[str, str] = {}
        self._listener: HistoryTable | None = None
        self._tables = 0
        causes = all_causes(deviations)
        with ExitStack() as stack:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-")))
            self.context = stack.enter_context(
                open_suite_context(
                    [parse_engine(engine.spec) for engine in engines],
                    FindingRecorder(self.folder, causes),
                    self._emit,
                    work,
                    is_over=lambda: False,
                    start_heavy=False,
                )
            )
            self.triage = stack.enter_context(triage_jobs(self.context, self.folder, work, causes, known))
            self.work = work
            self._stack = stack.pop_all()

    def table(self, engine: CampaignEngine) -> HistoryTable:
        """A new table of an engine. It fails the test if the engine can't be tested."""
        self._tables += 1
        running = self.context.engine_pool.get(engine.spec)
        if running is None:
            pytest.fail(
                f"{engine.name} can't be tested: {self._problems.get(engine.spec, '')}", pytrace=False
            )
        table = HistoryTable(self, engine, self._tables)
        self._listener = table
        return table

    def close(self) -> None:
        """End the engines. The folder stays if there are findings in it."""
        self._stack.close()
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _emit(self, event: Event) -> None:
        if isinstance(event, EngineReady):
            self.ready[event.spec] = event
        elif isinstance(event, EngineUnavailable):
            self._problems.setdefault(event.engine, f"{event.why}. {event.cure}")
        if self._listener is not None:
            self._listener.take(event)


class HistoryTable:
    """A table of one engine, which does what the test says, step by step. It is judged after each step.

        table.play(Create(schema))
        table.play(Append(rows))
        assert sorted(table.rows) == ...

    A step that breaks a requirement fails the test. Where a known cause explains it, or the engine does not claim the
    step, the test is skipped with the reason.
    """

    def __init__(self, engines: OwnEngines, engine: CampaignEngine, number: int) -> None:
        chunk = Chunk("lockstep", "own", number, 0, histories=1, heavy=(0,), engines=(engine.spec,))
        self._engines = engines
        self._spec = engine.spec
        self._player = _Player(engines.context, chunk, engines.work / f"own-{number}")
        self._aggregator = ResultAggregator(engines.folder)
        self._aggregator(engines.ready[engine.spec])
        self._sightings: dict[str, bool] = {}  # whether triage has seen it
        self._faults: list[HarnessFault] = []
        self._begun = False

    @property
    def engine(self) -> str:
        """The engine with its version."""
        return self._engines.ready[self._spec].engine

    @property
    def path(self) -> Path:
        """Where the table is."""
        return self._session.folder

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows that the table must have now, by the model; the engine has them, or the test would have failed."""
        return self._session.model_history.table.rows

    def play(self, operation: Operation) -> Outcome:
        """Have the engine do an operation or answer a query, judge it, and return how it ended: committed, refused."""
        __tracebackhide__ = True
        if isinstance(operation, (Interleave, *WITHOUT_CLAIM)):
            message = f"{type(operation).__name__} is for the suites crashes and races; a campaign plays them"
            raise TypeError(message)
        engine = self._engines.context.engine_pool.get(self._spec)
        unclaimed = engine.capabilities.covers(operation) if engine is not None else None
        if unclaimed is not None:
            pytest.skip(f"{self.engine} {unclaimed}")
        if not self._begun:
            self._begun = True
            self._player.begin(0, shape_made_by(operation))
            self._judge()
        self._player.play(Step(operation))
        self._player.raise_failure()
        self._judge()
        return self._player.outcome

    def take(self, event: Event) -> None:
        """Take an event of this history."""
        self._aggregator(event)
        if isinstance(event, FindingFound) and event.promised:
            self._sightings.setdefault(event.fingerprint, False)
        elif isinstance(event, HarnessFault):
            self._faults.append(event)

    def close(self) -> None:
        """End the history and clear the table away."""
        if self._begun:
            self._player.end()

    @property
    def _session(self) -> TableSession:
        if not self._player.sessions:
            message = "there is no table yet: play a Create first"
            raise LookupError(message)
        return self._player.sessions[0]

    def _judge(self) -> None:
        """Fail or skip the test by what the last step showed."""
        __tracebackhide__ = True
        self._triage()
        if self._faults:
            pytest.fail(
                "\n".join(
                    f"the harness is at fault: {fault.message}\n{fault.detail}" for fault in self._faults
                ),
                pytrace=False,
            )
        results = self._aggregator.results(0.0)
        if failing := [finding for finding in results.findings if fails_run(finding, results)]:
            broken = ", ".join(dict.fromkeys(finding.event.requirement for finding in failing))
            lines = [f"{self.engine} breaks {broken}", *finding_lines(failing)]
            pytest.fail("\n".join(lines), pytrace=False)
        if not self._player.sessions:
            pytest.skip(f"{self.engine} does not claim such a table: {self._player.why_not}")
        if not self._session.plays:
            pytest.skip(self._why_ended(results.findings))

    def _triage(self) -> None:
        """Explain what is new, and make its history small if nothing explains it."""
        new = [sighting for sighting, seen in self._sightings.items() if not seen]
        for sighting in new:
            self._sightings[sighting] = True
            explained = self._engines.triage.explain(sighting)
            if explained is not None and explained.state == "unexplained" and explained.reproduced:
                self._engines.triage.shrink(sighting, time.monotonic() + SHRINKING)
        if new:
            self._player.reopen()

    def _why_ended(self, findings: Iterable[FindingResult]) -> str:
        """Why the history can't go on, though nothing failed."""
        if known := [finding for finding in findings if finding.event.known]:
            causes = (f"{finding.event.cause or 'in the baseline'}: {says(finding)}" for finding in known)
            return f"known: {'; '.join(dict.fromkeys(causes))}"
        left = [session.left for session in self._session.engine_sessions if session.left]
        return f"{self.engine} can't go on: {self._session.left or '; '.join(left)}"


class _Player(GeneratedHistories):
    """Plays the steps of a test by the rules of the suite `lockstep`."""

    def __init__(self, context: SuiteContext, chunk: Chunk, work: Path) -> None:
        super().__init__(context, chunk, work)
        self.why_not = ""
        self._results: list[StepResult] = []

    @property
    def sessions(self) -> list[TableSession]:
        """The table, if the engine claims it."""
        return self._table_sessions

    @property
    def outcome(self) -> Outcome:
        """How the last operation ended, whatever was read around it; a query changes nothing."""
        asked = self.history_recorder.steps[-1].operation
        own = (result.observation for result in self._results if result.observation.operation == asked)
        return next((observation.outcome for observation in own), NoChange())

    def reopen(self) -> None:
        """Have the engine open the table again, because triage has had it play at others."""
        for table_session in self.sessions:
            if table_session.plays:
                self.history_recorder.take(table_session, table_session.open_all())

    def execute(
        self, history_recorder: HistoryRecorder, table_sessions: list[TableSession], step: Step
    ) -> None:
        """Execute a step, record it, and keep its results."""
        self._results = []

        def take(table_session: TableSession, step_results: Iterable[StepResult]) -> None:
            results = list(step_results)
            self._results += results
            history_recorder.take(table_session, results)

        execute_step(table_sessions, step, take)

    def why_not_asked(self, engine: Any, shape: Any) -> str | None:
        """Why the engine does not claim the table; None if it does."""
        reason = super().why_not_asked(engine, shape)
        self.why_not = reason or self.why_not
        return reason
