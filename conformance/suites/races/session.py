"""A table at which engines write at once, let through their gates in an order that is data."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Self

from conformance.checks import run_log_checks
from conformance.execution.engine_session import EngineSession, HostFailure
from conformance.execution.stream_readers import left_of
from conformance.execution.table_copies import copy_folder
from conformance.execution.table_session import Answer, StepResult, TableSession
from conformance.fault_injection.controller import Turnstile
from conformance.fault_injection.gates import PUBLISH, GateTracker
from conformance.fault_injection.instrumented_process import InstrumentedProcess
from conformance.fault_injection.interleaving import InterleavingResult, ScheduledWriter, interleave
from conformance.histories import Step
from conformance.observations.observation import Observation, RaceObservation, ReadObservation
from conformance.suites.races.attribution import attribute_violations, commit_authors
from delta_adapters.contract import Query as Asked
from delta_adapters.host_client import ReadReply, Reply
from delta_models.concurrency import (
    WRITE_SERIALIZABLE,
    CompletedOperation,
    find_explanation,
    isolation_of,
    overlap_of,
)
from delta_models.log import LogError, LogReader
from delta_models.log.file_cache import StoredColumns
from delta_models.operations import Interleave, Operation, Optimize, Read, Reopen
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown
from delta_models.table import AllowedOutcome, Expectation
from delta_models.table.expectation import ANY_NUMBER
from delta_models.values import Rows

GUARANTEE = "commits-of-several-processes-on-local-files"
SERIALIZES = "serializable"
SEVERAL, IN_TURN = "several", "several-in-turn"
LEFT = "the schedule leaves"  # in what is told of a writer that had more to do than alone


@dataclass(frozen=True, slots=True)
class _Run:
    """What engines did in a race: how it went, the place of each answer in it and the answers by that, who could not
    open the table afterwards, and what is read there."""

    went: InterleavingResult[Reply | ReadReply]
    order: Sequence[int]
    told: Mapping[int, Reply | ReadReply | Exception]
    lost: tuple[EngineSession, HostFailure] | None
    reads: Mapping[str, Answer]


class RaceTableSession(TableSession):
    """A table, and a seat for each writer of a race. Readers and writers are told by what they are asked.

    Where several take turns, an engine that does not promise that its commits and those of other processes keep apart
    is not held between its look whether a version is free and its taking it.
    """

    def __init__(
        self,
        folder: Path,
        engine_sessions: Sequence[EngineSession],
        instrumented_processes: Sequence[InstrumentedProcess],
        turnstile: Turnstile,
        tag: str,
    ) -> None:
        super().__init__(folder, _distinct(engine_sessions), 0, tag, looks_around=False)
        self.reader = LogReader(folder, stored=StoredColumns())
        self._all = list(engine_sessions)
        self.overlap = ""  # as the model finds it
        self.asked = 0
        self.followed = 0
        self.raced: list[RaceObservation] = []
        self.processes = SEVERAL
        self._authors: dict[int, EngineSession] = {}
        self._begun: _Run | Exception | None = None
        self._actors = instrumented_processes
        self._turnstile = turnstile

    @property
    def sitting(self) -> list[EngineSession]:
        """A seat for each slot; where it is no race, one of each engine speaks for its twins."""
        return self._all

    def open_all(self) -> Iterator[StepResult]:
        """Have every engine address the table, all at once, whatever it did at another."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        for engine_session in self._all:
            engine_session.left = None
        for engine_session, opened in [(each, each.opening(self.folder)) for each in self._all]:
            if lost := opened():
                yield self._lost(engine_session, lost, Reopen())

    def reopen_all(self) -> Iterator[StepResult]:
        """Have every engine address this table again: they may have been at another meanwhile."""
        for engine_session in self._all:
            if self.plays and (lost := engine_session.open(self.folder)):
                yield self._lost(engine_session, lost, Reopen())

    def copy(self, folder: Path) -> Self:
        """The same table elsewhere, at the same point of its history, with seats of its own for the same engines."""
        engine_sessions = [replace(each, left=None, operations=0, seconds=0.0) for each in self._all]
        other = type(self)(folder, engine_sessions, self._actors, self._turnstile, self._tag)
        other.overlap, other.processes = self.overlap, self.processes
        other.begin_as(self)
        return other

    def begin_as(self, other: RaceTableSession) -> None:
        """Have the other's table, at the same point of its history. Its files are copied where there are none yet."""
        if not self.folder.exists():
            copy_folder(other.folder, self.folder)
        self.reader = LogReader(self.folder, stored=other.reader.stored)
        self.model_history, self.versions, self.snapshot = other.model_history, other.versions, other.snapshot
        self.stream_readers = other.stream_readers.copy()

    def count(self, other: RaceTableSession) -> None:
        """What engines were asked at a copy was asked of those who sit here."""
        for mine, theirs in zip(self._all, other._all, strict=True):
            mine.operations += theirs.operations
            mine.seconds += theirs.seconds

    @property
    def isolation(self) -> str:
        """The level that the table asks for, as far as all who write promise it."""
        promised = all(each.capabilities.guarantees.get(SERIALIZES, False) for each in self._all)
        return isolation_of(self.model_history.table) if promised else WRITE_SERIALIZABLE

    def gates(self, place: int, operation: Operation) -> int:
        """Through how many gates an operation goes when nothing is in its way."""
        passed = GateTracker(closed=self._closed(place))
        instrumented_process = self._actors[place]
        instrumented_process.watch(self.folder)
        instrumented_process.begin(gate=lambda event: passed(event) and False)
        self._submit(place, operation)()
        instrumented_process.end()
        return len(passed.passed)

    def play(self, step: Step) -> Iterator[StepResult | None]:
        """One step; where it is a race, of all at once."""
        race = step.operation
        if not isinstance(race, Interleave):
            yield from super().play(step)
        elif not self._can(race):
            self._pass(Optimize())
        else:
            run, self._begun = self._begun or self._run(race), None
            if isinstance(run, Exception):
                raise run
            yield from self._judge_race(race, run)

    def begin(self, race: Interleave, raced: Callable[[], None] = lambda: None) -> list[StepResult]:
        """Sit down, and all of a race that engines are needed for; `play` does what is left, and raises what this would
        have. Who was lost before the race. `raced` is called when the engines have only to read any more."""
        lost = list(self.open_all())
        if self.plays and self._can(race):
            try:
                run = self._run(race)
                raced()
                reads = {engine: _known(answer()) for engine, answer in run.reads.items()}
                self._begun = replace(run, reads=reads)
            except Exception as error:  # noqa: BLE001 - as said
                self._begun = error
        return lost

    def _can(self, race: Interleave) -> bool:
        return not any(
            owner >= len(self._all) or self._cannot(self._all[owner], operation)
            for operation, owner in zip(race.operations, race.owners, strict=True)
        )

    def _run(self, race: Interleave) -> _Run:
        went, order = self._interleave(race)
        told = dict(zip(order, went.answers, strict=True))
        self._count(race, told)
        lost = self._open_anew()
        return _Run(went, order, told, lost, {} if lost else self._ask(Read()))

    def _judge_race(self, race: Interleave, run: _Run) -> Iterator[StepResult]:
        number, before, model_history = self.model_history.step, self.snapshot, self.model_history
        went, order, told, lost = run.went, run.order, run.told, run.lost
        self.asked += 1
        self.followed += not went.failures and (
            race.writers != () or not any(LEFT in problem for problem in went.problems)
        )
        outcomes = tuple(self._outcome(told[place]) for place in range(len(race.operations)))
        added, error = self._advance()
        seen_by = self._seen(told)
        timeline = [(order[at], gate) for at, gate in went.timeline]
        published = {place: _published(timeline, race.owners, place) for place in seen_by}
        overlap = self.overlap or overlap_of(model_history, race.operations)
        raced = RaceObservation(
            model_history, race.operations, race.owners, outcomes, overlap, seen_by, published,
            went.failures, self.isolation,
            tuple(timeline),
        )  # fmt: skip
        self.raced.append(raced)
        end = self._end(raced, error)
        expectation = Expectation((end,))
        reader = self._answerable(timeline, race, outcomes)
        made = commit_authors(sorted(set(race.owners)), went.records)
        self._authors = {version: self._speaker(self._all[owner]) for version, owner in made.items()}
        looks: dict[str, list[ReadObservation]] = {}
        observation = Observation(
            reader.engine, number, race, self.folder, expectation, outcomes[0], end, end.table,
            self.reader, before, self.snapshot, added, (), error, self.versions, race=raced,
        )  # fmt: skip
        if lost is not None:
            yield self._lost(*lost, race)
            return
        self.model_history = model_history.after(race, end)
        self._remember(number)
        begun = run_log_checks(observation)
        yield from self._gather(looks, observation, run.reads, "reopen", Read())
        yield from self._judge_looks(looks, observation, reader, begun)

    def _open_anew(self) -> tuple[EngineSession, HostFailure] | None:
        """Have every engine address the table, cold; who can't, with what became of it."""
        for engine_session in self._all:
            if not engine_session.host.alive:
                engine_session.host.restart().ready()
                engine_session.left = None
        opening = [(each, each.opening(self.folder)) for each in self._all]
        found = [
            (engine_session, lost) for engine_session, opened in opening if (lost := opened()) is not None
        ]
        return next(iter(found), None)

    def _charged(self, step_result: StepResult) -> Iterator[StepResult]:
        race = step_result.seen.race
        if race is None or not step_result.violations:
            yield step_result
            return
        replaceable = self.processes == SEVERAL and not all(map(promises, self.engine_sessions))
        asked = [self._speaker(self._all[owner]) for owner in race.owners]
        yield from attribute_violations(step_result, {} if replaceable else self._authors, asked)

    def promised(self, engine_session: EngineSession) -> bool:
        """Not where commits of several processes meet, for who promises nothing of those."""
        return self.processes != SEVERAL or promises(engine_session)

    def _count(self, race: Interleave, told: Mapping[int, Reply | ReadReply | Exception]) -> None:
        """What the engines were asked, and how long they took: they work side by side, so the longest counts."""
        for owner in race.owners:
            self._speaker(self._all[owner]).operations += 1
        longest = max(told, key=lambda place: getattr(told[place], "seconds", 0.0))
        self._speaker(self._all[race.owners[longest]]).seconds += getattr(told[longest], "seconds", 0.0)

    def _speaker(self, engine_session: EngineSession) -> EngineSession:
        """The seat that speaks for an engine and its twins."""
        return next(session for session in self.engine_sessions if session.engine == engine_session.engine)

    def _answerable(
        self, timeline: Sequence[tuple[int, str]], race: Interleave, outcomes: Sequence[Outcome]
    ) -> EngineSession:
        """Who answers for what a race has left: whoever committed last, for it was up to him to see what came between.

        Where one does not promise that commits of several processes keep apart, he does: his may replace any other.
        """
        unsafe = [engine_session for engine_session in self.engine_sessions if not promises(engine_session)]
        if unsafe and self.processes == SEVERAL:
            return unsafe[0]
        done = [at for at, _ in timeline if not isinstance(outcomes[at], Rejected | NoChange)]
        last = done[-1] if done else timeline[-1][0] if timeline else 0
        return self._speaker(self._all[race.owners[last]])

    def _interleave(self, race: Interleave) -> tuple[InterleavingResult[Reply | ReadReply], list[int]]:
        """Let the writers loose; how it went, and the place of each of its operations in the race."""
        writers: list[ScheduledWriter[Reply | ReadReply]] = []
        order: list[int] = []
        for owner in sorted(set(race.owners)):
            mine = [place for place, each in enumerate(race.owners) if each == owner]
            self._actors[owner].watch(self.folder)
            first, *then = (partial(self._submit, owner, race.operations[place]) for place in mine)
            writers.append(ScheduledWriter(self._actors[owner], first, tuple(then), self._closed(owner)))
            order += mine
        seconds = max(each.timeout for each in self._all)
        together = self.model_history.table.exists  # else who comes first makes folders before he looks
        return interleave(self._turnstile, writers, race.schedule, seconds, together=together), order

    def _closed(self, owner: int) -> frozenset[str]:
        """The gates at which an engine is not held: whoever looks whether a version is free, and only then takes it, is
        held before it looks."""
        in_turn = self.processes == IN_TURN and not promises(self._all[owner])
        return frozenset({PUBLISH}) if in_turn else frozenset()

    def _end(self, race: RaceObservation, error: Exception | None) -> AllowedOutcome:
        """The table after a race, by the order that explains it; where none does the history is over."""
        done = [
            CompletedOperation(operation, owner)
            for operation, owner, outcome in zip(race.operations, race.owners, race.outcomes, strict=True)
            if not isinstance(outcome, Rejected)
        ]
        table = None
        if error is None and self.snapshot is not None:
            with contextlib.suppress(LogError):  # the rules of the log tell
                configured = self.snapshot.metadata.configuration
                table = find_explanation(
                    race.model_history, done, self.reader.rows(self.snapshot), configured
                )
        if table is None or any(isinstance(each, Unknown) for each in race.outcomes):
            self.left = "the writers at once left what no order explains"
        return AllowedOutcome(
            Committed(), (0, ANY_NUMBER), table or race.model_history.table, "race.no-lost-update"
        )

    def _submit(self, place: int, operation: Operation) -> Callable[[], Reply | ReadReply]:
        host, timeout = self._all[place].host, self._all[place].timeout
        if isinstance(operation, Asked):
            return host.submit_read(operation, timeout).result
        return host.submit(operation, f"{self._tag}-{place}", timeout).result

    @staticmethod
    def _outcome(answer: Reply | ReadReply | Exception) -> Outcome:
        match answer:
            case Reply(outcome=outcome):
                return outcome
            case ReadReply(outcome=refused):
                return refused or NoChange()
        return Unknown(str(answer).splitlines()[0])

    def _seen(self, told: Mapping[int, Reply | ReadReply | Exception]) -> dict[int, Rows]:
        found = {}
        for place, answer in told.items():
            if isinstance(answer, ReadReply) and answer.table is not None:
                rows = left_of(answer.table, self.model_history.table.schema)
                if isinstance(rows, Rows):
                    found[place] = rows
        return found


def _known(reply: ReadReply | HostFailure) -> Answer:
    return lambda: reply


def _distinct(engine_sessions: Sequence[EngineSession]) -> list[EngineSession]:
    """One seat of each engine."""
    return list(
        {engine_session.engine: engine_session for engine_session in reversed(engine_sessions)}.values()
    )[::-1]


def promises(engine_session: EngineSession) -> bool:
    """Whether an engine promises that its commits and those of other processes keep apart on local files."""
    return engine_session.capabilities.guarantees.get(GUARANTEE, True)


def _published(timeline: Sequence[tuple[int, str]], owners: Sequence[int], reader: int) -> frozenset[int]:
    """Who had been let through its last gate when a reader was let through its own. One that looks at nothing, for its
    engine knows what it has committed itself, reads as soon as what that was asked before is done."""
    at = max((step for step, (place, _) in enumerate(timeline) if place == reader), default=None)
    if at is None:
        before = [place <= reader and owners[place] == owners[reader] for place, _ in timeline]
        at = max((step + 1 for step, mine in enumerate(before) if mine), default=0)
    through = {
        place: step for step, (place, _) in enumerate(timeline)
    }  # where it was let through its last gate
    return frozenset(place for place, last in through.items() if last < at)
