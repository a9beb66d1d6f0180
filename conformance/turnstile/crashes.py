"""Crash points: one operation on a prepared table, cut before and after each of its storage events, and what is left.

The judge is our own reading of the log, never the engine's: the table is as before or as after, the outcome goes with
that, and the next writer succeeds. A cut is made by a dead table (same files as a kill, no restart) or by a kill.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.turnstile import roles
from conformance.turnstile.actor import Actor
from conformance.turnstile.events import Record
from conformance.turnstile.verdicts import DeadTable, Kill, Rule
from delta_adapters.supervisor import Host, HostError
from delta_models.log import LogError, LogReader
from delta_models.operations import Append, Operation
from delta_models.outcomes import Committed, Outcome, Unknown
from delta_models.values import Row, Rows

BEFORE, AFTER, BETWEEN = "before", "after", "between"


@dataclass(frozen=True, slots=True)
class Cut:
    """Where an operation ends: before or after an event, with its engine (`kill`) or with its table."""

    role: str
    ordinal: int
    moment: str
    kill: bool = False

    @property
    def rule(self) -> Rule:
        """What the turnstile is told."""
        return Rule(self.role, Kill(self.moment) if self.kill else DeadTable(self.moment), self.ordinal)

    def __str__(self) -> str:
        return f"{'kill' if self.kill else 'dead table'} {self.moment} {self.role}#{self.ordinal}"


@dataclass(frozen=True, slots=True)
class Crash:
    """What came of a cut. `state` is before, after or between; `left_over` counts files that no commit names, by role.

    `wrong` says in words what must not be; where not `followed` the cut did not take place, which proves nothing.
    """

    cut: Cut
    state: str
    outcome: Outcome
    left_over: tuple[tuple[str, int], ...]
    wrong: tuple[str, ...]
    followed: bool


@dataclass(frozen=True, slots=True)
class State:
    """A table by our own reading: its version, and its rows as a bag."""

    version: int
    rows: Counter[Row]


class NoWholeRun(Exception):
    """An operation fails by itself, so there is nothing to be cut."""


class Stand:
    """An engine behind the turnstile, and a prepared table of which every cut gets a copy."""

    def __init__(self, actor: Actor, host: Host, table: Path, work: Path, timeout: float = 60.0) -> None:
        self._actor = actor
        self._host = host
        self._table = table
        self._work = work
        self._timeout = timeout
        self._copies = 0

    def whole(self, operation: Operation) -> tuple[Record, State, State]:
        """The operation without a fault: its events, and the table before and after."""
        copy = self._copy()
        before = state_of(copy)
        outcome, record = self._perform(operation, copy)
        if isinstance(outcome, Unknown):
            raise NoWholeRun(
                f"{type(operation).__name__} does not even end well without a fault: {outcome.reason}"
            )
        return record, before, state_of(copy)

    def crashes(self, operation: Operation, next_write: Append, *, kill: bool = False) -> Iterator[Crash]:
        """Cut the operation everywhere, one after another."""
        record, before, after = self.whole(operation)
        for cut in cuts(record, kill=kill):
            copy = self._copy()
            ended = self._perform(operation, copy, cut)
            # Elsewhere from here on, so that nothing cached passes for the truth; and there the table is alive.
            copy = copy.rename(copy.with_name(f"{copy.name}-afterwards"))
            yield self._judge(cut, copy, ended, (before, after), next_write)
            shutil.rmtree(copy)

    def _judge(
        self,
        cut: Cut,
        copy: Path,
        ended: tuple[Outcome, Record],
        wanted: tuple[State, State],
        next_write: Append,
    ) -> Crash:
        outcome, told = ended
        wrong = []
        left_over = left_overs(copy)
        try:
            found = state_of(copy)
        except LogError as error:
            return Crash(
                cut, BETWEEN, outcome, left_over, (f"the log can't be read: {error}",), told.followed
            )
        state = _which(found, *wanted)
        if state == BETWEEN:
            wrong.append(f"version {found.version} holds rows that are neither those before nor those after")
        elif isinstance(outcome, Committed) and state == BEFORE:
            wrong.append("the engine said that it had committed, and nothing is there")
        elif not isinstance(outcome, Committed | Unknown) and state == AFTER:
            wrong.append(f"the engine said {outcome}, and its change is there")
        after_write, _ = self._perform(next_write, copy)
        if not isinstance(after_write, Committed):
            wrong.append(f"the next writer was told {after_write}")
        elif state_of(copy).rows != found.rows + _bag(next_write.rows):
            wrong.append(
                "after the next writer's append there are other rows than those before it and its own"
            )
        return Crash(cut, state, outcome, left_over, tuple(wrong), told.followed)

    def _perform(self, operation: Operation, table: Path, cut: Cut | None = None) -> tuple[Outcome, Record]:
        if not self._host.alive:
            self._host.restart()
        self._actor.watch(table)
        self._host.open(str(table))
        self._actor.begin([cut.rule] if cut else [])
        try:
            outcome = self._host.execute(operation, timeout=self._timeout).outcome
        except HostError as error:
            outcome = Unknown(str(error).splitlines()[0])
        return outcome, self._actor.end()

    def _copy(self) -> Path:
        self._copies += 1
        return shutil.copytree(self._table, self._work / f"copy{self._copies}")


def cuts(record: Record, *, kill: bool = False) -> Iterator[Cut]:
    """Before and after each change that an operation made."""
    for each in record.happened:
        if each.event.role != roles.LOOK:
            for moment in ("before", "after"):
                yield Cut(each.event.role, each.event.ordinal, moment, kill)


def state_of(table: Path) -> State:
    """The newest version, by our own reading."""
    reader = LogReader(table)
    snapshot = reader.snapshot()
    return State(snapshot.version, _bag(reader.rows(snapshot)))


def left_overs(table: Path) -> tuple[tuple[str, int], ...]:
    """Files that are there and that no commit names: temporary ones, and those of changes that were never committed."""
    named = "".join(each.read_text("utf-8") for each in (table / "_delta_log").glob("*.json"))
    counted: Counter[str] = Counter()
    for each in table.rglob("*"):
        if each.is_file():
            role = roles.role_of(each.relative_to(table).as_posix())
            files = {roles.DATA, roles.VECTOR, roles.CHANGE}
            if (
                role == roles.STAGING
                or role.endswith("-staging")
                or (role in files and each.stem not in named)
            ):
                counted[role] += 1
    return tuple(sorted(counted.items()))


def _which(found: State, before: State, after: State) -> str:
    """Upkeep leaves the rows alone, so the version tells there; a vacuum may have made one of its two commits."""
    if found.version == before.version and found.rows == before.rows:
        return BEFORE
    if found.rows == after.rows and found.version <= after.version:
        return AFTER if found.version == after.version or before.rows != after.rows else BEFORE
    return BETWEEN


def _bag(rows: Rows) -> Counter[Row]:
    return Counter(rows.rows)
