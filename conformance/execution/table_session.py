"""Plays a history at tables: hands each step to engines, parses what they did to the log, makes the looks,
has all judged.

A `TableSession` is a table with the engines that sit at it: in *lockstep* one engine, on its own copy; on a *shared*
table several, of which the step's slot says who performs it, while all read. A desk knows what the model says
of its table, which may differ between desks where the rules leave an operation free, and maps states to
versions by its own log.

Desks take turns inside a step: each asks its engine and lets the next desk ask before it waits, and our own
reading of the log is done while the engine reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.checks import CheckReport, PendingChecks, run_checks, run_log_checks
from conformance.execution.engine_session import ANSWERS, LIVES, SPEAKS, EngineSession, HostFailure
from conformance.execution.input_files import write_input_files
from conformance.execution.outcome_matching import ObservedState
from conformance.execution.read_results import kind_of, observe_query, observe_read
from conformance.execution.read_schedule import ReadSchedule
from conformance.execution.stop_conditions import ViolationDeduplicator, violations_that_end_history
from conformance.execution.stream_readers import StreamReaders
from conformance.generation import SLOTS
from conformance.histories import Step
from conformance.observations.observation import Observation, ReadObservation
from conformance.observations.version_resolution import resolve_states, version_of
from delta_adapters.contract import Query as Asked
from delta_adapters.host_client import ReadReply, Reply
from delta_models.log import Commit, LogError, LogReader, NoTable, Snapshot
from delta_models.operations import (
    QUERIES,
    AtState,
    AtTime,
    Checkpoint,
    CleanLog,
    CloneTo,
    CompactLog,
    Detail,
    History,
    Operation,
    Optimize,
    Purge,
    Read,
    ReadChanges,
    ReadStream,
    Reopen,
    SetZone,
    SwitchActor,
    Vacuum,
    ZOrder,
)  # fmt: skip
from delta_models.outcomes import NoChange, Unknown
from delta_models.requirements import BY_ID, Violation
from delta_models.schema import Struct
from delta_models.table import ModelHistory
from delta_models.wire_names import name_of

KEEPS_CONTENT = (Checkpoint, CleanLog, CloneTo, CompactLog, Optimize, Purge, SetZone, Vacuum, ZOrder)
Answer = Callable[[], ReadReply | HostFailure]


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one engine was held to in one step: what was seen, what was wrong, how often each rule was checked.

    `faults` are the harness' own.
    """

    engine_session: EngineSession
    seen: Observation
    violations: tuple[Violation, ...]
    evidence: Mapping[str, int]
    faults: tuple[str, ...] = ()


