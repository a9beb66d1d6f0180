"""A table at which one engine writes behind the turnstile: its storage fails where the history says so.

After a fault the table is moved, and opened under its new path. So nothing that an engine remembers passes for the
truth, and what its threads still do at the old path harms nothing. Our own reading of the log says what became of the
operation; the history goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from conformance.checks import run_log_checks
from conformance.execution.engine_session import (
    EngineSession,
    HostFailure,
    PendingAnswer,
    submit_query_to_all,
)
from conformance.execution.input_files import write_input_files
from conformance.execution.log_tracker import LogTracker
from conformance.execution.outcome_matching import classify_recovery
from conformance.execution.pending_reads import CompletedStep, PendingReads, PendingStep
from conformance.execution.read_schedule import PlannedRead
from conformance.execution.step_result import StepResult
from conformance.execution.table_copies import copy_folder
from conformance.execution.table_session import PendingOperation, TableSession
from conformance.fault_injection.fault_actions import rule_of
from conformance.fault_injection.instrumented_process import InstrumentedProcess, NotInstrumented
from conformance.fault_injection.storage_events import StorageRecord
from conformance.histories import Step
from conformance.observations.observation import FaultContext, Observation
from conformance.observations.recovery_state import AFTER, BEFORE
from conformance.suites.crashes.aftermath import FaultAftermath, FileDates, digests_of_commits
from delta_adapters.host_client import Reply
from delta_adapters.host_errors import HostError
from delta_models.log.file_cache import StoredColumns
from delta_models.operations import (
    QUERIES,
    STORAGE_FAULTS,
    AdvanceClock,
    CleanLog,
    KillAt,
    Operation,
    Read,
    Reopen,
    SetZone,
    SwitchActor,
    TearAt,
    Vacuum,
)  # fmt: skip
from delta_models.outcomes import NoChange, Outcome, Unknown
from delta_models.table import AllowedOutcome, Expectation, NotModelled
from delta_models.table.retention import log_retention
from delta_models.wire_names import name_of

CHANGES_NOTHING = (*QUERIES, Reopen, SwitchActor, SetZone)
READERS_EVERY = 10  # faults after which the other engines read the table too


class CrashTableSession(TableSession):
    """A table with the engine that writes to it, the first of its engine sessions, and others that only read.

    `struck` counts the faults that took place, `missed` those whose event never came.
    """

    def __init__(
        self,
        folder: Path,
        engine_sessions: Sequence[EngineSession],
        instrumented_process: InstrumentedProcess,
        seed: int,
        tag: str,
        *,
        file_dates: FileDates | None = None,
        aftermath: FaultAftermath | None = None,
    ) -> None:
        self.file_dates = FileDates(instrumented_process) if file_dates is None else file_dates
        log = LogTracker(folder, stored=StoredColumns(), before_reading=self.file_dates.date_new_files)
        super().__init__(
            folder, engine_sessions, seed, tag, extra_reads=False, log=log, annotate=self._add_aftermath
        )
        self.instrumented_process = instrumented_process
        self.struck = 0
        self.missed = 0
        self._struck_before = 0
        self._moves = 0
        self._fault: Operation | None = None
        self._aftermath = FaultAftermath() if aftermath is None else aftermath

    @property
    def writer(self) -> EngineSession:
        """The engine behind the turnstile."""
        return self.engine_sessions[0]

    def copy(self, folder: Path) -> Self:
        """The same table elsewhere, at the same point of its history."""
        writer = replace(self.writer, operations=0, seconds=0.0)
        other = type(self)(
            folder,
            [writer, *self.engine_sessions[1:]],
            self.instrumented_process,
            0,
            self.tag,
            file_dates=self.file_dates.copy(),
            aftermath=self._aftermath.copy(),
        )
        if self.folder.exists():
            copy_folder(self.folder, folder)
        other.model_history = self.model_history
        other.log.continue_from(self.log)
        other.stream_readers = self.stream_readers.copy()
        return other

    def count_faults_before(self, struck: int) -> None:
        """Note how many faults took place at other copies of the table: the other engines read after some only."""
        self._struck_before = struck

    def count(self, other: CrashTableSession) -> None:
        """Count what took place at a copy of this table."""
        self.struck += other.struck
        self.writer.count(other.writer.seconds, other.writer.operations)

    def open_all(self) -> list[StepResult]:
        """Have every engine open the table, which is a part of what the writer does."""
        self.file_dates.set_clock(self.model_history.hours)
        start = time.monotonic()
        results = super().open_all()
        self.writer.count(time.monotonic() - start)
        return results

    def reopen_all(self) -> list[StepResult]:
        """Have every engine open this table again: they were at another meanwhile."""
        self.forget_zones()
        return [
            self.judge_failure(engine_session, failure, Reopen())
            for engine_session in self.engine_sessions
            if engine_session.plays
            and (failure := engine_session.open(engine_session.address or self.folder)) is not None
        ]

    def record(self, operation: Operation) -> tuple[Outcome, StorageRecord]:
        """What an operation does at the storage boundary when nothing is in its way."""
        answer = self._submit_watched(operation, self.resolve(operation) or operation, self.tag)
        reply = answer.collect()
        record = self.instrumented_process.end()
        return (Unknown(str(reply.error)) if isinstance(reply, HostFailure) else reply.outcome), record

    def submit(self, step: Step) -> PendingStep:
        """Send a step to the engines. A fault waits for the next operation; one that meets a fault is waited for."""
        operation = step.operation
        self.readers = [self.writer]
        self._aftermath.begin_step()
        if isinstance(operation, STORAGE_FAULTS):
            self._fault = operation
            return self._pass_over()
        if isinstance(operation, AdvanceClock):
            return self._advance_clock(operation)
        if isinstance(operation, SetZone):
            return self.submit_operation(operation, [self.writer])
        if isinstance(operation, CHANGES_NOTHING):
            return super().submit(step)
        if self._fault is None:
            self._aftermath.begin_write(operation)
            if self.writer.runs_on_jvm and not isinstance(operation, Vacuum):
                self.readers = []  # it reads after faults
            return self.submit_operation(operation, [self.writer])
        fault, self._fault = self._fault, None
        return self._submit_with_fault(fault, operation)

    def pass_unperformed(self, operation: Operation) -> CompletedStep:  # noqa: ARG002 - whatever it is, the next one may go on
        """Go on without an operation that the writer can't perform: the state stays, with a number of its own."""
        return self._pass_over()

    def _pass_over(self) -> CompletedStep:
        return self.pass_step(Reopen())

    def _advance_clock(self, operation: AdvanceClock) -> PendingStep:
        """Let the engine's clock go on, make what is there older, and open the table anew."""
        self.file_dates.date_files(self.folder)
        self.pass_step(operation)
        self.file_dates.set_clock(self.model_history.hours)
        results = [
            self.judge_failure(engine_session, failure, operation)
            for engine_session in self.engine_sessions
            if engine_session.plays and (failure := engine_session.open(self.new_address())) is not None
        ]
        return CompletedStep(results)

    # The fault

    def _submit_with_fault(self, fault: Operation, operation: Operation) -> PendingStep:
        """Execute an operation whose storage fails."""
        resolved = self.resolve(operation)
        if (
            not self.writer.plays
            or resolved is None
            or self.writer.reason_against(operation, self.log.snapshot) is not None
        ):
            return self._pass_over()
        try:
            self.model_history.expect(operation)
        except NotModelled:
            return self._pass_over()
        digests = digests_of_commits(self.folder)
        self.latest_reads = {}
        tag = f"{self.tag}-{self.model_history.step}"
        answer = self._submit_watched(operation, resolved, tag, fault)
        reply = answer.collect()
        record = self.instrumented_process.end()
        if record.faults:
            return self._submit_reads_after(fault, operation, reply, record, digests)
        self.missed += 1
        try:
            self.instrumented_process.check_instrumented(alone=True)
        except NotInstrumented as unseen:
            return self.stop_asking(str(unseen))
        return PendingOperation(self, self.writer, operation, answer)

    def _submit_watched(
        self, operation: Operation, resolved: Operation, tag: str, fault: Operation | None = None
    ) -> PendingAnswer[Reply]:
        """Send an operation to the writer while the turnstile watches it; `end` of its process ends the watch."""
        write_input_files(
            operation, self.folder, self.model_history.step, exists=self.model_history.table.exists
        )
        self.instrumented_process.watch(self.folder)
        self.instrumented_process.begin([] if fault is None else [rule_of(fault)])
        return self.writer.submit(resolved, tag)

    def _submit_reads_after(
        self,
        fault: Operation,
        operation: Operation,
        reply: Reply | HostFailure,
        record: StorageRecord,
        digests: Mapping[str, str],
    ) -> PendingStep:
        """Move and open the table after a fault, have it read, and find out what became of the operation."""
        if not isinstance(reply, HostFailure):
            outcome = reply.outcome
        elif isinstance(fault, KillAt | TearAt):
            outcome = Unknown("killed")
        else:
            return CompletedStep([self.judge_failure(self.writer, reply, operation)])
        self._move()
        for engine_session in self.engine_sessions:
            if (failure := self._revive(engine_session)) is not None:
                return CompletedStep([self.judge_failure(engine_session, failure, operation)])
        counts = record.followed
        self.struck += counts
        self.missed += not counts
        if (self._struck_before + self.struck) % READERS_EVERY == 0:
            self.readers = self.engine_sessions
        expectation = self.expect_of(self.writer, operation)
        answers = submit_query_to_all(self.readers, Read(), self.log.snapshot)
        observation = self._observe_fault(fault, operation, outcome, expectation, digests)
        reads = [PlannedRead("reopen", Read(), Read())]
        return PendingReads(
            self, observation, reads, answers, writer=self.writer, checks=run_log_checks(observation)
        )

    def _observe_fault(
        self,
        fault: Operation,
        operation: Operation,
        outcome: Outcome,
        expectation: Expectation,
        digests: Mapping[str, str],
    ) -> Observation:
        """What became of an operation that met a fault, by our own reading of the log. The model takes the step so."""
        log, step, before = self.log, self.model_history.step, self.log.snapshot
        commits, error = log.advance(step)
        recovery = (
            None if error else classify_recovery(expectation, before, log.snapshot, commits, log.reader)
        )
        branch = recovery.branch if recovery is not None else None
        if recovery is None or recovery.state not in {BEFORE, AFTER}:
            self.stop(f"{name_of(operation)} left a table that is neither as before nor as after it")
        elif branch is None:
            branch = AllowedOutcome(NoChange(), (0, 0), self.model_history.table, "crash.all-or-nothing")
        self.model_history = self.model_history.after(operation, branch or expectation.ordinary)
        hours = self.model_history.hours
        cleaned = isinstance(operation, CleanLog) or hours >= log_retention(self.model_history.table)
        if cleaned:
            self._aftermath.note_cut_clean_up(log.reader)
        now = digests_of_commits(self.folder)
        gone = tuple(
            sorted(
                name
                for name, digest in digests.items()
                if now.get(name) != digest and not (cleaned and name not in now)
            )
        )
        orphans = self._aftermath.take_orphans(self.folder, hours, log_is_readable=error is None)
        observed = self.observe(
            operation,
            expectation,
            engine=self.writer.engine,
            outcome=outcome,
            branch=branch,
            before=before,
            commits=commits,
            log_error=error,
            step=step,
            wrote=True,
            fault_context=FaultContext(
                fault, gone, recovery, orphans, left_in_log=self._aftermath.left_in_log
            ),
        )
        self.forget_zones()  # at its new path the table is another to the engines
        return self._annotated(observed)

    def _move(self) -> None:
        """Rename the table's folder, and watch it under its new name."""
        self._moves += 1
        folder = self.folder.with_name(f"{self.folder.name.partition('@')[0]}@{self._moves}")
        if self.folder.exists():
            self.folder.rename(folder)
        self.log.move(folder)
        self.instrumented_process.watch(folder)

    def _revive(self, engine_session: EngineSession) -> HostFailure | None:
        """Start a host that was killed again, and open the table."""
        start = time.monotonic()
        if not engine_session.host.alive and engine_session is self.writer:
            try:
                engine_session.host.restart().ready()
            except HostError as error:
                return HostFailure("host.lives", error)
            engine_session.rejoin()
        failure = engine_session.open(self.folder) if engine_session.plays else None
        engine_session.count(time.monotonic() - start)
        return failure

    def _add_aftermath(self, observation: Observation) -> Observation:
        return self._aftermath.annotate(observation, self.model_history.hours)
