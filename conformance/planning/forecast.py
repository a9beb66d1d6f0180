"""Draws chunks ahead, without engines, and foresees the evidence that their histories will give.

A forecast depends on the chunk, the model and the claims of the engines. Histories with faults or races, and committed
ones other than the worked examples, are not foreseen: what they are evidence of, the engines decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from conformance.events.types import Evidence
from conformance.execution.read_schedule import ReadSchedule
from conformance.execution.table_session import KEEPS_CONTENT
from conformance.generation import SLOTS, TableShape, state_machine
from conformance.generation.table_features import features_of
from conformance.generation.table_shapes import shape_made_by
from conformance.histories import Chunk, Step
from conformance.planning.claims import PlannedEngine
from conformance.planning.foresight import (
    ADDED,
    ANSWERED,
    AS_WRITTEN,
    COMMITTED,
    FORESEEN,
    HOSTS,
    ON_A_TABLE,
    PERFORMED,
    REFUSED,
    Foresight,
    evidence_of_rows,
)
from conformance.planning.suites import EXAMPLES, FORESEEN_SUITES, SHARED
from conformance.suites import examples
from conformance.suites.examples import Example, Orphan
from delta_models.operations import QUERIES, Append, Create, Drop, Operation, Read, Reopen, SwitchActor
from delta_models.outcomes import Committed, Rejected
from delta_models.requirements import BY_ID

LARGE = ("invoices", "invoices-with-deletion-vectors")  # examples of so many rows that making them takes long


def is_foreseen(requirement: str) -> bool:
    """Whether forecasts tell how much evidence of a requirement there will be."""
    return requirement in FORESEEN or requirement.startswith(("contents.", "outcome."))


def foresee(chunk: Chunk, engines: Sequence[PlannedEngine]) -> Iterator[Evidence]:
    """Yield the evidence that a chunk surely gives, by history and engine, as if it had come."""
    if chunk.suite == EXAMPLES:
        for number, (name, make) in enumerate(examples.EXAMPLES.items()):
            if name not in LARGE:
                yield from _foresee_example(chunk, number, make(), _taking_part(engines, chunk, number))
        return
    if chunk.suite not in FORESEEN_SUITES:
        return
    forecaster = _Forecaster(chunk, engines)
    state_machine.draw(chunk, forecaster, shared=chunk.suite == SHARED)
    yield from forecaster.evidence


def foresee_given(chunk: Chunk, engines: Sequence[PlannedEngine]) -> Iterator[Evidence]:
    """Yield the evidence that the given histories of a chunk surely give."""
    forecaster = _Forecaster(chunk, engines)
    for number, history in enumerate(chunk.given):
        forecaster.begin(number, shape_made_by(history.steps[0].operation))
        for step in history.steps:
            forecaster.play(step)
        forecaster.end()
    yield from forecaster.evidence


@dataclass(slots=True)
class _Tally:
    """What one engine is held to in one history."""

    engine: PlannedEngine
    checks: Counter[str] = field(default_factory=Counter)
    wrote: bool = False


@dataclass(slots=True)
class _ForeseenTable:
    """A table of a history, and the engines at it in the order of their slots."""

    foresight: Foresight
    tallies: list[_Tally]
    plays: bool = True

    def take(self, step: Step) -> None:
        """Count what the next step is evidence of, if the history still goes on here."""
        if not self.plays:
            return
        operation = step.operation
        performer = None
        if not isinstance(operation, (*QUERIES, Reopen, SwitchActor)):
            performer = self._find_performer(operation, step.slot)
            if performer is None and not isinstance(operation, KEEPS_CONTENT):
                self.plays = False
                return
        evidence = self.foresight.after(operation, performed=performer is not None)
        if performer is not None:
            performer.checks.update(evidence.writer)
            performer.wrote = True
        for tally in self.tallies:
            if not isinstance(operation, Read) or tally.engine.capabilities.covers(operation) is None:
                tally.checks.update(evidence.reader)

    def _find_performer(self, operation: Operation, slot: str | None) -> _Tally | None:
        turn = SLOTS.index(slot) % len(self.tallies) if slot else 0
        for tally in self.tallies[turn:] + self.tallies[:turn]:
            if tally.engine.capabilities.covers(operation) is None:
                return tally
        return None


class _Forecaster:
    """The `HistoryPlayer` that plays nothing and counts what playing would be evidence of."""

    def __init__(self, chunk: Chunk, engines: Sequence[PlannedEngine]) -> None:
        self.evidence: list[Evidence] = []
        self._chunk = chunk
        self._engines = engines
        self._history = 0
        self._features: tuple[str, ...] = ()
        self._tables: list[_ForeseenTable] = []

    def begin(self, history: int, shape: TableShape) -> None:
        """Seat the engines that claim the table."""
        self._history = history
        self._features = features_of(shape.properties)
        tallies = [
            _Tally(engine)
            for engine in _taking_part(self._engines, self._chunk, history)
            if engine.capabilities.covers_table(shape.schema, shape.partition_by, dict(shape.properties))
            is None
        ]
        groups = [[tally] for tally in tallies]
        if self._chunk.suite == SHARED and tallies:
            turn = history % len(tallies)
            groups = [tallies[turn:] + tallies[:turn]]
        self._tables = [
            _ForeseenTable(
                Foresight(
                    shape,
                    ReadSchedule(self._chunk.seed, sparing=any(tally.engine.on_jvm for tally in group)),
                ),
                group,
            )
            for group in groups
        ]

    def play(self, step: Step) -> None:
        """Count a step at every table."""
        for table in self._tables:
            table.take(step)

    def end(self) -> None:
        """Sum up the evidence of the history."""
        for table in self._tables:
            wrote = {tally.engine.key for tally in table.tallies if tally.wrote}
            for tally in table.tallies:
                others = tuple(sorted(wrote - {tally.engine.key}))
                self.evidence += evidence_of(
                    self._chunk,
                    self._history,
                    tally.engine.key,
                    tally.checks,
                    with_engines=others,
                    features=self._features,
                )

    @staticmethod
    def is_over() -> bool:
        """Return False: all histories are wanted."""
        return False


def evidence_of(
    chunk: Chunk,
    history: int,
    engine: str,
    checks: Counter[str],
    *,
    with_engines: tuple[str, ...] = (),
    features: tuple[str, ...] = (),
) -> Iterator[Evidence]:
    """Yield the checks of one engine in one history as events, one for each role."""
    by_role: dict[str, dict[str, int]] = {}
    for requirement, count in checks.items():
        by_role.setdefault(BY_ID[requirement].role, {})[requirement] = count
    for role, counts in by_role.items():
        yield Evidence(
            chunk.suite, chunk.number, history, engine, role, counts, with_engines=with_engines, features=features
        )  # fmt: skip


def _taking_part(engines: Sequence[PlannedEngine], chunk: Chunk, history: int) -> list[PlannedEngine]:
    return [engine for engine in engines if not engine.on_jvm or history in chunk.heavy]


def _foresee_example(
    chunk: Chunk, number: int, example: Example, engines: Sequence[PlannedEngine]
) -> Iterator[Evidence]:
    operations = [step.operation for step in example.steps if not isinstance(step.operation, Orphan)]
    checks = _evidence_of_example(example)
    for engine in engines:
        claims = engine.capabilities
        if claims.covers_features(set(example.features), writing=True) is None and all(
            claims.covers(operation) is None for operation in operations
        ):
            yield from evidence_of(chunk, number, engine.key, checks, features=example.features)


def _evidence_of_example(example: Example) -> Counter[str]:
    """What an example is evidence of, by its own words: of rows it counts the appends, of others the files they add."""
    checks: Counter[str] = Counter()
    partition_by: tuple[str, ...] = ()
    for number, step in enumerate(example.steps):
        operation = step.operation
        checks.update([AS_WRITTEN])
        if isinstance(operation, (Orphan, *QUERIES, Reopen, Drop)):
            continue
        checks.update((*HOSTS, *PERFORMED, *ON_A_TABLE, "read.latest", *ANSWERED))
        if isinstance(step.outcome, Rejected):
            checks.update(REFUSED)
        if isinstance(operation, Create):
            partition_by = operation.partition_by
        if isinstance(operation, Append | Create) and isinstance(step.outcome, Committed):
            checks.update(COMMITTED)
        if isinstance(operation, Append) and isinstance(step.outcome, Committed):
            checks.update(evidence_of_rows(operation.rows, partition_by))
            checks.update(["contents.append"] if operation.rows.rows else ())
        elif any(live.step == number for live in step.live or ()):
            checks.update(ADDED)
    return checks