class TableSession:
    """A table and those who sit at it. `left` says why its history ended early, `not_asked` if nothing was wrong.

    `handed_to` is the slot that performed the step at hand where the engine of the step's own slot could not.
    `processes` says in how many of them the writers are: one or several.
    """

    processes = "one"

    def __init__(
        self,
        folder: Path,
        engine_sessions: Sequence[EngineSession],
        seed: int,
        tag: str,
        *,
        looks_around: bool = True,
    ) -> None:
        self.folder = folder
        self.engine_sessions = list(engine_sessions)
        self.left: str | None = None
        self.not_asked: str | None = None
        self.handed_to: str | None = None
        self.model_history = ModelHistory()
        self.versions: dict[int, int] = {}
        self.snapshot: Snapshot | None = None
        self._tag = tag
        self._rhythm = ReadSchedule(
            seed, sparing=any(engine_session.dear for engine_session in engine_sessions)
        )
        self.reader = LogReader(folder)
        self._looks_around = looks_around
        self._latest: dict[str, ReadObservation] = {}
        self._heard = ViolationDeduplicator()
        self.stream_readers = StreamReaders()
        self._addresses = 0

    @property
    def plays(self) -> bool:
        """Whether the history still goes on here."""
        return self.left is None and any(engine_session.plays for engine_session in self.engine_sessions)

    @property
    def sitting(self) -> list[EngineSession]:
        """Who sits here, by slot."""
        return self.engine_sessions

    def open_all(self) -> Iterator[StepResult]:
        """Have every engine address the table."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        for engine_session in self.engine_sessions:
            if lost := engine_session.open(self.folder):
                yield self._lost(engine_session, lost, Reopen())

    def play(self, step: Step) -> Iterator[StepResult | None]:
        """One step. Yields None where an engine has been asked and other desks may go on meanwhile."""
        operation = step.operation
        self.handed_to = None
        if isinstance(operation, Reopen):
            yield from self._reopen(operation)
        elif isinstance(operation, (SwitchActor, *QUERIES)):
            if isinstance(operation, Read):
                yield from self._look(operation)
            elif isinstance(operation, ReadChanges | History | Detail | ReadStream):
                yield from self._hear(operation)
            number = self.model_history.step
            self.model_history = self.model_history.after(operation)
            self._remember(number)
        else:
            yield from self._perform(step)

    # The parts of a step

    def _perform(self, step: Step) -> Iterator[StepResult | None]:
        operation, number = step.operation, self.model_history.step
        engine_session = self._performer(step)
        if engine_session is None:
            self._pass(operation)
            return
        asked = self._translated(operation)
        if asked is None:
            self._stop_asking(f"{name_of(operation)} goes back to a state that this copy never had")
            return
        if self._looks_around and self.model_history.table.exists:
            for read in self._rhythm.before(operation, self.model_history.table.schema):
                yield from self._look(read)
                if not engine_session.plays:
                    return
        write_input_files(operation, self.folder, number, exists=self.model_history.table.exists)
        self._latest = {}
        answer = engine_session.execute(asked, f"{self._tag}-{number}")
        yield None
        reply = answer()
        if isinstance(reply, HostFailure):
            yield self._lost(engine_session, reply, operation)
        else:
            yield from self._performed(engine_session, operation, reply)

    def _performed(
        self, engine_session: EngineSession, operation: Operation, reply: Reply
    ) -> Iterator[StepResult | None]:
        """What a step that an engine has answered did to the table."""
        number, expectation, before = (
            self.model_history.step,
            self.model_history.expect(operation),
            self.snapshot,
        )
        reads = self._ask(Read())
        yield None
        commits, error = self._advance()
        held = ObservedState(self.reader, self.snapshot)
        branch = None if error is not None else held.end_of(expectation, reply.outcome, len(commits))
        if branch is None:
            self.left = f"{name_of(operation)} ended as the model does not allow"
        self.model_history = self.model_history.after(operation, held.bound(branch) or expectation.ordinary)
        self._remember(number)
        observation = Observation(
            engine_session.engine, number, operation, self.folder, expectation, reply.outcome,
            branch, self.model_history.table,
            self.reader, before, self.snapshot, commits, (), error, self.versions,
        )  # fmt: skip
        yield from self._judged(self._noticed(observation), engine_session, reads, "latest")

    def _noticed(self, observation: Observation) -> Observation:
        """What else is known of a step that an engine performed."""
        if not isinstance(observation.operation, Vacuum):
            return observation
        return replace(
            observation,
            retained=self.model_history.readable_steps(),
            recent=self.model_history.steps_newer_than(observation.operation),
        )

    def _reopen(self, operation: Operation) -> Iterator[StepResult | None]:
        """The table through new links, cold for every engine."""
        number, expectation = self.model_history.step, self.model_history.expect(operation)
        for engine_session in [session for session in self.engine_sessions if session.plays]:
            if lost := engine_session.open(self._new_address()):
                yield self._lost(engine_session, lost, operation)
        reads = self._ask(Read())
        yield None
        self.model_history = self.model_history.after(operation)
        self._remember(number)
        observation = Observation(
            "", number, operation, self.folder, expectation, NoChange(), expectation.ordinary, self.model_history.table,
            self.reader, self.snapshot, self.snapshot, versions=self.versions, wrote=False,
        )  # fmt: skip
        yield from self._judged(observation, None, reads, "reopen")

    def _look(self, read: Read) -> Iterator[StepResult | None]:
        """A read of its own, beside the unfiltered rows that it can be held against."""
        plain = replace(read, where=None, columns=None)
        known = self._latest if plain == Read() else {}
        observation = Observation(
            "", self.model_history.step, read, self.folder, self.model_history.expect(read),
            NoChange(), None, self.model_history.table,
            self.reader, self.snapshot, self.snapshot, versions=self.versions, wrote=False,
        )  # fmt: skip
        found: dict[str, list[ReadObservation]] = {}
        for kind, each in ((kind_of(read), read), *([(kind_of(plain), plain)] if plain != read else [])):
            if self._translated(each) is None:
                return
            reads = self._ask(each, but=known if each == plain else ())
            yield None
            yield from self._gather(found, observation, reads, kind, each)
        for engine in found.keys() & known.keys():
            found[engine].append(replace(known[engine], again=True))
        yield from self._judge_looks(found, observation, None)

    def _hear(self, look: ReadChanges | History | Detail | ReadStream) -> Iterator[StepResult | None]:
        """What engines tell of the table's past, or of the table."""
        if self.snapshot is None or self._translated(look) is None:
            return
        observation = Observation(
            "", self.model_history.step, look, self.folder, self.model_history.expect(look),
            NoChange(), None, self.model_history.table,
            self.reader, self.snapshot, self.snapshot, versions=self.versions, wrote=False,
        )  # fmt: skip
        answers = self._ask(look)
        yield None
        found: dict[str, list[ReadObservation]] = {}
        for engine_session in self.engine_sessions:
            if engine_session.engine in answers:
                reply = answers[engine_session.engine]()
                if isinstance(reply, HostFailure):
                    yield self._lost(engine_session, reply, look)
                    continue
                schema, model_history = self.snapshot.schema, self.model_history
                if isinstance(look, ReadStream):
                    found[engine_session.engine] = [
                        self.stream_readers.look(look, engine_session.engine, model_history, schema, reply)
                    ]
                else:
                    found[engine_session.engine] = [observe_query(look, model_history, schema, reply)]
        yield from self._judge_looks(found, observation, None)

    def _judged(
        self, observation: Observation, writer: EngineSession | None, reads: Mapping[str, Answer], kind: str
    ) -> Iterator[StepResult | None]:
        """What engines answer about the table after a step, and the verdict: on the log while they read."""
        found: dict[str, list[ReadObservation]] = {}
        begun = None if writer is None else run_log_checks(observation)
        yield from self._gather(found, observation, reads, kind, Read())
        if self._looks_around and observation.after is not None and self.left is None:
            for other, read in self._rhythm.after(
                observation.step, self.model_history.table.schema, self.model_history.readable_steps()
            ):
                if self._translated(read) is not None:
                    answers = self._ask(read)
                    yield None
                    yield from self._gather(found, observation, answers, other, read)
        yield from self._judge_looks(found, observation, writer, begun)

    def _judge_looks(
        self,
        found: Mapping[str, list[ReadObservation]],
        observation: Observation,
        writer: EngineSession | None,
        begun: PendingChecks | None = None,
    ) -> Iterator[StepResult]:
        for engine_session in self.engine_sessions:
            if engine_session is not writer and engine_session.engine not in found:
                continue
            looks = tuple(found.get(engine_session.engine, ()))
            mine = replace(
                observation, engine=engine_session.engine, looks=looks, wrote=engine_session is writer
            )
            said = run_checks(mine, pending=begun if engine_session is writer else None)
            self._leave_if_violated(engine_session, mine, said)
            evidence = said.evidence | {each: len(looks) + mine.wrote for each in (LIVES, ANSWERS, SPEAKS)}
            news = self._heard.news(engine_session.engine, said.violations)
            yield from self._charged(StepResult(engine_session, mine, news, evidence, said.faults))

    def promised(self, engine_session: EngineSession) -> bool:  # noqa: ARG002 - for desks where others come between
        """Whether an engine promises what it is held to here."""
        return True

    def _charged(self, step_result: StepResult) -> Iterator[StepResult]:
        """Who is told of a breach: who was judged."""
        yield step_result

    # Asking

    def _performer(self, step: Step) -> EngineSession | None:
        """Who performs a step: the first from the step's slot on that claims to be able to."""
        self.handed_to = step.by
        wanted = step.by or step.slot
        turn = SLOTS.index(wanted) % len(self.engine_sessions) if wanted else 0
        for engine_session in self.engine_sessions[turn:] + self.engine_sessions[:turn]:
            if engine_session.plays and self._cannot(engine_session, step.operation) is None:
                if engine_session is not self.engine_sessions[turn]:
                    self.handed_to = SLOTS[self.engine_sessions.index(engine_session)]
                return engine_session
        return None

    def _cannot(
        self, engine_session: EngineSession, operation: Operation, *, writing: bool = True
    ) -> str | None:
        """Why an engine does not claim an operation, on a table with the features that another may have given it."""
        reason = engine_session.capabilities.covers(operation)
        if reason is not None or self.snapshot is None:
            return reason
        protocol = self.snapshot.protocol
        named = protocol.writer_features if writing else protocol.reader_features
        return engine_session.capabilities.covers_features(set(named or ()), writing=writing)

    def _pass(self, operation: Operation) -> None:
        """Nobody here performs this step. What only tidies up may be passed over; else the copy would be another."""
        number = self.model_history.step
        if isinstance(operation, KEEPS_CONTENT):
            self.model_history = self.model_history.after(Reopen())
            self._remember(number)
        else:
            reasons = {
                self._cannot(engine_session, operation) or engine_session.left or ""
                for engine_session in self.engine_sessions
            }
            self._stop_asking("; ".join(sorted(reasons)))

    def _stop_asking(self, why: str) -> None:
        self.left = self.not_asked = why

    def _ask(self, read: Asked, but: Collection[str] = ()) -> dict[str, Answer]:
        """Ask every engine that claims to be able to for rows; what comes back is called for the answers."""
        asked = self._translated(read)
        return {
            engine_session.engine: engine_session.read(asked)
            for engine_session in self.engine_sessions
            if engine_session.plays and engine_session.engine not in but
            and isinstance(asked, Asked) and self._cannot(engine_session, asked, writing=False) is None
        }  # fmt: skip

    def _gather(
        self,
        found: dict[str, list[ReadObservation]],
        observation: Observation,
        answers: Mapping[str, Answer],
        kind: str,
        read: Read,
    ) -> Iterator[StepResult]:
        """Wait for answers, and turn them into looks; an engine that is lost meanwhile is told of at once."""
        expected = self.model_history.expect_read(read)
        for engine_session in self.engine_sessions:
            if engine_session.engine not in answers:
                continue
            reply = answers[engine_session.engine]()
            if isinstance(reply, HostFailure):
                yield self._lost(engine_session, reply, observation.operation)
            else:
                look = observe_read(kind, read, expected, self._columns(read), reply)
                found.setdefault(engine_session.engine, []).append(look)
                if read == Read():
                    self._latest[engine_session.engine] = look

    def _columns(self, read: Read) -> Struct:
        """The schema that an answer should have: the log's, since a reader is measured against the log before it."""
        schema = self._schema(read)
        if read.columns is None:
            return schema
        known = {candidate.casefold() for candidate in schema.names}
        return Struct(tuple(schema[name] for name in read.columns if name.casefold() in known))

    def _schema(self, read: Read) -> Struct:
        back = isinstance(read.at, AtState | AtTime)
        table = (
            self.model_history.state(read.at.step)
            if isinstance(read.at, AtState | AtTime)
            else self.model_history.table
        )
        try:
            if not back:
                return table.schema if self.snapshot is None else self.snapshot.schema
            version = version_of(read.at, self.versions)
            return table.schema if version is None else self.reader.snapshot(version).schema
        except LogError:
            return table.schema

    def _translated(self, operation: Operation) -> Operation | None:
        """The operation as this copy's engine must be asked."""
        return resolve_states(operation, self.versions, self.reader)

    # What happened

    def _advance(self) -> tuple[tuple[Commit, ...], Exception | None]:
        """Read what the step added to the log."""
        before = self.snapshot
        try:
            latest = self.reader.latest_version()
            if latest is None:
                self._forget()
                return (), None
            if before is not None and latest < before.version:
                self._forget()
                before = None
            commits = self.reader.commits(before.version + 1 if before else 0, latest)
            self.snapshot = self.reader.snapshot(latest) if commits or before is None else before
        except NoTable:
            self._forget()
            return (), None
        except LogError as error:
            self.snapshot = None
            return (), error
        return commits, None

    def _forget(self) -> None:
        """The table is gone: a new one may use the same names for other files."""
        self.snapshot = None
        self.versions = {}
        self.reader = LogReader(self.folder)

    def _remember(self, number: int) -> None:
        if self.snapshot is not None:
            self.versions = {**self.versions, number: self.snapshot.version}

    def _lost(self, engine_session: EngineSession, lost: HostFailure, operation: Operation) -> StepResult:
        """An engine is gone; a table whose only player it was, or on which it was writing, is not played on."""
        wrote = not isinstance(operation, Read | Reopen)
        if wrote:
            self.left = f"{engine_session.engine} was lost while it wrote"
        expectation = self.model_history.expect(operation)
        observation = Observation(
            engine_session.engine, self.model_history.step, operation, self.folder, expectation,
            Unknown(lost.error.what), None,
            self.model_history.table, self.reader, self.snapshot, None, versions=self.versions, wrote=wrote,
        )  # fmt: skip
        return StepResult(engine_session, observation, (lost.violation,), {lost.requirement: 1})

    def _leave_if_violated(
        self, engine_session: EngineSession, observation: Observation, said: CheckReport
    ) -> None:
        """After a violation nothing that follows is the engine's own fault for sure: it leaves the history."""
        violated = violations_that_end_history(said.violations)
        if not violated:
            return
        engine_session.left = f"violated {violated[0]}"
        if observation.wrote and any(BY_ID[each].role == "writer" for each in violated):
            self.left = self.left or f"{engine_session.engine} violated {violated[0]}"

    def _new_address(self) -> Path:
        self._addresses += 1
        link = self.folder.with_name(f"{self.folder.name}-{self._addresses}")
        link.symlink_to(self.folder.name, target_is_directory=True)
        return link


def play(table_sessions: Sequence[TableSession], step: Step) -> Iterator[tuple[TableSession, StepResult]]:
    """One step at every desk that still plays, side by side."""
    running = [
        (table_session, table_session.play(step)) for table_session in table_sessions if table_session.plays
    ]
    while running:
        still = []
        for table_session, turns in running:
            for result in turns:
                if result is None:
                    still.append((table_session, turns))
                    break
                yield table_session, result
        running = still
