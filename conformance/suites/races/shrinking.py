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

from conformance.engine_pool import clear
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.table_session import StepResult
from conformance.findings import FindingError, key_of, known_deviation
from conformance.generation.races import simplify_race
from conformance.histories import History, Step
from conformance.suites.context import SuiteContext
from conformance.suites.races.background import BackgroundTask
from conformance.suites.races.session import RaceTableSession
from conformance.suites.races.writer_groups import WriterGroup
from delta_adapters.engine_id import EngineId
from delta_models.concurrency import ANOMALIES
from delta_models.operations import Append, Create, Interleave, Operation
from delta_models.requirements import Violation
from delta_models.table import Table
from delta_models.values import Rows

PLAYS, PLAYS_ON_A_JVM = 120, 30
MOST = 6  # findings of a chunk that are made smaller: each takes so many plays

Attempt = Callable[[Sequence[Step]], StepResult | None]


@dataclass(slots=True)
class FindingShrinker:
    """Hands verdicts of a chunk's races to its account, what is new in its smallest form.

    `away` says that the engines were asked to other tables for it; whoever has seen that takes it back.
    """

    context: SuiteContext
    folder: Path
    away: bool = False
    racing: BackgroundTask[list[StepResult]] | None = (
        None  # at another table meanwhile: waited for before anything is tried
    )
    _left: int = MOST
    _known: dict[str, tuple[tuple[Step, ...], RaceTableSession, StepResult]] = field(default_factory=dict)

    def take(
        self,
        history_recorder: HistoryRecorder,
        group: WriterGroup,
        table_session: RaceTableSession,
        step_result: StepResult,
    ) -> None:
        """One verdict. The engines are at other tables afterwards, if anything was tried: for promises only."""
        violation = (
            self._news(history_recorder, step_result)
            if table_session.promised(step_result.engine_session)
            else None
        )
        found = (
            None
            if violation is None
            else self._smaller(history_recorder, group, table_session, step_result, violation)
        )
        if found is None:
            history_recorder.take(table_session, (step_result,))
            return
        history_recorder.take(table_session, (replace(step_result, violations=()),))
        whole = history_recorder.steps
        history_recorder.steps = list(found[0])
        history_recorder.take(found[1], (replace(found[2], evidence={}),))
        history_recorder.steps = whole
        clear(self.folder)

    def _smaller(
        self,
        history_recorder: HistoryRecorder,
        group: WriterGroup,
        table_session: RaceTableSession,
        step_result: StepResult,
        violation: Violation,
    ) -> tuple[tuple[Step, ...], RaceTableSession, StepResult] | None:
        """The smallest history, the table where it was played last, and what was seen there."""
        key = key_of(step_result.seen, violation).fingerprint
        if key in self._known or self._left == 0 or self.context.is_over():
            return self._known.get(key)
        self._left -= 1
        self.away = True
        if self.racing is not None:
            self.racing.wait()
        race = step_result.seen.race
        assert race is not None  # noqa: S101 - else it would be no news
        again = _Attempts(self.context, group, self.folder, violation, table_session.overlap)
        steps = shrink(again, history_recorder.steps, race.model_history.table, again.most)
        found = None if steps is None else again(steps)
        if steps is not None and found is not None and again.table_session is not None:
            self._known[key] = (steps, again.table_session, found)
        return self._known.get(key)

    @staticmethod
    def _news(history_recorder: HistoryRecorder, step_result: StepResult) -> Violation | None:
        """The first breach that no known deviation covers, if this was a race."""
        if step_result.seen.race is None or not step_result.seen.wrote:
            return None
        history = History("races", "", 0, 0, tuple(history_recorder.steps))
        version = EngineId.parse(step_result.seen.engine).version
        return next(
            (
                violation
                for violation in step_result.violations
                if known_deviation(key_of(step_result.seen, violation), version, history) is None
            ),
            None,
        )


class _Attempts:
    """Plays a history on a table of its own, and says whether its last step breaks the rule."""

    def __init__(
        self, context: SuiteContext, group: WriterGroup, folder: Path, violation: Violation, overlap: str
    ) -> None:
        heavy = any(player.engine.runs_on_jvm for player in group.players)
        self.most = PLAYS_ON_A_JVM if heavy else PLAYS
        self.table_session: RaceTableSession | None = None
        self._dealer = context
        self._group = group
        self._folder = folder
        self._overlap = overlap
        self._rules = set(ANOMALIES) if violation.requirement in ANOMALIES else {violation.requirement}
        self._played = 0

    def __call__(self, steps: Sequence[Step]) -> StepResult | None:
        self._played += 1
        if self.table_session is not None:
            clear(self.table_session.folder.parent)
        table_session = self.table_session = self._group.table_session(
            self._dealer, self._folder / f"{self._played}" / "table", f"again-{self._played}"
        )
        table_session.overlap = self._overlap
        list(table_session.open_all())
        for at, step in enumerate(steps):
            for result in table_session.play(step):
                if result is not None and at == len(steps) - 1 and result.seen.wrote and self._shows(result):
                    return result
            if not table_session.plays:
                return None
        return None

    def _shows(self, step_result: StepResult) -> bool:
        return any(violation.requirement in self._rules for violation in step_result.violations)


def shrink(attempt: Attempt, steps: Sequence[Step], table: Table, most: int) -> tuple[Step, ...] | None:
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
    for each in simplify_race(race.operation):
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
        yield (created, *(Append(Rows(table.schema, (row,))) for row in rows))


def _properties(table: Table) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in table.properties if key == "delta.isolationLevel")
