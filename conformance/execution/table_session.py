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

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from pathlib import Path

from conformance.checks import run_log_checks
from conformance.execution.engine_session import (
    EngineSession,
    HostFailure,
    PendingAnswer,
    PendingQuery,
    find_performer,
    submit_query_to_all,
)
from conformance.execution.input_files import READS_FILES, write_input_files
from conformance.execution.log_tracker import LogTracker
from conformance.execution.outcome_matching import match_outcome, with_generated_values
from conformance.execution.pending_reads import (
    Collected,
    CompletedStep,
    PendingQueryStep,
    PendingReads,
    PendingReadsBefore,
    PendingStep,
    submit_query,
    submit_reopen,
)
from conformance.execution.read_schedule import PlannedRead, ReadSchedule, plan_reads_after
from conformance.execution.step_result import StepResult
from conformance.execution.stop_conditions import ViolationDeduplicator, violations_that_end_history
from conformance.execution.stream_readers import StreamReaders
from conformance.generation import SLOTS
from conformance.histories import Step
from conformance.observations.observation import FaultContext, Observation, RaceObservation, ReadObservation
from conformance.observations.version_resolution import resolve_states
from delta_adapters.host_client import Reply
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


class TableSession:
    """A table with its engine sessions, the history of its model, and its log.

    `slots` are the engine sessions that the slots of a step are bound to, `readers` those that read at this step:
    nobody where `reads` is false, so that the log alone is judged.
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
        reads: bool = True,
        log: LogTracker | None = None,
        slots: Sequence[EngineSession] | None = None,
        processes: str = "one",
        unpromised: Collection[str] = (),
        annotate: Callable[[Observation], Observation] | None = None,
    ) -> None:
        self.engine_sessions = list(engine_sessions)
        self.slots = list(engine_sessions if slots is None else slots)
        self.readers: Sequence[EngineSession] = self.engine_sessions if reads else ()
        self.model_history = ModelHistory()
        self.log = LogTracker(folder) if log is None else log
        self.stream_readers = StreamReaders()
        self.processes = processes
        self.tag = tag
        self.left: str | None = None
        self.not_asked: str | None = None
        self._ended_by: str | None = None  # the violation that ended the history, if a writer's did
        self.unpromised = frozenset(unpromised)
        sparing = any(engine_session.runs_on_jvm for engine_session in engine_sessions)
        self.read_schedule = ReadSchedule(seed, sparing=sparing) if extra_reads and reads else None
        self.latest_reads: dict[str, ReadObservation] = {}
        self._annotate = annotate
        self._violations = ViolationDeduplicator(self.folder)
        self._addresses = 0
        self._zones: dict[str, tzinfo] = {}  # of the engines' sessions

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

    def read_after_violation(self, step: Step) -> list[StepResult]:
        """Execute a read at this table, where a violation by a writer has ended the history.

        The reads that a run adds to a step are made whatever its operation violated. So are those that have become
        steps of their own.
        """
        ended, seated = self.left, [(session, session.left) for session in self.engine_sessions]
        if self._ended_by is None:
            return []
        self.left = None
        for engine_session, reason in seated:
            if reason == self._ended_by:
                engine_session.rejoin()
        results = self.execute(step)
        self.stop(ended or self._ended_by)
        return results

    def submit(self, step: Step) -> PendingStep:
        """Send a step to the engines, and do not wait for them."""
        operation = step.operation
        if isinstance(operation, Reopen):
            return submit_reopen(self, operation)
        if isinstance(operation, QUERIES):
            reads = submit_query(self, operation)
            return self.pass_step(operation) if reads is None else PendingQueryStep(reads, operation)
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
        return CompletedStep()

    # The parts of a step, for the suites

    def pass_step(self, operation: Operation) -> CompletedStep:
        """Let the model take a step that adds nothing to the log."""
        step = self.model_history.step
        self.model_history = self.model_history.after(operation)
        self.log.remember(step)
        return CompletedStep()

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
            reads = None if read is None else submit_query(self, read, performed_by)
            if reads is not None:
                return PendingReadsBefore(reads, operation, performer, performed_by)
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
        self._zones[writer.engine] = self.model_history.zone
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

    def expect_of(self, engine_session: EngineSession, operation: Operation) -> Expectation:
        """The outcomes that an operation may have now in this engine's session, which has a time zone of its own."""
        self.model_history = self.model_history.in_zone(self._zones.get(engine_session.engine, UTC))
        return self.model_history.expect(operation)

    def forget_zones(self) -> None:
        """Note that the engines' sessions are new, or were at another table: their time zone is UTC again."""
        self._zones.clear()

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
            zones=tuple(dict.fromkeys((self.model_history.zone, *self.model_history.zones))),
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
                self._ended_by = reason if self.left is None else self._ended_by
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

    def _annotated(self, observation: Observation) -> Observation:
        """The observation with what a vacuum must keep, and with what only the suite knows."""
        if isinstance(observation.operation, Vacuum):
            observation = replace(
                observation,
                retained=self.model_history.readable_steps(),
                recent=self.model_history.recorded_steps(),
            )
        return observation if self._annotate is None else self._annotate(observation)


@dataclass(frozen=True, slots=True)
class PendingOperation:
    """An operation that one engine executes."""

    table_session: TableSession
    engine_session: EngineSession
    operation: Operation
    answer: PendingAnswer[Reply]
    performed_by: str | None = None

    def collect(self) -> Collected:
        """Wait for the operation, and have the engines read the newest rows."""
        table, operation = self.table_session, self.operation
        reply = self.answer.collect()
        if isinstance(reply, HostFailure):
            return [table.judge_failure(self.engine_session, reply, operation, self.performed_by)], None
        answers = submit_query_to_all(table.readers, Read(), table.log.snapshot)
        expectation = table.expect_of(self.engine_session, operation)
        return [], PendingOutcome(self, reply.outcome, expectation, answers)


@dataclass(frozen=True, slots=True)
class PendingOutcome:
    """An operation whose engine has answered. What it did to the log is not read yet; the engines read the table."""

    pending_operation: PendingOperation
    outcome: Outcome
    expectation: Expectation
    answers: dict[str, PendingQuery]

    @property
    def table_session(self) -> TableSession:
        """The table."""
        return self.pending_operation.table_session

    def collect(self) -> Collected:
        """Read what the operation added to the log, and judge it while the engines read; then collect the reads."""
        pending = self.pending_operation
        table, writer = pending.table_session, pending.engine_session
        observation = table.observe_outcome(pending.operation, writer, self.outcome, self.expectation)
        checks = run_log_checks(observation)
        reads = [
            PlannedRead("latest", Read(), Read()),
            *plan_reads_after(table.read_schedule, observation, table.model_history),
        ]
        pending_reads = PendingReads(
            table, observation, reads, self.answers, writer, checks, performed_by=pending.performed_by
        )
        return pending_reads.collect()


def execute_step(
    table_sessions: Sequence[TableSession],
    step: Step,
    record: Callable[[TableSession, list[StepResult]], object],
) -> None:
    """Execute a step at all tables where the history still goes on, and record the results as they come.

    The engines of all tables work at the same time.
    """
    pending: list[tuple[TableSession, PendingStep | None]] = [
        (table_session, table_session.submit(step)) for table_session in table_sessions if table_session.plays
    ]
    while pending:
        following: list[tuple[TableSession, PendingStep | None]] = []
        for table_session, pending_step in pending:
            if pending_step is not None:
                results, next_phase = pending_step.collect()
                if results:
                    record(table_session, results)
                following.append((table_session, next_phase))
        pending = following
