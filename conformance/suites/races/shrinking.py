"""Shrinks what is found in a race: the history is made simpler for as long as it still shows the violation.

A finding in a race says little where other writers took part as well, or where the table had a long past. So a
violation that is not known yet is tried again on new tables, by the same engines: with rows alone in place of all that
came before, with fewer writers and operations, with fewer and earlier turns. What is kept is the simplest history that
violates the same requirement, or, of the requirements about rows, any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.engine_pool import clear
from conformance.execution.history_recorder import HistoryRecorder
from conformance.execution.step_result import StepResult
from conformance.findings import FindingError, candidate_causes, key_of
from conformance.generation.races import simplify_race
from conformance.histories import History, Step
from conformance.suites.context import SuiteContext
from conformance.suites.races.session import RaceTableSession
from conformance.suites.races.writer_groups import WriterGroup
from delta_adapters.deviations import all_causes
from delta_models.concurrency import ANOMALIES
from delta_models.operations import Append, Create, Interleave, Operation
from delta_models.requirements import Violation
from delta_models.table import Table
from delta_models.values import Rows

PLAYS, PLAYS_ON_A_JVM = 120, 30
MOST = 6  # findings of a chunk that are made smaller: each takes so many plays

Attempt = Callable[[Sequence[Step]], StepResult | None]


@dataclass(frozen=True, slots=True)
class _Shrunk:
    """A smallest history, the table where it was played last, and what was observed there."""

    steps: tuple[Step, ...]
    table_session: RaceTableSession
    step_result: StepResult


@dataclass(slots=True)
class FindingShrinker:
    """Records the results of a chunk's races, with what is new in its smallest form.

    `wait` is called before anything is tried: the engines may still be at another table.
    """

    context: SuiteContext
    folder: Path
    wait: Callable[[], None]
    _left: int = MOST
    _known: dict[str, _Shrunk] = field(default_factory=dict)

    def take(
        self,
        history_recorder: HistoryRecorder,
        group: WriterGroup,
        table_session: RaceTableSession,
        step_results: Sequence[StepResult],
    ) -> bool:
        """Record the results of a step; returns whether the engines were sent to other tables for it."""
        tried = [self._take(history_recorder, group, table_session, result) for result in step_results]
        return any(tried)

    def _take(
        self,
        history_recorder: HistoryRecorder,
        group: WriterGroup,
        table_session: RaceTableSession,
        step_result: StepResult,
    ) -> bool:
        violation = self._new_violation(history_recorder, step_result) if step_result.promised else None
        tried, shrunk = False, None
        if violation is not None:
            fingerprint = key_of(step_result.observation, violation).fingerprint
            tried = fingerprint not in self._known and self._left > 0 and not self.context.is_over()
            if tried:
                self._shrink(history_recorder.steps, group, table_session, step_result, violation)
            shrunk = self._known.get(fingerprint)
        if shrunk is None:
            history_recorder.take(table_session, (step_result,))
            return tried
        history_recorder.take(table_session, (replace(step_result, violations=()),))
        smaller = replace(shrunk.step_result, evidence={})
        history_recorder.take_instead(shrunk.steps, shrunk.table_session, smaller)
        clear(self.folder)
        return tried

    def _shrink(
        self,
        steps: Sequence[Step],
        group: WriterGroup,
        table_session: RaceTableSession,
        step_result: StepResult,
        violation: Violation,
    ) -> None:
        """Find the smallest history, and remember it."""
        self._left -= 1
        self.wait()
        race = step_result.observation.race
        assert race is not None  # noqa: S101 - else it would not be new
        attempts = _Attempts(self.context, group, self.folder, violation, table_session.overlap)
        smallest = shrink(attempts, steps, race.model_history.table, attempts.most)
        shown = None if smallest is None else attempts(smallest)
        if smallest is not None and shown is not None and attempts.table_session is not None:
            fingerprint = key_of(step_result.observation, violation).fingerprint
            self._known[fingerprint] = _Shrunk(smallest, attempts.table_session, shown)

    @staticmethod
    def _new_violation(history_recorder: HistoryRecorder, step_result: StepResult) -> Violation | None:
        """The first violation that no cause may explain, if this was a race."""
        observation = step_result.observation
        if observation.race is None or not observation.wrote:
            return None
        history = History("races", "", 0, 0, history_recorder.steps)
        return next(
            (
                violation
                for violation in step_result.violations
                if not candidate_causes(observation, violation, history, all_causes())
            ),
            None,
        )


class _Attempts:
    """Plays a history at a table of its own, and says whether its last step violates the requirement."""

    def __init__(
        self, context: SuiteContext, group: WriterGroup, folder: Path, violation: Violation, overlap: str
    ) -> None:
        heavy = any(player.engine.runs_on_jvm for player in group.players)
        self.most = PLAYS_ON_A_JVM if heavy else PLAYS
        self.table_session: RaceTableSession | None = None
        self._context = context
        self._group = group
        self._folder = folder
        self._overlap = overlap
        self._requirements = set(ANOMALIES) if violation.requirement in ANOMALIES else {violation.requirement}
        self._played = 0

    def __call__(self, steps: Sequence[Step]) -> StepResult | None:
        self._played += 1
        if self.table_session is not None:
            clear(self.table_session.folder.parent)
        table_session = self.table_session = self._group.table_session(
            self._context,
            self._folder / f"{self._played}" / "table",
            f"again-{self._played}",
            self._overlap,
        )
        table_session.open_all()
        step_results: list[StepResult] = []
        for step in steps:
            if not table_session.plays:
                return None
            step_results = table_session.execute(step)
        return next(filter(self._shows, step_results), None)

    def _shows(self, step_result: StepResult) -> bool:
        return step_result.observation.wrote and any(
            violation.requirement in self._requirements for violation in step_result.violations
        )


def shrink(attempt: Attempt, steps: Sequence[Step], table: Table, most: int) -> tuple[Step, ...] | None:
    """The simplest history that still shows the violation, after at most so many attempts. Its last step is the race.

    Returns None if not even the history as it is shows the violation again.
    """
    best: tuple[Step, ...] | None = None
    left = most

    def shows(candidate: tuple[Step, ...]) -> bool:
        nonlocal left, best
        left -= 1
        try:
            shown = attempt(candidate) is not None
        except (FindingError, OSError):
            raise
        except Exception:  # noqa: BLE001 - a simpler history may be none at all
            return False
        if shown:
            best = candidate
        return shown

    race = steps[-1]
    short = (tuple(map(Step, operations)) for operations in _short_pasts(table))
    if not any(shows((*past, race)) for past in short) and not shows(tuple(steps)):
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
    for operation in simplify_race(race.operation):
        yield (*before, Step(operation))
    for number, step in enumerate(before):
        for fewer in _fewer(step.operation):
            yield (
                *before[:number],
                *([Step(fewer)] if fewer is not None else []),
                *before[number + 1 :],
                race,
            )


def _fewer(operation: Operation) -> Iterator[Operation | None]:
    """No operation, or one with fewer rows; the table must still be created."""
    if isinstance(operation, Create):
        if operation.partition_by:
            yield replace(operation, partition_by=())
        return
    yield None
    if isinstance(operation, Append) and len(operation.rows.rows) > 1:
        for number in range(len(operation.rows.rows)):
            rows = (*operation.rows.rows[:number], *operation.rows.rows[number + 1 :])
            yield replace(operation, rows=Rows(operation.rows.schema, rows))


def _short_pasts(table: Table) -> Iterator[tuple[Operation, ...]]:
    """Short pasts that leave the same rows: in one write, then in a write for each row."""
    created = Create(table.schema, partition_by=table.partition_by, properties=_properties(table))
    rows = tuple(table.rows)
    yield (created, *([Append(Rows(table.schema, rows))] if rows else []))
    if len(rows) > 1:
        yield (created, *(Append(Rows(table.schema, (row,))) for row in rows))


def _properties(table: Table) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in table.properties if key == "delta.isolationLevel")
