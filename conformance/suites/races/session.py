"""A table at which engines write at once. The schedule of a race says in which order they pass their gates."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Self

from conformance.checks import run_log_checks
from conformance.execution.engine_session import (
    EngineSession,
    HostFailure,
    PendingQuery,
    collect_all,
    submit_query_to_all,
)
from conformance.execution.log_tracker import LogTracker
from conformance.execution.pending_reads import Collected, PendingReads, PendingStep
from conformance.execution.read_schedule import PlannedRead
from conformance.execution.step_result import StepResult
from conformance.execution.stream_readers import left_of
from conformance.execution.table_copies import copy_folder
from conformance.execution.table_session import TableSession
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.gates import PUBLISH, GateTracker
from conformance.fault_injection.instrumented_process import InstrumentedProcess
from conformance.fault_injection.interleaving import InterleavingResult, ScheduledWriter, interleave
from conformance.histories import Step
from conformance.observations.observation import Observation, RaceObservation
from conformance.suites.races.attribution import attribute_violations, commit_authors
from delta_adapters.contract import Query
from delta_adapters.host_client import ReadReply, Reply
from delta_adapters.host_errors import HostError
from delta_models.concurrency import (
    WRITE_SERIALIZABLE,
    CompletedOperation,
    find_explanation,
    isolation_of,
    overlap_of,
)
from delta_models.log import LogError
from delta_models.log.file_cache import StoredColumns
from delta_models.operations import Interleave, Operation, Optimize, Read, Reopen
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown
from delta_models.table import AllowedOutcome, Expectation
from delta_models.table.expectation import ANY_NUMBER
from delta_models.values import Rows

GUARANTEE = "commits-of-several-processes-on-local-files"
SERIALIZES = "serializable"
SEVERAL, IN_TURN = "several", "several-in-turn"
MOST_BARREN_RESTARTS = 3  # then an engine stays dead, and cannot open a table
LEFT = "the schedule leaves"  # in the problem of a writer that had more to do than alone

Answer = Reply | ReadReply


class RaceTableSession(TableSession):
    """A table with an engine session for each writer of a race; some of the writers may only read.

    Writers of one engine are twins: where a step is no race, one of them stands for the others. `overlap` is found by
    the model if it is empty.

    Where the writers take turns (`IN_TURN`), an engine is not held between finding a version free and taking it, if it
    does not promise that its commits and those of other processes keep apart.
    """

    def __init__(
        self,
        folder: Path,
        engine_sessions: Sequence[EngineSession],
        instrumented_processes: Sequence[InstrumentedProcess],
        turnstile: Turnstile,
        tag: str,
        *,
        processes: str = SEVERAL,
        overlap: str = "",
    ) -> None:
        unsafe = {session.engine for session in engine_sessions if not promises(session)}
        super().__init__(
            folder,
            _distinct(engine_sessions),
            0,
            tag,
            extra_reads=False,
            log=LogTracker(folder, stored=StoredColumns()),
            slots=engine_sessions,
            processes=processes,
            unpromised=unsafe if processes == SEVERAL else (),
        )
        self.overlap = overlap
        self.asked = 0
        self.followed = 0
        self.raced: list[RaceObservation] = []
        self._instrumented_processes = instrumented_processes
        self._turnstile = turnstile

    @property
    def isolation(self) -> str:
        """The level that the table asks for, as far as all writers promise it."""
        promised = all(session.capabilities.guarantees.get(SERIALIZES, False) for session in self.slots)
        return isolation_of(self.model_history.table) if promised else WRITE_SERIALIZABLE

    def open_all(self) -> list[StepResult]:
        """Have every engine open the table, all at once, whatever it did at another."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        for engine_session in self.slots:
            engine_session.rejoin()
        pending = [engine_session.submit_open(self.folder) for engine_session in self.slots]
        return [
            self.judge_failure(pending_open.engine_session, failure, Reopen())
            for pending_open in pending
            if (failure := pending_open.collect()) is not None
        ]

    def reopen_all(self) -> list[StepResult]:
        """Have every engine open this table again: they may have been at another meanwhile."""
        self.forget_zones()
        return [
            self.judge_failure(engine_session, failure, Reopen())
            for engine_session in self.slots
            if self.plays and (failure := engine_session.open(self.folder)) is not None
        ]

    def copy(self, folder: Path, overlap: str | None = None) -> Self:
        """The same table elsewhere, at the same point of its history, with other sessions of the same engines."""
        other = type(self)(
            folder,
            [replace(session, left=None, operations=0, seconds=0.0) for session in self.slots],
            self._instrumented_processes,
            self._turnstile,
            self.tag,
            processes=self.processes,
            overlap=self.overlap if overlap is None else overlap,
        )
        other.continue_from(self)
        return other

    def continue_from(self, other: RaceTableSession, *, in_place: bool = False) -> None:
        """Go on from the point where another table is: with a copy of its files, or with the files themselves.

        Files that are there already are not copied again.
        """
        if in_place:
            self.log.move(other.folder)
        elif not self.folder.exists():
            copy_folder(other.folder, self.folder)
        self.log.continue_from(other.log)
        self.model_history = other.model_history
        self.stream_readers = other.stream_readers.copy()

    def count(self, other: RaceTableSession) -> None:
        """Count what engines executed at a copy of this table."""
        for mine, theirs in zip(self.slots, other.slots, strict=True):
            mine.count(theirs.seconds, theirs.operations)

    def gates(self, place: int, operation: Operation) -> int:
        """Through how many gates an operation goes when nothing is in its way. Raises HostError if the engine fails."""
        tracker = GateTracker(closed=self._closed(place))
        instrumented_process = self._instrumented_processes[place]
        instrumented_process.watch(self.folder)
        instrumented_process.begin(gate=lambda event: tracker(event) and False)
        try:
            self._send(place, operation)()
        finally:
            instrumented_process.end()
        return len(tracker.passed)

    def submit(self, step: Step) -> PendingStep:
        """Send a step to the engines; a race is over when this returns, and only its reads are still to come."""
        race = step.operation
        if not isinstance(race, Interleave):
            return super().submit(step)
        if any(
            owner >= len(self.slots) or self.slots[owner].reason_against(operation, self.log.snapshot)
            for operation, owner in zip(race.operations, race.owners, strict=True)
        ):
            return self.pass_unperformed(Optimize())
        result, places = self._interleave(race)
        answers = dict(zip(places, result.answers, strict=True))
        self._count_race(race, answers)
        failure = self._open_anew()
        reads = {} if failure else submit_query_to_all(self.readers, Read(), self.log.snapshot)
        return PendingRace(self, race, result, places, answers, failure, reads)

    # How writers are let loose

    def _interleave(self, race: Interleave) -> tuple[InterleavingResult[Answer], list[int]]:
        """Play the race; returns how it went, and the place of each of its operations in the race."""
        writers: list[ScheduledWriter[Answer]] = []
        places: list[int] = []
        for owner in sorted(set(race.owners)):
            own = [place for place, other in enumerate(race.owners) if other == owner]
            instrumented_process = self._instrumented_processes[owner]
            instrumented_process.watch(self.folder)
            first, *then = (partial(self._send, owner, race.operations[place]) for place in own)
            writers.append(ScheduledWriter(instrumented_process, first, tuple(then), self._closed(owner)))
            places += own
        seconds = max(session.timeout for session in self.slots)
        # Where no table is, the first writer makes folders before it lists the log.
        together = self.model_history.table.exists
        return interleave(self._turnstile, writers, race.schedule, seconds, together=together), places

    def _closed(self, owner: int) -> frozenset[str]:
        """The gates at which an engine is not held, so that it takes a version as soon as it has found it free."""
        in_turn = self.processes == IN_TURN and not promises(self.slots[owner])
        return frozenset({PUBLISH}) if in_turn else frozenset()

    def _send(self, place: int, operation: Operation) -> Callable[[], Answer]:
        """Send an operation to a writer's host; the answer is waited for by calling what this returns."""
        host, timeout = self.slots[place].host, self.slots[place].timeout
        if isinstance(operation, Query):
            return host.submit_read(operation, timeout).result
        return host.submit(operation, f"{self.tag}-{place}", timeout).result

    def _count_race(self, race: Interleave, answers: Mapping[int, Answer | Exception]) -> None:
        """Count what the engines executed, and how long they took: they work side by side, so the longest counts."""
        for owner in race.owners:
            self.speaker_of(owner).count(0.0, calls=1)
        longest = max(answers, key=lambda place: getattr(answers[place], "seconds", 0.0))
        self.speaker_of(race.owners[longest]).count(getattr(answers[longest], "seconds", 0.0))

    def _open_anew(self) -> tuple[EngineSession, HostFailure] | None:
        """Have every engine open the table, cold; returns the first that can't, with its failure."""
        for engine_session in self.slots:
            if not engine_session.host.alive and engine_session.host.barren_restarts < MOST_BARREN_RESTARTS:
                try:
                    engine_session.host.restart().ready()
                except HostError as error:
                    return engine_session, engine_session.lose(error)
                engine_session.rejoin()
        pending = [engine_session.submit_open(self.folder) for engine_session in self.slots]
        failures = [
            (pending_open.engine_session, failure)
            for pending_open in pending
            if (failure := pending_open.collect()) is not None
        ]
        return next(iter(failures), None)

    # What came of a race

    def speaker_of(self, owner: int) -> EngineSession:
        """The engine session that stands for a writer and its twins."""
        engine = self.slots[owner].engine
        return next(session for session in self.engine_sessions if session.engine == engine)

    def observe_race(self, run: PendingRace) -> tuple[Observation, EngineSession]:
        """What came of a race, and the engine that answers for it. The model takes the step by what explains it."""
        race, result = run.race, run.result
        step, before = self.model_history.step, self.log.snapshot
        self.asked += 1
        self.followed += not result.failures and (
            race.writers != () or not any(LEFT in problem for problem in result.problems)
        )
        commits, error = self.log.advance(step)
        race_observation = self._race_observation(run)
        self.raced.append(race_observation)
        end = self._end_of(race_observation, error)
        writer = self._answerable(race_observation)
        if run.failure is None:
            self.model_history = self.model_history.after(race, end)
        observation = self.observe(
            race,
            Expectation((end,)),
            engine=writer.engine,
            outcome=race_observation.outcomes[0],
            branch=end,
            before=before,
            commits=commits,
            log_error=error,
            step=step,
            wrote=True,
            race=race_observation,
        )
        return observation, writer

    def _race_observation(self, run: PendingRace) -> RaceObservation:
        race, answers = run.race, run.answers
        timeline = tuple((run.places[number], gate) for number, gate in run.result.timeline)
        rows_read = {}
        for place, answer in answers.items():
            if isinstance(answer, ReadReply) and answer.table is not None:
                rows = left_of(answer.table, self.model_history.table.schema)
                if isinstance(rows, Rows):
                    rows_read[place] = rows
        return RaceObservation(
            model_history=self.model_history,
            operations=race.operations,
            owners=race.owners,
            outcomes=tuple(_outcome_of(answers[place]) for place in range(len(race.operations))),
            overlap=self.overlap or overlap_of(self.model_history, race.operations),
            seen=rows_read,
            published={place: _published(timeline, race.owners, place) for place in rows_read},
            failures=run.result.failures,
            isolation=self.isolation,
            timeline=timeline,
            authors=commit_authors(sorted(set(race.owners)), run.result.records),
        )

    def _end_of(self, race_observation: RaceObservation, error: Exception | None) -> AllowedOutcome:
        """The table after a race, by the order that explains it; where none does the history is over."""
        writes = zip(
            race_observation.operations, race_observation.owners, race_observation.outcomes, strict=True
        )
        done = [
            CompletedOperation(operation, owner)
            for operation, owner, outcome in writes
            if not isinstance(outcome, Rejected)
        ]
        snapshot, table = self.log.snapshot, None
        if error is None and snapshot is not None:
            with contextlib.suppress(LogError):  # the rules of the log tell
                rows, configured = self.log.reader.rows(snapshot), snapshot.metadata.configuration
                table = find_explanation(race_observation.model_history, done, rows, configured)
        if table is None or any(isinstance(outcome, Unknown) for outcome in race_observation.outcomes):
            self.stop("the writers at once left what no order explains")
        model = table or race_observation.model_history.table
        return AllowedOutcome(Committed(), (0, ANY_NUMBER), model, "race.no-lost-update")

    def _answerable(self, race_observation: RaceObservation) -> EngineSession:
        """The engine that answers for what a race has left: the last to commit, for it could see what came between.

        An engine that does not promise that commits of several processes keep apart answers instead: its commit may
        replace any other.
        """
        unsafe = [session for session in self.engine_sessions if session.engine in self.unpromised]
        if unsafe:
            return unsafe[0]
        timeline, outcomes = race_observation.timeline, race_observation.outcomes
        done = [place for place, _ in timeline if not isinstance(outcomes[place], Rejected | NoChange)]
        last = done[-1] if done else timeline[-1][0] if timeline else 0
        return self.speaker_of(race_observation.owners[last])


