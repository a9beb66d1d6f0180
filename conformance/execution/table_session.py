"""A table, and the engines that execute the steps of one history at it.

In *lockstep* each engine has a table of its own. On a *shared* table several engines write, and all of them read: the
step's slot says which engine performs it.

A step is executed in two phases, so that the engines of several tables work at the same time. `submit` sends the step
to the engines and does not wait. Each `collect` then waits for what the engines were sent last, and sends them what
comes next, until the step is complete:

    reads before an operation -> the operation -> the newest rows -> reads of older states and of filtered rows

The harness reads the log, and judges it, while the engines read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from conformance.checks import PendingChecks, run_checks, run_log_checks
from conformance.execution.engine_session import (
    ANSWERS,
    LIVES,
    SPEAKS,
    EngineSession,
    HostFailure,
    PendingAnswer,
    PendingQuery,
    collect_all,
    find_performer,
    submit_query_to_all,
)
from conformance.execution.input_files import READS_FILES, write_input_files
from conformance.execution.log_tracker import LogTracker
from conformance.execution.outcome_matching import match_outcome, with_generated_values
from conformance.execution.read_results import kind_of, observe_answers
from conformance.execution.read_schedule import PlannedRead, ReadSchedule
from conformance.execution.step_result import StepResult
from conformance.execution.stop_conditions import ViolationDeduplicator, violations_that_end_history
from conformance.execution.stream_readers import StreamReaders
from conformance.generation import SLOTS
from conformance.histories import Step
from conformance.observations.observation import FaultContext, Observation, RaceObservation, ReadObservation
from conformance.observations.version_resolution import resolve_states
from delta_adapters.contract import Query
from delta_adapters.host_client import ReadReply, Reply
from delta_models.log import Commit, Snapshot
from delta_models.operations import (
    QUERIES,
    AtState,
    AtTime,
    Checkpoint,
    CleanLog,
    CloneTo,
    CompactLog,
    Operation,
    Optimize,
    Purge,
    Read,
    ReadChanges,
    Reopen,
    SetZone,
    SwitchActor,
    Vacuum,
    ZOrder,
)  # fmt: skip
from delta_models.outcomes import NoChange, Outcome, Unknown
from delta_models.requirements import BY_ID
from delta_models.table import AllowedOutcome, Expectation, ModelHistory
from delta_models.wire_names import name_of

KEEPS_CONTENT = (Checkpoint, CleanLog, CloneTo, CompactLog, Optimize, Purge, SetZone, Vacuum, ZOrder)


class PendingStep(Protocol):
    """A step that was submitted at one table."""

    @property
    def table_session(self) -> TableSession:
        """The table."""

    @property
    def is_complete(self) -> bool:
        """Whether there is nothing left to collect."""

    def collect(self) -> list[StepResult]:
        """Wait for what engines were sent last, and send them what comes next; returns what was judged meanwhile."""


class TableSession:
    """A table with its engine sessions, the history of its model, and its log.

    `slots` are the engine sessions that the slots of a step are bound to, `readers` those that read at this step.
    `left` says why the history ended early, `not_asked` the same where no engine did anything wrong. `processes` says
    in how many of them the writers are. `unpromised` are the engines that promise nothing of what they are held to at
    this table. `annotate` adds to what is observed of an operation what only the suite knows.
    """

    def __init__(
        self,
        folder: Path,
        engine_sessions: Sequence[EngineSession],
        seed: int,
        tag: str,
        *,
        extra_reads: bool = True,
        log: LogTracker | None = None,
        slots: Sequence[EngineSession] | None = None,
        processes: str = "one",
        unpromised: Collection[str] = (),
        annotate: Callable[[Observation], Observation] | None = None,
    ) -> None:
        self.engine_sessions = list(engine_sessions)
        self.slots = list(engine_sessions if slots is None else slots)
        self.readers: Sequence[EngineSession] = self.engine_sessions
        self.model_history = ModelHistory()
        self.log = LogTracker(folder) if log is None else log
        self.stream_readers = StreamReaders()
        self.processes = processes
        self.tag = tag
        self.left: str | None = None
        self.not_asked: str | None = None
        self.unpromised = frozenset(unpromised)
        sparing = any(engine_session.dear for engine_session in engine_sessions)
        self.read_schedule = ReadSchedule(seed, sparing=sparing) if extra_reads else None
        self.latest_reads: dict[str, ReadObservation] = {}
        self._annotate = annotate
        self._violations = ViolationDeduplicator()
        self._addresses = 0

    @property
    def folder(self) -> Path:
        """Where the table is."""
        return self.log.folder

    @property
    def plays(self) -> bool:
        """Whether the history still goes on here."""
        return self.left is None and any(session.left is None for session in self.engine_sessions)

    def open_all(self) -> list[StepResult]:
        """Have every engine open the table; returns the violations of those that fail."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        return [
            self.judge_failure(engine_session, failure, Reopen())
            for engine_session in self.engine_sessions
            if (failure := engine_session.open(self.folder)) is not None
        ]

    def execute(self, step: Step) -> list[StepResult]:
        """Execute a step at this table alone."""
        results: list[StepResult] = []
        execute_step([self], step, lambda _, step_results: results.extend(step_results))
        return results

    def submit(self, step: Step) -> PendingStep:
        """Send a step to the engines, and do not wait for them."""
        operation = step.operation
        if isinstance(operation, Reopen):
            return self._submit_reopen(operation)
        if isinstance(operation, QUERIES):
            return self.submit_query(operation)
        if isinstance(operation, SwitchActor):
            return self.pass_step(operation)
        wanted = step.by or step.slot
        turn = SLOTS.index(wanted) % len(self.engine_sessions) if wanted else 0
        candidates = self.engine_sessions[turn:] + self.engine_sessions[:turn]
        return self.submit_operation(operation, candidates, performed_by=step.by)

    def stop(self, reason: str) -> None:
        """End the history at this table."""
        self.left = reason

    def stop_asking(self, reason: str) -> CompletedStep:
        """End the history at this table, where no engine did anything wrong."""
        self.left = self.not_asked = reason
        return CompletedStep(self)

    # The parts of a step, for the suites

    def pass_step(self, operation: Operation, branch: AllowedOutcome | None = None) -> CompletedStep:
        """Let the model take a step that adds nothing to the log."""
        step = self.model_history.step
        self.model_history = self.model_history.after(operation, branch)
        self.log.remember(step)
        return CompletedStep(self)

    def submit_query(self, query: Query) -> PendingStep:
        """Send a query that is a step of its own; the model takes the step once the query is judged."""
        pending = self._pending_query(query)
        return self.pass_step(query) if pending is None else _PendingQueryStep(pending, query)

    def submit_operation(
        self,
        operation: Operation,
        candidates: Sequence[EngineSession],
        *,
        performed_by: str | None = None,
        reads_before: bool = True,
    ) -> PendingStep:
        """Send an operation to the first candidate that claims it.

        `performed_by` is the slot that performed the step when it was recorded.
        """
        resolved = self.resolve(operation)
        performer = find_performer(candidates, operation, self.log.snapshot)
        if performer is None:
            return self.pass_unperformed(operation)
        if resolved is None:
            return self.stop_asking(f"{name_of(operation)} goes back to a state that this copy never had")
        if performer is not candidates[0]:
            performed_by = SLOTS[self.engine_sessions.index(performer)]
        exists = self.model_history.table.exists
        if reads_before and exists and self.read_schedule and getattr(operation, "where", None) is not None:
            read = self.read_schedule.before(operation, self.model_history.table.schema)
            pending = None if read is None else self._pending_query(read)
            if pending is not None:
                return _PendingReadsBefore(self, operation, performer, performed_by, pending)
        if isinstance(operation, READS_FILES):
            write_input_files(operation, self.folder, self.model_history.step, exists=exists)
        self.latest_reads = {}
        answer = performer.submit(resolved, f"{self.tag}-{self.model_history.step}")
        return PendingOperation(self, performer, operation, answer, performed_by)

    def observe_outcome(
        self,
        operation: Operation,
        writer: EngineSession,
        outcome: Outcome,
        expectation: Expectation,
    ) -> Observation:
        """Read what an operation added to the log, and let the model take the step as the engine took it."""
        observed = self.observe(
            operation,
            expectation,
            engine=writer.engine,
            outcome=outcome,
            before=self.log.snapshot,
            wrote=True,
        )
        log = self.log
        commits, error = log.advance(observed.step)
        branch = None
        if error is None:
            branch = match_outcome(expectation, outcome, len(commits), log.snapshot, log.reader)
        if branch is None:
            self.stop(f"{name_of(operation)} ended as the model does not allow")
            reached = expectation.ordinary
        else:
            reached = with_generated_values(branch, log.snapshot, log.reader)
        self.model_history = self.model_history.after(operation, reached)
        observed = replace(
            observed,
            branch=branch,
            model=self.model_history.table,
            reader=log.reader,
            after=log.snapshot,
            commits=commits,
            log_error=error,
            versions=log.versions,
        )
        if self._annotate is not None or isinstance(operation, Vacuum):
            return self._annotated(observed)
        return observed

    def resolve(self, operation: Operation) -> Operation | None:
        """The operation with states as versions of this table; None if it names a state that the table never had."""
        names_state = isinstance(getattr(operation, "at", None), AtState | AtTime)
        if not names_state and not isinstance(operation, ReadChanges):
            return operation
        return resolve_states(operation, self.log.versions, self.log.reader)

    def observe(
        self,
        operation: Operation,
        expectation: Expectation,
        *,
        engine: str = "",
        outcome: Outcome | None = None,
        branch: AllowedOutcome | None = None,
        before: Snapshot | None = None,
        commits: tuple[Commit, ...] = (),
        log_error: Exception | None = None,
        step: int | None = None,
        wrote: bool = False,
        fault_context: FaultContext | None = None,
        race: RaceObservation | None = None,
    ) -> Observation:
        """What a check may look at, with the table as it is now. Of a step that only reads, nothing changes."""
        snapshot = self.log.snapshot
        return Observation(
            engine=engine,
            step=self.model_history.step if step is None else step,
            operation=operation,
            folder=self.folder,
            expectation=expectation,
            outcome=NoChange() if outcome is None else outcome,
            branch=branch,
            model=self.model_history.table,
            reader=self.log.reader,
            before=before if wrote else snapshot,
            after=snapshot,
            commits=commits,
            log_error=log_error,
            versions=self.log.versions,
            wrote=wrote,
            fault_context=fault_context,
            race=race,
        )

    def judge_failure(
        self,
        engine_session: EngineSession,
        failure: HostFailure,
        operation: Operation,
        performed_by: str | None = None,
    ) -> StepResult:
        """The result for an engine whose host failed. A table to which it was writing can't be played on."""
        wrote = not isinstance(operation, Read | Reopen)
        if wrote:
            self.stop(f"{engine_session.engine} was lost while it wrote")
        observation = self.observe(
            operation,
            self.model_history.expect(operation),
            engine=engine_session.engine,
            outcome=Unknown(failure.error.what),
            before=self.log.snapshot,
            wrote=wrote,
        )
        return StepResult(
            engine_session,
            replace(observation, after=None),
            (failure.violation,),
            {failure.requirement: 1},
            performed_by=performed_by,
            promised=engine_session.engine not in self.unpromised,
        )

    def judge_violations(self, step_result: StepResult) -> StepResult:
        """The result with new violations only. After a violation that ends histories its engine takes no more part."""
        engine_session, observation = step_result.engine_session, step_result.observation
        violated = violations_that_end_history(step_result.violations)
        if violated:
            reason = f"violated {violated[0]}"
            engine_session.leave(reason)
            if observation.wrote and any(BY_ID[requirement].role == "writer" for requirement in violated):
                self.stop(self.left or f"{engine_session.engine} {reason}")
        new = self._violations.select_new(engine_session.engine, step_result.violations)
        return replace(step_result, violations=new)

    def new_address(self) -> Path:
        """Another path of the table: a new link to its folder."""
        self._addresses += 1
        link = self.folder.with_name(f"{self.folder.name}-{self._addresses}")
        link.symlink_to(self.folder.name, target_is_directory=True)
        return link

    def pass_unperformed(self, operation: Operation) -> CompletedStep:
        """Go on without an operation that no engine performs, if it only tidies up; else the table would be another."""
        if isinstance(operation, KEEPS_CONTENT):
            return self.pass_step(Reopen())
        reasons = {
            engine_session.reason_against(operation, self.log.snapshot) or engine_session.left or ""
            for engine_session in self.engine_sessions
        }
        return self.stop_asking("; ".join(sorted(reasons)))

    def _submit_reopen(self, operation: Reopen) -> PendingStep:
        """Open the table through new links, cold for every engine, and read it."""
        step, expectation = self.model_history.step, self.model_history.expect(operation)
        failures = [
            self.judge_failure(engine_session, failure, operation)
            for engine_session in self.engine_sessions
            if engine_session.left is None
            and (failure := engine_session.open(self.new_address())) is not None
        ]
        answers = submit_query_to_all(self.readers, Read(), self.log.snapshot)
        self.pass_step(operation)
        observation = self.observe(operation, expectation, branch=expectation.ordinary, step=step)
        reads = [PlannedRead("reopen", Read(), Read())]
        if self.read_schedule is not None and observation.after is not None:
            reads += self.read_schedule.plan_after(observation, self.model_history)
        return PendingReads(self, observation, reads, answers, results=failures)

    def _pending_query(self, query: Query) -> PendingReads | None:
        """A query to all engines; None if it names a state that this table never had.

        A filtered read is followed by the unfiltered rows that it can be compared with, unless they are known.
        """
        resolved = self.resolve(query)
        if not isinstance(resolved, Query) or (self.log.snapshot is None and not isinstance(query, Read)):
            return None
        reads = [PlannedRead(kind_of(query), query, resolved)]
        known: Mapping[str, ReadObservation] = {}
        if isinstance(query, Read) and isinstance(resolved, Read):
            plain = replace(query, where=None, columns=None)
            known = dict(self.latest_reads) if plain == Read() else {}
            if plain == query:
                reads = [PlannedRead(kind_of(query), query, resolved, tuple(known))]
            else:
                unfiltered = replace(resolved, where=None, columns=None)
                reads.append(PlannedRead(kind_of(plain), plain, unfiltered, tuple(known)))
        observation = self.observe(query, self.model_history.expect(query))
        answers = submit_query_to_all(self.readers, resolved, self.log.snapshot, reads[0].without)
        return PendingReads(self, observation, reads, answers, known=known)

    def _annotated(self, observation: Observation) -> Observation:
        """The observation with what a vacuum must keep, and with what only the suite knows."""
        if isinstance(observation.operation, Vacuum):
            observation = replace(
                observation,
                retained=self.model_history.readable(),
                recent=self.model_history.recent(observation.operation),
            )
        return observation if self._annotate is None else self._annotate(observation)


