"""A table at which one engine plays behind the turnstile: its storage fails where the history says so.

After a fault the table is moved, and addressed by its new name: nothing that an engine remembers passes for the truth,
and what its threads still do to the old place is nobody's. What became of the operation is found by our own reading of
the log; the history goes on from there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Self

from conformance.checks import run_log_checks
from conformance.execution.engine_session import EngineSession, HostFailure
from conformance.execution.input_files import write_input_files
from conformance.execution.table_copies import copy_folder
from conformance.execution.table_session import Answer, StepResult, TableSession
from conformance.fault_injection.fault_actions import rule_of
from conformance.fault_injection.instrumented_process import InstrumentedProcess, NotInstrumented
from conformance.fault_injection.storage_events import StorageRecord
from conformance.histories import Step
from conformance.observations.observation import FaultContext, Observation, OrphanedFile, ReadObservation
from conformance.observations.recovery_state import AFTER, BEFORE, classify_recovery
from conformance.suites.crashes.orphaned_files import by_role, files_of, find_orphans, vacuumable
from delta_adapters.contract import Query as Asked
from delta_adapters.host_errors import HostError
from delta_models.log import Commit, LogReader
from delta_models.log.file_cache import StoredColumns
from delta_models.operations import (
    QUERIES,
    STORAGE_FAULTS,
    AdvanceClock,
    CleanLog,
    ConvertFromParquet,
    Create,
    CreateAs,
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
from delta_models.table import AllowedOutcome, NotModelled
from delta_models.table.retention import log_retention
from delta_models.wire_names import name_of

BEGINS = (Create, CreateAs, ConvertFromParquet)  # an append is still to show that others can go on
CHANGES_NOTHING = (*QUERIES, Reopen, SwitchActor, SetZone)
READERS_EVERY = 10  # faults after which the other engines look at the table too


class CrashTableSession(TableSession):
    """A table, the engine that writes to it, first of its seats, and others that only read.

    `struck` counts the faults that took place, `missed` those whose event never came, `earlier` those that took
    place in other copies of the table.
    """

    def __init__(
        self,
        folder: Path,
        engine_sessions: Sequence[EngineSession],
        instrumented_process: InstrumentedProcess,
        seed: int,
        tag: str,
    ) -> None:
        super().__init__(folder, engine_sessions, seed, tag, looks_around=False)
        self.instrumented_process = instrumented_process
        self.reader = LogReader(folder, stored=StoredColumns())
        self.struck = 0
        self.missed = 0
        self.earlier = 0
        self._moves = 0
        self._fault: Operation | None = None
        self._owes = False
        self._lying: dict[str, str] = {}
        self._left_over: dict[str, int] = {}
        self._dated: dict[str, int] = {}
        self._cleaned = False
        self._readers_look = False
        self._unread = False

    def copy(self, folder: Path) -> Self:
        """The same table elsewhere, at the same point of its history."""
        writer = replace(self.engine_sessions[0], operations=0, seconds=0.0)
        other = type(self)(
            folder, [writer, *self.engine_sessions[1:]], self.instrumented_process, 0, self._tag
        )
        if self.folder.exists():
            copy_folder(self.folder, folder)
        other.model_history, other.versions, other.snapshot = self.model_history, self.versions, self.snapshot
        other.reader = LogReader(folder, stored=self.reader.stored)
        other.stream_readers = self.stream_readers.copy()
        other._dated = dict(self._dated)  # noqa: SLF001 - its own kind
        return other

    def open_all(self) -> Iterator[StepResult]:
        """Have every engine address the table, which is a part of what it does."""
        self._set_clock()
        start = time.monotonic()
        yield from super().open_all()
        self.engine_sessions[0].seconds += time.monotonic() - start

    def reopen_all(self) -> Iterator[StepResult]:
        """Have every engine address this table again: they were at another meanwhile."""
        for engine_session in self.engine_sessions:
            if engine_session.plays and (lost := engine_session.open(engine_session.address or self.folder)):
                yield self._lost(engine_session, lost, Reopen())

    def record(self, operation: Operation) -> tuple[Outcome, StorageRecord]:
        """What an operation does at the storage boundary when nothing is in its way."""
        asked = self._translated(operation)
        engine_session = self.engine_sessions[0]
        write_input_files(
            operation, self.folder, self.model_history.step, exists=self.model_history.table.exists
        )
        self.instrumented_process.watch(self.folder)
        self.instrumented_process.begin()
        reply = engine_session.execute(asked or operation, self._tag)()
        told = self.instrumented_process.end()
        return (Unknown(str(reply.error)) if isinstance(reply, HostFailure) else reply.outcome), told

    def play(self, step: Step) -> Iterator[StepResult | None]:
        """One step; a fault waits for the next operation."""
        operation = step.operation
        if isinstance(operation, STORAGE_FAULTS):
            self._fault = operation
            self._pass_over()
        elif isinstance(operation, AdvanceClock):
            yield from self._let_pass(operation)
        elif isinstance(operation, CHANGES_NOTHING):
            yield from super().play(step)
        elif self._fault is None:
            self._unread = self.engine_sessions[0].dear and not isinstance(operation, Vacuum)
            yield from super().play(step)
            self._owes = self._owes and isinstance(operation, BEGINS)
            self._unread = False
        else:
            fault, self._fault = self._fault, None
            yield from self._meet(fault, operation)

    # Time

    def _let_pass(self, operation: AdvanceClock) -> Iterator[StepResult]:
        """The engine's clock goes on, and what is there is older; then it addresses the table anew."""
        self._date_files()
        number = self.model_history.step
        self.model_history = self.model_history.after(operation)
        self._remember(number)
        self._set_clock()
        for engine_session in [session for session in self.engine_sessions if session.plays]:
            if lost := engine_session.open(self._new_address()):
                yield self._lost(engine_session, lost, operation)

    def _set_clock(self) -> None:
        """The engine's clock is as far ahead as the history says."""
        self.instrumented_process.advance(
            timedelta(hours=self.model_history.hours) - self.instrumented_process.ahead
        )

    def _date_files(self) -> None:
        """Files are dated by the kernel, whose clock does not move: those of the last step get the engine's time."""
        ahead = self.instrumented_process.ahead // timedelta(microseconds=1) * 1000
        for path in files_of(self.folder):
            file = self.folder / path
            with contextlib.suppress(FileNotFoundError):  # gone again
                status = file.stat()
                if ahead and self._dated.get(path) != status.st_mtime_ns:
                    os.utime(file, ns=(status.st_atime_ns + ahead, status.st_mtime_ns + ahead))
                self._dated[path] = file.stat().st_mtime_ns

    def _advance(self) -> tuple[tuple[Commit, ...], Exception | None]:
        if self.model_history.hours:
            self._date_files()
        return super()._advance()

    # The fault

    def _meet(self, fault: Operation, operation: Operation) -> Iterator[StepResult | None]:
        engine_session, asked = self.engine_sessions[0], self._translated(operation)
        if not engine_session.plays or asked is None or self._cannot(engine_session, operation) is not None:
            self._pass_over()
            return
        try:
            self.model_history.expect(operation)
        except NotModelled:
            self._pass_over()
            return
        commits = self._commits()
        self._latest = {}
        write_input_files(
            operation, self.folder, self.model_history.step, exists=self.model_history.table.exists
        )
        self.instrumented_process.watch(self.folder)
        self.instrumented_process.begin([rule_of(fault)])
        reply = engine_session.execute(asked, f"{self._tag}-{self.model_history.step}")()
        record = self.instrumented_process.end()
        if record.faults:
            yield from self._struck(fault, operation, reply, record, commits)
            return
        self.missed += 1
        try:
            self.instrumented_process.check_instrumented(alone=True)
        except NotInstrumented as unseen:
            self._stop_asking(str(unseen))
            return
        if isinstance(reply, HostFailure):
            yield self._lost(engine_session, reply, operation)
        else:
            yield from self._performed(engine_session, operation, reply)

    def _struck(
        self,
        fault: Operation,
        operation: Operation,
        reply: object,
        record: StorageRecord,
        commits: Mapping[str, str],
    ) -> Iterator[StepResult | None]:
        engine_session, number, expectation, before = (
            self.engine_sessions[0],
            self.model_history.step,
            self.model_history.expect(operation),
            self.snapshot,
        )
        outcome: Outcome
        if isinstance(reply, HostFailure):
            if not isinstance(fault, KillAt | TearAt):
                yield self._lost(engine_session, reply, operation)
                return
            outcome = Unknown("killed")
        else:
            outcome = reply.outcome  # type: ignore[attr-defined]  # a Reply
        self._move()
        for session in self.engine_sessions:
            if (lost := self._revive(session)) is not None:
                yield self._lost(session, lost, operation)
                return
        counts = record.followed
        self.struck += counts
        self.missed += not counts
        self._readers_look = (self.earlier + self.struck) % READERS_EVERY == 0
        reads = self._ask(Read())
        added, error = self._advance()
        found = None if error else classify_recovery(expectation, before, self.snapshot, added, self.reader)
        known = found is not None and found.state in {BEFORE, AFTER}
        branch = found.branch if found is not None else None
        if not known:
            self.left = f"{name_of(operation)} left a table that is neither as before nor as after it"
        elif branch is None:
            branch = AllowedOutcome(NoChange(), (0, 0), self.model_history.table, "crash.all-or-nothing")
        self.model_history = self.model_history.after(operation, branch or expectation.ordinary)
        self._remember(number)
        now = self._commits()
        cleaned = isinstance(operation, CleanLog) or self.model_history.hours >= log_retention(
            self.model_history.table
        )
        self._cleaned |= cleaned
        gone = tuple(
            sorted(
                name
                for name, digest in commits.items()
                if now.get(name) != digest and not (cleaned and name not in now)
            )
        )
        left = self._lying if error else find_orphans(self.folder)
        new = {path: role for path, role in left.items() if path not in self._lying}
        self._lying = left
        for path in vacuumable(left):
            self._left_over.setdefault(path, self.model_history.hours)
        observation = Observation(
            engine_session.engine, number, operation, self.folder, expectation, outcome, branch,
            self.model_history.table,
            self.reader, before, self.snapshot, added, (), error, self.versions,
            fault_context=FaultContext(fault, gone, found, by_role(new), cleaned=self._cleaned),
        )  # fmt: skip
        looks: dict[str, list[ReadObservation]] = {}
        begun = run_log_checks(observation)
        yield from self._gather(looks, observation, reads, "reopen", Read())
        yield from self._judge_looks(looks, observation, engine_session, begun)
        self._readers_look = False
        self._owes = True

    def _move(self) -> None:
        """The table elsewhere, and alive there."""
        self._moves += 1
        folder = self.folder.with_name(f"{self.folder.name.partition('@')[0]}@{self._moves}")
        if self.folder.exists():
            self.folder.rename(folder)
        self.folder, self.reader = folder, LogReader(folder, stored=self.reader.stored)
        self.instrumented_process.watch(folder)

    def _revive(self, engine_session: EngineSession) -> HostFailure | None:
        """A host that was killed starts again."""
        start = time.monotonic()
        if not engine_session.host.alive and engine_session is self.engine_sessions[0]:
            try:
                engine_session.host.restart().ready()
            except HostError as error:
                return HostFailure("host.lives", error)
            engine_session.left = None
        lost = engine_session.open(self.folder) if engine_session.plays else None
        engine_session.seconds += time.monotonic() - start
        return lost

    # What base desks do, with what faults have left

    def _performer(self, step: Step) -> EngineSession | None:
        """Only the engine behind the turnstile writes."""
        engine_session = self.engine_sessions[0]
        return (
            engine_session
            if engine_session.plays and self._cannot(engine_session, step.operation) is None
            else None
        )

    def _pass(self, operation: Operation) -> None:  # noqa: ARG002 - whatever it is, the next one may go on
        self._pass_over()

    def _pass_over(self) -> None:
        """A step that is not for this table, or a fault: the state stays, with a number of its own."""
        number = self.model_history.step
        self.model_history = self.model_history.after(Reopen())
        self._remember(number)

    def _ask(self, read: Asked, but: Sequence[str] = ()) -> dict[str, Answer]:  # type: ignore[override]
        """The other engines are dear: they look after some faults only. A dear one that writes reads after faults."""
        spared = () if self._readers_look else self.engine_sessions[1:]
        writer = self.engine_sessions[:1] if self._unread else ()
        return super()._ask(read, (*but, *(each.engine for each in (*writer, *spared))))

    def _noticed(self, observation: Observation) -> Observation:
        """What earlier faults have left to this step."""
        if self._owes or self._left_over or self._cleaned:
            left = tuple(
                OrphanedFile(path, self.model_history.hours - hour, (self.folder / path).exists())
                for path, hour in sorted(self._left_over.items())
            )
            observation = replace(
                observation,
                fault_context=FaultContext(next_write=self._owes, cleaned=self._cleaned, left_over=left),
            )
            self._left_over = {each.path: self._left_over[each.path] for each in left if each.there}
        return super()._noticed(observation)

    def _commits(self) -> dict[str, str]:
        """The commits of the log, each with a digest of its bytes."""
        log = self.folder / "_delta_log"
        return {
            path.name: hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
            for path in sorted(log.glob("*.json"))
        }
