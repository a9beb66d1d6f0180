"""The smallest witness of what is found in a race: the history is made simpler for as long as it still shows it.

A finding in a race says little where others were at it as well, or where the table had a long past. So what is not
known yet is tried again on new tables, by the same engines: with rows alone in place of all that came before, with
fewer writers and operations, with fewer and earlier turns. What is kept is the simplest that breaks the same rule, or,
of the rules about rows, any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.accounts import Account
from conformance.dealer import Dealer
from conformance.findings import FindingError, key_of, known_deviation
from conformance.history import History, Step
from conformance.hosts import clear
from conformance.player import Judged
from conformance.races.ahead import Ahead
from conformance.races.desk import RaceDesk
from conformance.races.groups import Group
from conformance.strategies.schedules import simpler
from delta_models.concurrency import ANOMALIES
from delta_models.operations import Append, Create, Interleave, Operation
from delta_models.requirements import Breach
from delta_models.table import Table
from delta_models.values import Rows

PLAYS, PLAYS_ON_A_JVM = 120, 30
MOST = 6  # findings of a chunk that are made smaller: each takes so many plays

Attempt = Callable[[Sequence[Step]], Judged | None]


@dataclass(slots=True)
class Witnesses:
    """Hands verdicts of a chunk's races to its account, what is new in its smallest form.

    `away` says that the engines were asked to other tables for it; whoever has seen that takes it back.
    """

    dealer: Dealer
    folder: Path
    away: bool = False
    racing: Ahead[list[Judged]] | None = (
        None  # at another table meanwhile: waited for before anything is tried
    )
    _left: int = MOST
    _known: dict[str, tuple[tuple[Step, ...], RaceDesk, Judged]] = field(default_factory=dict)

    def take(self, account: Account, group: Group, desk: RaceDesk, judged: Judged) -> None:
        """One verdict. The engines are at other tables afterwards, if anything was tried: for promises only."""
        breach = self._news(account, judged) if desk.promised(judged.seat) else None
        found = None if breach is None else self._smaller(account, group, desk, judged, breach)
        if found is None:
            account.take(desk, (judged,))
            return
        account.take(desk, (replace(judged, breaches=()),))
        whole = account.steps
        account.steps = list(found[0])
        account.take(found[1], (replace(found[2], evidence={}),))
        account.steps = whole
        clear(self.folder)

    def _smaller(
        self, account: Account, group: Group, desk: RaceDesk, judged: Judged, breach: Breach
    ) -> tuple[tuple[Step, ...], RaceDesk, Judged] | None:
        """The smallest history, the table where it was played last, and what was seen there."""
        key = key_of(judged.seen, breach).fingerprint
        if key in self._known or self._left == 0 or self.dealer.is_over():
            return self._known.get(key)
        self._left -= 1
        self.away = True
        if self.racing is not None:
            self.racing.wait()
        race = judged.seen.race
        assert race is not None  # noqa: S101 - else it would be no news
        again = _Again(self.dealer, group, self.folder, breach, desk.overlap)
        steps = smallest(again, account.steps, race.world.table, again.most)
        found = None if steps is None else again(steps)
        if steps is not None and found is not None and again.desk is not None:
            self._known[key] = (steps, again.desk, found)
        return self._known.get(key)

    @staticmethod
    def _news(account: Account, judged: Judged) -> Breach | None:
        """The first breach that no known deviation covers, if this was a race."""
        if judged.seen.race is None or not judged.seen.wrote:
            return None
        history = History("races", "", 0, 0, tuple(account.steps))
        version = judged.seen.engine.partition("@")[2] or None
        return next(
            (
                each
                for each in judged.breaches
                if known_deviation(key_of(judged.seen, each), version, history) is None
            ),
            None,
        )


class _Again:
    """Plays a history on a table of its own, and says whether its last step breaks the rule."""

    def __init__(self, dealer: Dealer, group: Group, folder: Path, breach: Breach, overlap: str) -> None:
        heavy = any(each.engine.heavy for each in group.players)
        self.most = PLAYS_ON_A_JVM if heavy else PLAYS
        self.desk: RaceDesk | None = None
        self._dealer = dealer
        self._group = group
        self._folder = folder
        self._overlap = overlap
        self._rules = set(ANOMALIES) if breach.requirement in ANOMALIES else {breach.requirement}
        self._played = 0

    def __call__(self, steps: Sequence[Step]) -> Judged | None:
        self._played += 1
        if self.desk is not None:
            clear(self.desk.folder.parent)
        desk = self.desk = self._group.desk(
            self._dealer, self._folder / f"{self._played}" / "table", f"again-{self._played}"
        )
        desk.overlap = self._overlap
        list(desk.sit_down())
        for at, step in enumerate(steps):
            for judged in desk.play(step):
                if judged is not None and at == len(steps) - 1 and judged.seen.wrote and self._shows(judged):
                    return judged
            if not desk.plays:
                return None
        return None

    def _shows(self, judged: Judged) -> bool:
        return any(each.requirement in self._rules for each in judged.breaches)


def smallest(attempt: Attempt, steps: Sequence[Step], table: Table, most: int) -> tuple[Step, ...] | None:
    """The simplest history that still shows it, the last step being the race, after at most so many attempts; None if
    not even the history as it is shows it again."""
    best: tuple[Step, ...] | None = None
    left = most

    def shows(candidate: tuple[Step, ...]) -> bool:
        nonlocal left, best
        left -= 1
        try:
            found = attempt(candidate) is not None
        except (FindingError, OSError):
            raise
        except Exception:  # noqa: BLE001 - a simpler history may be none at all
            return False
        if found:
            best = candidate
        return found

    race = steps[-1]
    short = (tuple(map(Step, each)) for each in _instead(table))
    if not any(shows((*each, race)) for each in short) and not shows(tuple(steps)):
        return None
    improved = True
    while improved and best is not None:
        improved = False
        for candidate in _simpler(best):
            if left <= 0:
                return best
            if shows(candidate):
                improved = True
                break
    return best


def _simpler(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    *before, race = steps
    assert isinstance(race.operation, Interleave)  # noqa: S101 - a race is what is made simpler
    for each in simpler(race.operation):
        yield (*before, Step(each))
    for at, step in enumerate(before):
        for operation in _fewer(step.operation):
            yield (
                *before[:at],
                *([Step(operation)] if operation is not None else []),
                *before[at + 1 :],
                race,
            )


def _fewer(operation: Operation) -> Iterator[Operation | None]:
    """Without it, or with fewer rows; a table there must be."""
    if isinstance(operation, Create):
        if operation.partition_by:
            yield replace(operation, partition_by=())
        return
    yield None
    if isinstance(operation, Append) and len(operation.rows.rows) > 1:
        for at in range(len(operation.rows.rows)):
            rows = (*operation.rows.rows[:at], *operation.rows.rows[at + 1 :])
            yield replace(operation, rows=Rows(operation.rows.schema, rows))


def _instead(table: Table) -> Iterator[tuple[Operation, ...]]:
    """A short past that leaves the same rows: in one write, then a write for each."""
    created = Create(table.schema, partition_by=table.partition_by, properties=_properties(table))
    rows = tuple(table.rows)
    yield (created, *([Append(Rows(table.schema, rows))] if rows else []))
    if len(rows) > 1:
        yield (created, *(Append(Rows(table.schema, (each,))) for each in rows))


def _properties(table: Table) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in table.properties if key == "delta.isolationLevel")
