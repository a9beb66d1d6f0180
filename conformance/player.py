"""Plays a history at tables: hands each step to engines, parses what they did to the log, makes the looks,
has all judged.

A `Desk` is a table with the engines that sit at it: in *lockstep* one engine, on its own copy; on a *shared*
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

from conformance.checks import Begun, Judgement, begin, judge
from conformance.ends import Held
from conformance.following import Followers
from conformance.hearing import heard, kind_of, look_of
from conformance.history import Step
from conformance.lasting import Heard, lasting
from conformance.laying import lay_out
from conformance.looks import Rhythm
from conformance.observation import Look, Observation
from conformance.seats import ANSWERS, LIVES, SPEAKS, Lost, Seat
from conformance.strategies import SLOTS
from conformance.translation import translated, version_of
from delta_adapters.contract import Look as Asked
from delta_adapters.supervisor import ReadReply, Reply
from delta_models.log import Commit, LogError, LogReader, NoTable, Snapshot
from delta_models.operations import (
    LOOKS,
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
    Reopen,
    SetZone,
    SwitchActor,
    Tail,
    Vacuum,
    ZOrder,
)  # fmt: skip
from delta_models.outcomes import NoChange, Unknown
from delta_models.requirements import BY_ID, Breach
from delta_models.schema import Struct
from delta_models.table import World
from delta_models.wire_names import name_of

KEEPS_CONTENT = (Checkpoint, CleanLog, CloneTo, CompactLog, Optimize, Purge, SetZone, Vacuum, ZOrder)
Answer = Callable[[], ReadReply | Lost]


@dataclass(frozen=True, slots=True)
class Judged:
    """What one engine was held to in one step: what was seen, what was wrong, how often each rule was checked.

    `faults` are the harness' own.
    """

    seat: Seat
    seen: Observation
    breaches: tuple[Breach, ...]
    evidence: Mapping[str, int]
    faults: tuple[str, ...] = ()


class Desk:
    """A table and those who sit at it. `left` says why its history ended early, `not_asked` if nothing was wrong.

    `handed_to` is the slot that performed the step at hand where the engine of the step's own slot could not.
    `processes` says in how many of them the writers are: one or several.
    """

    processes = "one"

    def __init__(
        self, folder: Path, seats: Sequence[Seat], seed: int, tag: str, *, looks_around: bool = True
    ) -> None:
        self.folder = folder
        self.seats = list(seats)
        self.left: str | None = None
        self.not_asked: str | None = None
        self.handed_to: str | None = None
        self.world = World()
        self.versions: dict[int, int] = {}
        self.snapshot: Snapshot | None = None
        self._tag = tag
        self._rhythm = Rhythm(seed, sparing=any(each.dear for each in seats))
        self.reader = LogReader(folder)
        self._looks_around = looks_around
        self._latest: dict[str, Look] = {}
        self._heard = Heard()
        self.followers = Followers()
        self._addresses = 0

    @property
    def plays(self) -> bool:
        """Whether the history still goes on here."""
        return self.left is None and any(each.plays for each in self.seats)

    @property
    def sitting(self) -> list[Seat]:
        """Who sits here, by slot."""
        return self.seats

    def sit_down(self) -> Iterator[Judged]:
        """Have every engine address the table."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        for seat in self.seats:
            if lost := seat.open(self.folder):
                yield self._lost(seat, lost, Reopen())

    def play(self, step: Step) -> Iterator[Judged | None]:
        """One step. Yields None where an engine has been asked and other desks may go on meanwhile."""
        operation = step.operation
        self.handed_to = None
        if isinstance(operation, Reopen):
            yield from self._reopen(operation)
        elif isinstance(operation, (SwitchActor, *LOOKS)):
            if isinstance(operation, Read):
                yield from self._look(operation)
            elif isinstance(operation, ReadChanges | History | Detail | Tail):
                yield from self._hear(operation)
            number = self.world.step
            self.world = self.world.after(operation)
            self._remember(number)
        else:
            yield from self._perform(step)

    # The parts of a step

    def _perform(self, step: Step) -> Iterator[Judged | None]:
        operation, number = step.operation, self.world.step
        seat = self._performer(step)
        if seat is None:
            self._pass(operation)
            return
        asked = self._translated(operation)
        if asked is None:
            self._stop_asking(f"{name_of(operation)} goes back to a state that this copy never had")
            return
        if self._looks_around and self.world.table.exists:
            for read in self._rhythm.before(operation, self.world.table.schema):
                yield from self._look(read)
                if not seat.plays:
                    return
        lay_out(operation, self.folder, number, exists=self.world.table.exists)
        self._latest = {}
        answer = seat.execute(asked, f"{self._tag}-{number}")
        yield None
        reply = answer()
        if isinstance(reply, Lost):
            yield self._lost(seat, reply, operation)
        else:
            yield from self._performed(seat, operation, reply)

    def _performed(self, seat: Seat, operation: Operation, reply: Reply) -> Iterator[Judged | None]:
        """What a step that an engine has answered did to the table."""
        number, expectation, before = self.world.step, self.world.expect(operation), self.snapshot
        reads = self._ask(Read())
        yield None
        commits, error = self._advance()
        held = Held(self.reader, self.snapshot)
        branch = None if error is not None else held.end_of(expectation, reply.outcome, len(commits))
        if branch is None:
            self.left = f"{name_of(operation)} ended as the model does not allow"
        self.world = self.world.after(operation, held.bound(branch) or expectation.ordinary)
        self._remember(number)
        seen = Observation(
            seat.engine, number, operation, self.folder, expectation, reply.outcome, branch, self.world.table,
            self.reader, before, self.snapshot, commits, (), error, self.versions,
        )  # fmt: skip
        yield from self._judged(self._noticed(seen), seat, reads, "latest")

    def _noticed(self, seen: Observation) -> Observation:
        """What else is known of a step that an engine performed."""
        if not isinstance(seen.operation, Vacuum):
            return seen
        return replace(seen, retained=self.world.readable(), recent=self.world.recent(seen.operation))

    def _reopen(self, operation: Operation) -> Iterator[Judged | None]:
        """The table through new links, cold for every engine."""
        number, expectation = self.world.step, self.world.expect(operation)
        for seat in [each for each in self.seats if each.plays]:
            if lost := seat.open(self._new_address()):
                yield self._lost(seat, lost, operation)
        reads = self._ask(Read())
        yield None
        self.world = self.world.after(operation)
        self._remember(number)
        seen = Observation(
            "", number, operation, self.folder, expectation, NoChange(), expectation.ordinary, self.world.table,
            self.reader, self.snapshot, self.snapshot, versions=self.versions, wrote=False,
        )  # fmt: skip
        yield from self._judged(seen, None, reads, "reopen")

    def _look(self, read: Read) -> Iterator[Judged | None]:
        """A read of its own, beside the unfiltered rows that it can be held against."""
        plain = replace(read, where=None, columns=None)
        known = self._latest if plain == Read() else {}
        seen = Observation(
            "", self.world.step, read, self.folder, self.world.expect(read), NoChange(), None, self.world.table,
            self.reader, self.snapshot, self.snapshot, versions=self.versions, wrote=False,
        )  # fmt: skip
        found: dict[str, list[Look]] = {}
        for kind, each in ((kind_of(read), read), *([(kind_of(plain), plain)] if plain != read else [])):
            if self._translated(each) is None:
                return
            reads = self._ask(each, but=known if each == plain else ())
            yield None
            yield from self._gather(found, seen, reads, kind, each)
        for engine in found.keys() & known.keys():
            found[engine].append(replace(known[engine], again=True))
        yield from self._judge_looks(found, seen, None)

    def _hear(self, look: ReadChanges | History | Detail | Tail) -> Iterator[Judged | None]:
        """What engines tell of the table's past, or of the table."""
        if self.snapshot is None or self._translated(look) is None:
            return
        seen = Observation(
            "", self.world.step, look, self.folder, self.world.expect(look), NoChange(), None, self.world.table,
            self.reader, self.snapshot, self.snapshot, versions=self.versions, wrote=False,
        )  # fmt: skip
        answers = self._ask(look)
        yield None
        found: dict[str, list[Look]] = {}
        for seat in self.seats:
            if seat.engine in answers:
                reply = answers[seat.engine]()
                if isinstance(reply, Lost):
                    yield self._lost(seat, reply, look)
                    continue
                schema, world = self.snapshot.schema, self.world
                if isinstance(look, Tail):
                    found[seat.engine] = [self.followers.look(look, seat.engine, world, schema, reply)]
                else:
                    found[seat.engine] = [heard(look, world, schema, reply)]
        yield from self._judge_looks(found, seen, None)

    def _judged(
        self, seen: Observation, writer: Seat | None, reads: Mapping[str, Answer], kind: str
    ) -> Iterator[Judged | None]:
        """What engines answer about the table after a step, and the verdict: on the log while they read."""
        found: dict[str, list[Look]] = {}
        begun = None if writer is None else begin(seen)
        yield from self._gather(found, seen, reads, kind, Read())
        if self._looks_around and seen.after is not None and self.left is None:
            for other, read in self._rhythm.after(seen.step, self.world.table.schema, self.world.readable()):
                if self._translated(read) is not None:
                    answers = self._ask(read)
                    yield None
                    yield from self._gather(found, seen, answers, other, read)
        yield from self._judge_looks(found, seen, writer, begun)

    def _judge_looks(
        self,
        found: Mapping[str, list[Look]],
        seen: Observation,
        writer: Seat | None,
        begun: Begun | None = None,
    ) -> Iterator[Judged]:
        for seat in self.seats:
            if seat is not writer and seat.engine not in found:
                continue
            looks = tuple(found.get(seat.engine, ()))
            mine = replace(seen, engine=seat.engine, looks=looks, wrote=seat is writer)
            said = judge(mine, begun=begun if seat is writer else None)
            self._leave_if_violated(seat, mine, said)
            evidence = said.evidence | {each: len(looks) + mine.wrote for each in (LIVES, ANSWERS, SPEAKS)}
            news = self._heard.news(seat.engine, said.breaches)
            yield from self._charged(Judged(seat, mine, news, evidence, said.faults))

    def promised(self, seat: Seat) -> bool:  # noqa: ARG002 - for desks where others come between
        """Whether an engine promises what it is held to here."""
        return True

    def _charged(self, judged: Judged) -> Iterator[Judged]:
        """Who is told of a breach: who was judged."""
        yield judged

    # Asking

    def _performer(self, step: Step) -> Seat | None:
        """Who performs a step: the first from the step's slot on that claims to be able to."""
        self.handed_to = step.by
        wanted = step.by or step.slot
        turn = SLOTS.index(wanted) % len(self.seats) if wanted else 0
        for seat in self.seats[turn:] + self.seats[:turn]:
            if seat.plays and self._cannot(seat, step.operation) is None:
                if seat is not self.seats[turn]:
                    self.handed_to = SLOTS[self.seats.index(seat)]
                return seat
        return None

    def _cannot(self, seat: Seat, operation: Operation, *, writing: bool = True) -> str | None:
        """Why an engine does not claim an operation, on a table with the features that another may have given it."""
        reason = seat.capabilities.covers(operation)
        if reason is not None or self.snapshot is None:
            return reason
        protocol = self.snapshot.protocol
        named = protocol.writer_features if writing else protocol.reader_features
        return seat.capabilities.covers_features(set(named or ()), writing=writing)

    def _pass(self, operation: Operation) -> None:
        """Nobody here performs this step. What only tidies up may be passed over; else the copy would be another."""
        number = self.world.step
        if isinstance(operation, KEEPS_CONTENT):
            self.world = self.world.after(Reopen())
            self._remember(number)
        else:
            reasons = {self._cannot(each, operation) or each.left or "" for each in self.seats}
            self._stop_asking("; ".join(sorted(reasons)))

    def _stop_asking(self, why: str) -> None:
        self.left = self.not_asked = why

    def _ask(self, read: Asked, but: Collection[str] = ()) -> dict[str, Answer]:
        """Ask every engine that claims to be able to for rows; what comes back is called for the answers."""
        asked = self._translated(read)
        return {
            each.engine: each.read(asked)
            for each in self.seats
            if each.plays and each.engine not in but
            and isinstance(asked, Asked) and self._cannot(each, asked, writing=False) is None
        }  # fmt: skip

    def _gather(
        self,
        found: dict[str, list[Look]],
        seen: Observation,
        answers: Mapping[str, Answer],
        kind: str,
        read: Read,
    ) -> Iterator[Judged]:
        """Wait for answers, and turn them into looks; an engine that is lost meanwhile is told of at once."""
        expected = self.world.look(read)
        for seat in self.seats:
            if seat.engine not in answers:
                continue
            reply = answers[seat.engine]()
            if isinstance(reply, Lost):
                yield self._lost(seat, reply, seen.operation)
            else:
                look = look_of(kind, read, expected, self._columns(read), reply)
                found.setdefault(seat.engine, []).append(look)
                if read == Read():
                    self._latest[seat.engine] = look

    def _columns(self, read: Read) -> Struct:
        """The schema that an answer should have: the log's, since a reader is measured against the log before it."""
        schema = self._schema(read)
        if read.columns is None:
            return schema
        known = {each.casefold() for each in schema.names}
        return Struct(tuple(schema[name] for name in read.columns if name.casefold() in known))

    def _schema(self, read: Read) -> Struct:
        back = isinstance(read.at, AtState | AtTime)
        table = self.world.state(read.at.step) if isinstance(read.at, AtState | AtTime) else self.world.table
        try:
            if not back:
                return table.schema if self.snapshot is None else self.snapshot.schema
            version = version_of(read.at, self.versions)
            return table.schema if version is None else self.reader.snapshot(version).schema
        except LogError:
            return table.schema

    def _translated(self, operation: Operation) -> Operation | None:
        """The operation as this copy's engine must be asked."""
        return translated(operation, self.versions, self.reader)

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

    def _lost(self, seat: Seat, lost: Lost, operation: Operation) -> Judged:
        """An engine is gone; a table whose only player it was, or on which it was writing, is not played on."""
        wrote = not isinstance(operation, Read | Reopen)
        if wrote:
            self.left = f"{seat.engine} was lost while it wrote"
        expectation = self.world.expect(operation)
        seen = Observation(
            seat.engine, self.world.step, operation, self.folder, expectation, Unknown(lost.error.what), None,
            self.world.table, self.reader, self.snapshot, None, versions=self.versions, wrote=wrote,
        )  # fmt: skip
        return Judged(seat, seen, (lost.breach,), {lost.requirement: 1})

    def _leave_if_violated(self, seat: Seat, seen: Observation, said: Judgement) -> None:
        """After a violation nothing that follows is the engine's own fault for sure: it leaves the history."""
        violated = lasting(said.breaches)
        if not violated:
            return
        seat.left = f"violated {violated[0]}"
        if seen.wrote and any(BY_ID[each].role == "writer" for each in violated):
            self.left = self.left or f"{seat.engine} violated {violated[0]}"

    def _new_address(self) -> Path:
        self._addresses += 1
        link = self.folder.with_name(f"{self.folder.name}-{self._addresses}")
        link.symlink_to(self.folder.name, target_is_directory=True)
        return link


def play(desks: Sequence[Desk], step: Step) -> Iterator[tuple[Desk, Judged]]:
    """One step at every desk that still plays, side by side."""
    running = [(desk, desk.play(step)) for desk in desks if desk.plays]
    while running:
        still = []
        for desk, turns in running:
            for judged in turns:
                if judged is None:
                    still.append((desk, turns))
                    break
                yield desk, judged
        running = still