@dataclass(frozen=True, slots=True)
class PendingRace:
    """A race that is over, and the reads after it that engines still owe.

    `places` are those of the operations in the race as `result` numbers them, `answers` are by place. `failure` is that
    of an engine that could not open the table afterwards.
    """

    table_session: RaceTableSession
    race: Interleave
    result: InterleavingResult[Answer]
    places: Sequence[int]
    answers: Mapping[int, Answer | Exception]
    failure: tuple[EngineSession, HostFailure] | None
    reads: dict[str, PendingQuery]

    def wait(self) -> None:
        """Wait until no engine is needed any more."""
        collect_all(self.reads)

    def collect(self) -> Collected:
        """Read the log, and judge the race; every violation is charged to the engine that is to blame."""
        table, race = self.table_session, self.race
        observation, writer = table.observe_race(self)
        if self.failure is not None:
            return [table.judge_failure(*self.failure, race)], None
        planned, checks = [PlannedRead("reopen", Read(), Read())], run_log_checks(observation)
        reads = PendingReads(table, observation, planned, self.reads, writer=writer, checks=checks)
        speakers = [table.speaker_of(owner) for owner in race.owners]
        authors: dict[int, EngineSession] = {}
        if not table.unpromised and observation.race is not None:
            authors = {
                version: table.speaker_of(owner) for version, owner in observation.race.authors.items()
            }
        step_results, following = reads.collect()
        charged = [
            result
            for step_result in step_results
            for result in attribute_violations(step_result, authors, speakers, table.unpromised)
        ]
        return charged, following


