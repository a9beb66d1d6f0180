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

from conformance.checks import begin
from conformance.copies import copy_folder
from conformance.crashes.left_overs import by_role, files_of, lying, swept
from conformance.crashes.narrowing import AFTER, BEFORE, narrow
from conformance.history import Step
from conformance.laying import lay_out
from conformance.observation import LeftOver, Look, Observation, Trouble
from conformance.player import Answer, Desk, Judged
from conformance.seats import Lost, Seat
from conformance.turnstile.actor import Actor, NotSeen
from conformance.turnstile.events import Record
from conformance.turnstile.verdicts import rule_of
from delta_adapters.contract import Look as Asked
from delta_adapters.losses import HostError
from delta_models.log import Commit, LogReader
from delta_models.log.stored import StoredColumns
from delta_models.operations import (
    LOOKS,
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
from delta_models.table import Branch, NotModelled
from delta_models.table.retention import log_retention
from delta_models.wire_names import name_of

BEGINS = (Create, CreateAs, ConvertFromParquet)  # an append is still to show that others can go on
CHANGES_NOTHING = (*LOOKS, Reopen, SwitchActor, SetZone)
READERS_EVERY = 10  # faults after which the other engines look at the table too


class CrashDesk(Desk):
    """A table, the engine that writes to it, first of its seats, and others that only read.

    `struck` counts the faults that took place, `missed` those whose event never came, `earlier` those that took
    place in other copies of the table.
    """

    def __init__(self, folder: Path, seats: Sequence[Seat], actor: Actor, seed: int, tag: str) -> None:
        super().__init__(folder, seats, seed, tag, looks_around=False)
        self.actor = actor
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
        writer = replace(self.seats[0], operations=0, seconds=0.0)
        other = type(self)(folder, [writer, *self.seats[1:]], self.actor, 0, self._tag)
        if self.folder.exists():
            copy_folder(self.folder, folder)
        other.world, other.versions, other.snapshot = self.world, self.versions, self.snapshot
        other.reader = LogReader(folder, stored=self.reader.stored)
        other.followers = self.followers.copy()
        other._dated = dict(self._dated)  # noqa: SLF001 - its own kind
        return other

    def sit_down(self) -> Iterator[Judged]:
        """Have every engine address the table, which is a part of what it does."""
        self._set_clock()
        start = time.monotonic()
        yield from super().sit_down()
        self.seats[0].seconds += time.monotonic() - start

    def come_back(self) -> Iterator[Judged]:
        """Have every engine address this table again: they were at another meanwhile."""
        for seat in self.seats:
            if seat.plays and (lost := seat.open(seat.address or self.folder)):
                yield self._lost(seat, lost, Reopen())

    def record(self, operation: Operation) -> tuple[Outcome, Record]:
        """What an operation does at the storage boundary when nothing is in its way."""
        asked = self._translated(operation)
        seat = self.seats[0]
        lay_out(operation, self.folder, self.world.step, exists=self.world.table.exists)
        self.actor.watch(self.folder)
        self.actor.begin()
        reply = seat.execute(asked or operation, self._tag)()
        told = self.actor.end()
        return (Unknown(str(reply.error)) if isinstance(reply, Lost) else reply.outcome), told

    def play(self, step: Step) -> Iterator[Judged | None]:
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
            self._unread = self.seats[0].dear and not isinstance(operation, Vacuum)
            yield from super().play(step)
            self._owes = self._owes and isinstance(operation, BEGINS)
            self._unread = False
        else:
            fault, self._fault = self._fault, None
            yield from self._meet(fault, operation)

    # Time

    def _let_pass(self, operation: AdvanceClock) -> Iterator[Judged]:
        """The engine's clock goes on, and what is there is older; then it addresses the table anew."""
        self._date_files()
        number = self.world.step
        self.world = self.world.after(operation)
        self._remember(number)
        self._set_clock()
        for seat in [each for each in self.seats if each.plays]:
            if lost := seat.open(self._new_address()):
                yield self._lost(seat, lost, operation)

    def _set_clock(self) -> None:
        """The engine's clock is as far ahead as the history says."""
        self.actor.advance(timedelta(hours=self.world.hours) - self.actor.ahead)

    def _date_files(self) -> None:
        """Files are dated by the kernel, whose clock does not move: those of the last step get the engine's time."""
        ahead = self.actor.ahead // timedelta(microseconds=1) * 1000
        for path in files_of(self.folder):
            file = self.folder / path
            with contextlib.suppress(FileNotFoundError):  # gone again
                status = file.stat()
                if ahead and self._dated.get(path) != status.st_mtime_ns:
                    os.utime(file, ns=(status.st_atime_ns + ahead, status.st_mtime_ns + ahead))
                self._dated[path] = file.stat().st_mtime_ns

    def _advance(self) -> tuple[tuple[Commit, ...], Exception | None]:
        if self.world.hours:
            self._date_files()
        return super()._advance()

    # The fault

    def _meet(self, fault: Operation, operation: Operation) -> Iterator[Judged | None]:
        seat, asked = self.seats[0], self._translated(operation)
        if not seat.plays or asked is None or self._cannot(seat, operation) is not None:
            self._pass_over()
            return
        try:
            self.world.expect(operation)
        except NotModelled:
            self._pass_over()
            return
        commits = self._commits()
        self._latest = {}
        lay_out(operation, self.folder, self.world.step, exists=self.world.table.exists)
        self.actor.watch(self.folder)
        self.actor.begin([rule_of(fault)])
        reply = seat.execute(asked, f"{self._tag}-{self.world.step}")()
        record = self.actor.end()
        if record.faults:
            yield from self._struck(fault, operation, reply, record, commits)
            return
        self.missed += 1
        try:
            self.actor.check_seen(alone=True)
        except NotSeen as unseen:
            self._stop_asking(str(unseen))
            return
        if isinstance(reply, Lost):
            yield self._lost(seat, reply, operation)
        else:
            yield from self._performed(seat, operation, reply)

    def _struck(
        self,
        fault: Operation,
        operation: Operation,
        reply: object,
        record: Record,
        commits: Mapping[str, str],
    ) -> Iterator[Judged | None]:
        seat, number, expectation, before = (
            self.seats[0],
            self.world.step,
            self.world.expect(operation),
            self.snapshot,
        )
        outcome: Outcome
        if isinstance(reply, Lost):
            if not isinstance(fault, KillAt | TearAt):
                yield self._lost(seat, reply, operation)
                return
            outcome = Unknown("killed")
        else:
            outcome = reply.outcome  # type: ignore[attr-defined]  # a Reply
        self._move()
        for each in self.seats:
            if (lost := self._revive(each)) is not None:
                yield self._lost(each, lost, operation)
                return
        counts = record.followed
        self.struck += counts
        self.missed += not counts
        self._readers_look = (self.earlier + self.struck) % READERS_EVERY == 0
        reads = self._ask(Read())
        added, error = self._advance()
        found = None if error else narrow(expectation, before, self.snapshot, added, self.reader)
        known = found is not None and found.state in {BEFORE, AFTER}
        branch = found.branch if found is not None else None
        if not known:
            self.left = f"{name_of(operation)} left a table that is neither as before nor as after it"
        elif branch is None:
            branch = Branch(NoChange(), (0, 0), self.world.table, "crash.all-or-nothing")
        self.world = self.world.after(operation, branch or expectation.ordinary)
        self._remember(number)
        now = self._commits()
        cleaned = isinstance(operation, CleanLog) or self.world.hours >= log_retention(self.world.table)
        self._cleaned |= cleaned
        gone = tuple(
            sorted(
                name
                for name, digest in commits.items()
                if now.get(name) != digest and not (cleaned and name not in now)
            )
        )
        left = self._lying if error else lying(self.folder)
        new = {path: role for path, role in left.items() if path not in self._lying}
        self._lying = left
        for path in swept(left):
            self._left_over.setdefault(path, self.world.hours)
        seen = Observation(
            seat.engine, number, operation, self.folder, expectation, outcome, branch, self.world.table,
            self.reader, before, self.snapshot, added, (), error, self.versions,
            trouble=Trouble(fault, gone, found, by_role(new), cleaned=self._cleaned),
        )  # fmt: skip
        looks: dict[str, list[Look]] = {}
        begun = begin(seen)
        yield from self._gather(looks, seen, reads, "reopen", Read())
        yield from self._judge_looks(looks, seen, seat, begun)
        self._readers_look = False
        self._owes = True

    def _move(self) -> None:
        """The table elsewhere, and alive there."""
        self._moves += 1
        folder = self.folder.with_name(f"{self.folder.name.partition('@')[0]}@{self._moves}")
        if self.folder.exists():
            self.folder.rename(folder)
        self.folder, self.reader = folder, LogReader(folder, stored=self.reader.stored)
        self.actor.watch(folder)

    def _revive(self, seat: Seat) -> Lost | None:
        """A host that was killed starts again."""
        start = time.monotonic()
        if not seat.host.alive and seat is self.seats[0]:
            try:
                seat.host.restart().ready()
            except HostError as error:
                return Lost("host.lives", error)
            seat.left = None
        lost = seat.open(self.folder) if seat.plays else None
        seat.seconds += time.monotonic() - start
        return lost

    # What base desks do, with what faults have left

    def _performer(self, step: Step) -> Seat | None:
        """Only the engine behind the turnstile writes."""
        seat = self.seats[0]
        return seat if seat.plays and self._cannot(seat, step.operation) is None else None

    def _pass(self, operation: Operation) -> None:  # noqa: ARG002 - whatever it is, the next one may go on
        self._pass_over()

    def _pass_over(self) -> None:
        """A step that is not for this table, or a fault: the state stays, with a number of its own."""
        number = self.world.step
        self.world = self.world.after(Reopen())
        self._remember(number)

    def _ask(self, read: Asked, but: Sequence[str] = ()) -> dict[str, Answer]:  # type: ignore[override]
        """The other engines are dear: they look after some faults only. A dear one that writes reads after faults."""
        spared = () if self._readers_look else self.seats[1:]
        writer = self.seats[:1] if self._unread else ()
        return super()._ask(read, (*but, *(each.engine for each in (*writer, *spared))))

    def _noticed(self, seen: Observation) -> Observation:
        """What earlier faults have left to this step."""
        if self._owes or self._left_over or self._cleaned:
            left = tuple(
                LeftOver(path, self.world.hours - hour, (self.folder / path).exists())
                for path, hour in sorted(self._left_over.items())
            )
            seen = replace(
                seen, trouble=Trouble(next_write=self._owes, cleaned=self._cleaned, left_over=left)
            )
            self._left_over = {each.path: self._left_over[each.path] for each in left if each.there}
        return super()._noticed(seen)

    def _commits(self) -> dict[str, str]:
        """The commits of the log, each with a digest of its bytes."""
        log = self.folder / "_delta_log"
        return {
            each.name: hashlib.blake2b(each.read_bytes(), digest_size=16).hexdigest()
            for each in sorted(log.glob("*.json"))
        }
