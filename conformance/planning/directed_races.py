"""Draws histories of races: each pair of operations that can conflict, in three orders of their commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from conformance.generation.choices import RandomChoices
from conformance.generation.facets import offered_facets
from conformance.generation.races import (
    AT_ONCE,
    GATES,
    PART,
    SCHEMA,
    draw_writer_operation,
    predict_race,
)
from conformance.histories import Step
from conformance.planning.cells import ORDERS, Cell, pair_cell, race_cell
from conformance.planning.coverage import Coverage
from delta_adapters.capabilities import Capabilities
from delta_adapters.deviations import operation_triggers
from delta_models.operations import Append, Create, Interleave, Operation, Properties, Reopen
from delta_models.table import ModelHistory

SCHEDULES = {
    "first": (0, 1, *(0,) * (GATES - 1), *(1,) * (GATES - 1)),
    "second": (0, 1, *(1,) * (GATES - 1), *(0,) * (GATES - 1)),
    "between": (0, 1) * GATES,
}
"""Which writer passes its next gate: both look at the table first, so that the later commit meets the earlier one."""

BESIDES: tuple[tuple[Properties, str], ...] = (
    ((), ""),
    ((("delta.enableDeletionVectors", "true"),), "deletionVectors"),
    ((("delta.isolationLevel", "WriteSerializable"),), ""),
)
WEAKER = "write-serializable"
TRIES = 6  # draws of a pair, until it is one without a known trigger
FEWEST_ROWS = 3


@dataclass(slots=True)
class RaceDirector:
    """Draws histories of races for one engine, each directed at the pairs that are missing."""

    capabilities: Capabilities
    operations: Sequence[str]
    coverage: Coverage
    choices: RandomChoices

    def draw_history(self, steps: int, focus: Cell | None = None) -> tuple[Step, ...]:  # noqa: ARG002 - any pair is taken by its count
        """Draw a history of so many steps: races, and what is needed between them."""
        partition_by = (
            (PART,) if self.choices.one_in(2) and "long" in self.capabilities.partition_types else ()
        )
        drawn: list[Step] = []
        model_history = ModelHistory()
        first = Create(SCHEMA, partition_by, self._draw_properties())

        def take(operation: Operation) -> None:
            nonlocal model_history
            drawn.append(Step(operation))
            if isinstance(operation, Interleave):
                model_history = predict_race(model_history, operation)
            else:
                model_history = model_history.after(operation)

        take(first)
        while len(drawn) < steps:
            if len(model_history.table.rows) < FEWEST_ROWS:
                number = 10 * self.choices.below(8)
                take(draw_writer_operation(self.choices, model_history, "Append", number))
            elif self.choices.one_in(8):
                take(Reopen())
            else:
                race, order = self._draw_race(model_history)
                self.coverage.add([race_cell(race, order)])
                take(race)
        return tuple(drawn)

    def _draw_properties(self) -> Properties:
        offered = {facet.name for facet in offered_facets(self.capabilities)}
        possible = [
            properties
            for properties, facet in BESIDES
            if (not facet or facet in offered)
            and self.capabilities.covers_table(SCHEMA, (), dict(properties)) is None
            and ("delta.isolationLevel" not in dict(properties) or self.capabilities.guarantees.get(WEAKER))
        ]
        return self.choices.pick(possible)

    def _draw_race(self, model_history: ModelHistory) -> tuple[Interleave, str]:
        """The race of a pair that was drawn least often so far, in the order that is missing."""
        claimed = [
            name for name, _ in AT_ONCE if name in {*self.operations} & {*self.capabilities.operations}
        ]
        pairs = [(pair, order) for pair in combinations_with_replacement(claimed, 2) for order in ORDERS]
        counts = self.coverage.counts
        drawn = self.choices.some(pairs, len(pairs))
        drawn.sort(key=lambda entry: counts[pair_cell(entry[0][0], entry[0][1], entry[1])])
        best: tuple[float, Interleave, str] | None = None
        for (one, other), order in drawn[:TRIES]:
            operations = (
                draw_writer_operation(self.choices, model_history, one, 10),
                draw_writer_operation(self.choices, model_history, other, 20),
            )
            if any(self.capabilities.covers(operation) for operation in operations):
                continue
            race = Interleave(operations, SCHEDULES[order], (0, 1))
            known = bool(operation_triggers(model_history.table, race))
            count = counts[race_cell(race, order)] + 0.5 * known
            if best is None or count < best[0]:
                best = (count, race, order)
        if best is None:
            appends = tuple(
                draw_writer_operation(self.choices, model_history, "Append", number) for number in (10, 20)
            )
            assert all(isinstance(append, Append) for append in appends)  # noqa: S101 - that was asked for
            return Interleave(appends, SCHEDULES["between"], (0, 1)), "between"
        return best[1], best[2]