def promises(engine_session: EngineSession) -> bool:
    """Whether an engine promises that its commits and those of other processes keep apart on local files."""
    return engine_session.capabilities.guarantees.get(GUARANTEE, True)


def _distinct(engine_sessions: Sequence[EngineSession]) -> list[EngineSession]:
    """One session of each engine."""
    return list({session.engine: session for session in reversed(engine_sessions)}.values())[::-1]


def _outcome_of(answer: Answer | Exception) -> Outcome:
    match answer:
        case Reply(outcome=outcome):
            return outcome
        case ReadReply(outcome=refused):
            return refused or NoChange()
    return Unknown(str(answer).splitlines()[0])


def _published(timeline: Sequence[tuple[int, str]], owners: Sequence[int], reader: int) -> frozenset[int]:
    """The operations that had passed their last gate when a reader passed its own.

    A reader that looks at nothing, for its engine knows what it has committed itself, reads as soon as what that engine
    was sent before is done.
    """
    turn = max((number for number, (place, _) in enumerate(timeline) if place == reader), default=None)
    if turn is None:
        before = [place <= reader and owners[place] == owners[reader] for place, _ in timeline]
        turn = max((number + 1 for number, own in enumerate(before) if own), default=0)
    last_turns = {place: number for number, (place, _) in enumerate(timeline)}
    return frozenset(place for place, last in last_turns.items() if last < turn)