@dataclass(frozen=True, slots=True)
class CompletedStep:
    """A step that has nothing left to wait for."""

    table_session: TableSession
    results: Sequence[StepResult] = ()
    is_complete: bool = True

    def collect(self) -> list[StepResult]:
        """What was judged when the step was submitted."""
        return list(self.results)


@dataclass(slots=True)
class PendingReads:
    """Queries that engines answer one after another, and are judged by: `answers` are those to the first of `reads`.

    `writer` performed the step; `checks` have judged the log for it. `known` are answers to compare the new ones with.
    """

    table_session: TableSession
    observation: Observation
    reads: list[PlannedRead]
    answers: dict[str, PendingQuery]
    writer: EngineSession | None = None
    checks: PendingChecks | None = None
    known: Mapping[str, ReadObservation] = field(default_factory=dict)
    performed_by: str | None = None
    results: list[StepResult] = field(default_factory=list)
    is_complete: bool = False
    _replies: list[tuple[str, Query, dict[str, ReadReply]]] = field(default_factory=list)

    def collect(self) -> list[StepResult]:
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
            return results
        self.is_complete = True
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
            report = run_checks(observation, begun=self.checks if wrote else None)
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
        return results


@dataclass(slots=True)
class PendingOperation:
    """An operation that one engine executes, followed by the reads of all engines."""

    table_session: TableSession
    engine_session: EngineSession
    operation: Operation
    answer: PendingAnswer[Reply]
    performed_by: str | None = None
    is_complete: bool = False
    _answered: tuple[Outcome, Expectation, dict[str, PendingQuery]] | None = None
    _reads: PendingReads | None = None

    def collect(self) -> list[StepResult]:
        """Collect the operation; then read and judge the log; then collect the reads."""
        if self._reads is None:
            if self._answered is None:
                return self._collect_answer()
            self._reads = self._read_log(*self._answered)
        results = self._reads.collect()
        self.is_complete = self._reads.is_complete
        return results

    def _collect_answer(self) -> list[StepResult]:
        """Wait for the operation, and have all engines read the newest rows."""
        table = self.table_session
        reply = self.answer.collect()
        if isinstance(reply, HostFailure):
            self.is_complete = True
            return [table.judge_failure(self.engine_session, reply, self.operation, self.performed_by)]
        expectation = table.model_history.expect(self.operation)
        answers = submit_query_to_all(table.readers, Read(), table.log.snapshot)
        self._answered = (reply.outcome, expectation, answers)
        return []

    def _read_log(
        self, outcome: Outcome, expectation: Expectation, answers: dict[str, PendingQuery]
    ) -> PendingReads:
        """Read what the operation added to the log, and judge it while the engines read."""
        table = self.table_session
        observation = table.observe_outcome(self.operation, self.engine_session, outcome, expectation)
        checks = run_log_checks(observation)
        reads = [PlannedRead("latest", Read(), Read())]
        if table.read_schedule is not None and observation.after is not None and table.left is None:
            reads += table.read_schedule.plan_after(observation, table.model_history)
        return PendingReads(
            table,
            observation,
            reads,
            answers,
            self.engine_session,
            checks,
            performed_by=self.performed_by,
        )


