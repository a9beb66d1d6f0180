"""The phases of a step in which engines answer queries, until the answers are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from conformance.checks import PendingChecks, run_checks
from conformance.execution.engine_session import (
    ANSWERS,
    LIVES,
    SPEAKS,
    EngineSession,
    HostFailure,
    PendingQuery,
    collect_all,
    submit_query_to_all,
)
from conformance.execution.log_tracker import LogTracker
from conformance.execution.read_results import kind_of, observe_answers
from conformance.execution.read_schedule import PlannedRead, ReadSchedule, plan_reads_after
from conformance.execution.step_result import StepResult
from conformance.execution.stream_readers import StreamReaders
from conformance.observations.observation import Observation, ReadObservation
from delta_adapters.contract import Query
from delta_adapters.host_client import ReadReply
from delta_models.operations import Operation, Read, Reopen
from delta_models.table import AllowedOutcome, Expectation, ModelHistory


class PlayedTable(Protocol):
    """What the phases of a step need of a table session."""

    engine_sessions: list[EngineSession]
    readers: Sequence[EngineSession]
    model_history: ModelHistory
    log: LogTracker
    stream_readers: StreamReaders
    read_schedule: ReadSchedule | None
    latest_reads: dict[str, ReadObservation]
    unpromised: frozenset[str]
    left: str | None

    def submit_operation(
        self,
        operation: Operation,
        candidates: Sequence[EngineSession],
        *,
        performed_by: str | None = None,
        reads_before: bool = True,
    ) -> PendingStep:
        """Send an operation to the first candidate that claims it."""

    def pass_step(self, operation: Operation) -> CompletedStep:
        """Let the model take a step that adds nothing to the log."""

    def resolve(self, operation: Operation) -> Operation | None:
        """The operation with states as versions of this table."""

    def observe(
        self,
        operation: Operation,
        expectation: Expectation,
        *,
        branch: AllowedOutcome | None = None,
        step: int | None = None,
    ) -> Observation:
        """What a check may look at, with the table as it is now."""

    def judge_failure(
        self,
        engine_session: EngineSession,
        failure: HostFailure,
        operation: Operation,
        performed_by: str | None = None,
    ) -> StepResult:
        """The result for an engine whose host failed."""

    def judge_violations(self, step_result: StepResult) -> StepResult:
        """The result with new violations only."""

    def new_address(self) -> Path:
        """Another path of the table."""


class PendingStep(Protocol):
    """A phase of a step that was submitted at one table."""

    def collect(self) -> Collected:
        """Wait for what engines were sent last, and send them what comes next."""


Collected = tuple[list[StepResult], PendingStep | None]
"""What was judged in a phase of a step, and the phase that follows; None once the step is complete."""


@dataclass(frozen=True, slots=True)
class CompletedStep:
    """A step that has nothing left to wait for."""

    results: Sequence[StepResult] = ()

    def collect(self) -> Collected:
        """What was judged when the step was submitted."""
        return list(self.results), None


@dataclass(slots=True)
class PendingReads:
    """Queries that engines answer one after another, and are judged by: `answers` are those to the first of `reads`.

    `writer` performed the step; `checks` have judged the log for it. `known` are answers to compare the new ones with.
    """

    table_session: PlayedTable
    observation: Observation
    reads: list[PlannedRead]
    answers: dict[str, PendingQuery]
    writer: EngineSession | None = None
    checks: PendingChecks | None = None
    known: Mapping[str, ReadObservation] = field(default_factory=dict)
    performed_by: str | None = None
    results: list[StepResult] = field(default_factory=list)
    _replies: list[tuple[str, Query, dict[str, ReadReply]]] = field(default_factory=list)

    def collect(self) -> Collected:
        """Wait for the answers to one query, and send the next; after the last one, judge all answers."""
        table = self.table_session
        replies, failures = collect_all(self.answers)
        results, self.results = self.results, []
        results += [
            table.judge_failure(*failure, self.observation.operation, self.performed_by)
            for failure in failures
        ]
        read = self.reads.pop(0)
        self._replies.append((read.kind, read.query, replies))
        if self.reads and table.left is None:
            read = self.reads[0]
            self.answers = submit_query_to_all(table.readers, read.resolved, table.log.snapshot, read.without)
            return results, self
        observed = observe_answers(
            self._replies, self.observation, table.model_history, table.stream_readers.observe
        )
        for engine, answers in observed.items():
            latest = [answer for answer in answers if answer.operation == Read()]
            table.latest_reads.update((engine, answer) for answer in latest)
            if engine in self.known:
                answers.append(replace(self.known[engine], again=True))
        for engine_session in table.engine_sessions:
            wrote = engine_session is self.writer
            if not wrote and engine_session.engine not in observed:
                continue
            reads = tuple(observed.get(engine_session.engine, ()))
            observation = replace(self.observation, engine=engine_session.engine, looks=reads, wrote=wrote)
            report = run_checks(observation, pending=self.checks if wrote else None)
            step_result = StepResult(
                engine_session,
                observation,
                report.violations,
                report.evidence | dict.fromkeys((LIVES, ANSWERS, SPEAKS), len(reads) + wrote),
                report.faults,
                self.performed_by,
                engine_session.engine not in table.unpromised,
            )
            results.append(table.judge_violations(step_result) if report.violations else step_result)
        return results, None


@dataclass(frozen=True, slots=True)
class PendingReadsBefore:
    """The reads before an operation, which is sent to its performer afterwards."""

    reads: PendingReads
    operation: Operation
    performer: EngineSession
    performed_by: str | None

    def collect(self) -> Collected:
        """Collect the reads; then send the operation, unless its engine takes no more part after the reads."""
        results, pending_reads = self.reads.collect()
        if pending_reads is not None:
            return results, self
        if self.performer.left is not None:
            return results, None
        submitted = self.reads.table_session.submit_operation(
            self.operation, [self.performer], performed_by=self.performed_by, reads_before=False
        )
        return results, submitted


@dataclass(frozen=True, slots=True)
class PendingQueryStep:
    """A query that is a step of its own."""

    reads: PendingReads
    query: Query

    def collect(self) -> Collected:
        """Collect the answers; then the model takes the step."""
        results, pending_reads = self.reads.collect()
        if pending_reads is not None:
            return results, self
        self.reads.table_session.pass_step(self.query)
        return results, None


def submit_query(
    table_session: PlayedTable, query: Query, performed_by: str | None = None
) -> PendingReads | None:
    """Send a query to all engines; returns None if it names a state that this table never had.

    A filtered read is followed by the unfiltered rows that it can be compared with, unless they are known.
    """
    snapshot = table_session.log.snapshot
    resolved = table_session.resolve(query)
    if not isinstance(resolved, Query) or (snapshot is None and not isinstance(query, Read)):
        return None
    reads = [PlannedRead(kind_of(query), query, resolved)]
    known: Mapping[str, ReadObservation] = {}
    if isinstance(query, Read) and isinstance(resolved, Read):
        plain = replace(query, where=None, columns=None)
        known = dict(table_session.latest_reads) if plain == Read() else {}
        if plain == query:
            reads = [PlannedRead(kind_of(query), query, resolved, tuple(known))]
        else:
            unfiltered = replace(resolved, where=None, columns=None)
            reads.append(PlannedRead(kind_of(plain), plain, unfiltered, tuple(known)))
    observation = table_session.observe(query, table_session.model_history.expect(query))
    answers = submit_query_to_all(table_session.readers, resolved, snapshot, reads[0].without)
    return PendingReads(table_session, observation, reads, answers, known=known, performed_by=performed_by)


def submit_reopen(table_session: PlayedTable, reopen: Reopen) -> PendingReads:
    """Have every engine open the table through a new link, cold, and read it."""
    model_history = table_session.model_history
    step, expectation = model_history.step, model_history.expect(reopen)
    failures = [
        table_session.judge_failure(engine_session, failure, reopen)
        for engine_session in table_session.engine_sessions
        if engine_session.plays and (failure := engine_session.open(table_session.new_address())) is not None
    ]
    answers = submit_query_to_all(table_session.readers, Read(), table_session.log.snapshot)
    table_session.pass_step(reopen)
    observation = table_session.observe(reopen, expectation, branch=expectation.ordinary, step=step)
    extra = plan_reads_after(table_session.read_schedule, observation, table_session.model_history)
    reads = [PlannedRead("reopen", Read(), Read()), *extra]
    return PendingReads(table_session, observation, reads, answers, results=failures)