@dataclass(slots=True)
class _PendingReadsBefore:
    """An operation that is sent once the engines have answered the reads before it."""

    table_session: TableSession
    operation: Operation
    performer: EngineSession
    performed_by: str | None
    reads: PendingReads
    is_complete: bool = False
    _pending: PendingStep | None = None

    def collect(self) -> list[StepResult]:
        """Collect the reads, then the operation, unless its engine takes no more part after the reads."""
        if self._pending is not None:
            results = self._pending.collect()
            self.is_complete = self._pending.is_complete
            return results
        results = [replace(result, performed_by=self.performed_by) for result in self.reads.collect()]
        if self.reads.is_complete and self.performer.left is None:
            self._pending = self.table_session.submit_operation(
                self.operation,
                [self.performer],
                performed_by=self.performed_by,
                reads_before=False,
            )
        elif self.reads.is_complete:
            self.is_complete = True
        return results


@dataclass(slots=True)
class _PendingQueryStep:
    """A query that is a step of its own."""

    reads: PendingReads
    query: Query
    is_complete: bool = False

    @property
    def table_session(self) -> TableSession:
        """The table."""
        return self.reads.table_session

    def collect(self) -> list[StepResult]:
        """Collect the answers; then the model takes the step."""
        results = self.reads.collect()
        if self.reads.is_complete:
            self.reads.table_session.pass_step(self.query)
            self.is_complete = True
        return results


def execute_step(
    table_sessions: Sequence[TableSession],
    step: Step,
    record: Callable[[TableSession, list[StepResult]], object],
) -> None:
    """Execute a step at all tables where the history still goes on, and record the results as they come.

    The engines of all tables work at the same time.
    """
    pending = [table_session.submit(step) for table_session in table_sessions if table_session.plays]
    while pending:
        for pending_step in pending:
            if results := pending_step.collect():
                record(pending_step.table_session, results)
        pending = [pending_step for pending_step in pending if not pending_step.is_complete]
