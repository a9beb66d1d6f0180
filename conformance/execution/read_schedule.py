"""Decides which reads come before and after a step, beside the latest rows; the same in every run.

A read costs an engine on a JVM as much as an operation, so only some steps are followed by more than one.
Which, and of which state, follows from the history's seed and the number of the step alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from conformance.observations.observation import Observation
from conformance.observations.version_resolution import resolve_states
from delta_adapters.contract import Query
from delta_models.expressions import Expression, columns_of, type_of
from delta_models.operations import AtState, Delete, Operation, Overwrite, Read, Update
from delta_models.schema import DataType, Struct
from delta_models.table import ModelHistory

T = TypeVar("T")
Types = tuple[DataType, ...]

EARLIER_EVERY = 4
FILTER_EVERY = 4
COLUMNS_EVERY = 8


@dataclass(frozen=True, slots=True)
class PlannedRead:
    """A query to make, its form for this table's engines, and the engines that need not answer it."""

    kind: str
    query: Query
    resolved: Query
    without: Collection[str] = ()


@dataclass(slots=True)
class ReadSchedule:
    """The extra reads of one history. It remembers the predicates of operations, to use them as filters again.

    Where it is `sparing`, at tables with an engine on a JVM, there are half as many.
    """

    seed: int
    sparing: bool = False
    _predicates: list[tuple[Expression, Types]] = field(default_factory=list)

    def before(self, operation: Operation, schema: Struct) -> Read | None:
        """The read to make before an operation: the rows that its predicate picks. None where it has no predicate."""
        where = predicate_of(operation)
        types = None if where is None else _types(where, schema)
        if where is None or types is None:
            return None
        if (where, types) not in self._predicates:
            self._predicates.append((where, types))
        return Read(where=where)

    def after(self, step: int, schema: Struct, states: Collection[int]) -> tuple[tuple[str, Read], ...]:
        """The reads to make after a step, with their kinds; `states` are the steps after which there was a table."""
        reads: list[tuple[str, Read]] = []
        earlier = sorted(state for state in states if state < step)
        if earlier and self._due("earlier", step, EARLIER_EVERY):
            reads.append(("state", Read(at=AtState(self._pick("state", step, earlier)))))
        predicates = [
            predicate for predicate, types in self._predicates if types == _types(predicate, schema)
        ]
        if predicates and self._due("filter", step, FILTER_EVERY):
            columns = None
            if self._due("columns", step, COLUMNS_EVERY // FILTER_EVERY):
                columns = (
                    tuple(
                        column.name
                        for position, column in enumerate(schema)
                        if self._number(f"column-{position}", step) % 2
                    )
                    or None
                )
            reads.append(("filter", Read(where=self._pick("predicate", step, predicates), columns=columns)))
        return tuple(reads)

    def _due(self, what: str, step: int, every: int) -> bool:
        return self._number(what, step) % (2 * every if self.sparing else every) == 0

    def _pick(self, what: str, step: int, options: Sequence[T]) -> T:
        return options[self._number(what, step) % len(options)]

    def _number(self, what: str, step: int) -> int:
        digest = hashlib.blake2b(f"{self.seed}/{step}/{what}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big")


def plan_reads_after(
    read_schedule: ReadSchedule | None, observation: Observation, model_history: ModelHistory
) -> list[PlannedRead]:
    """The extra reads that follow the step that was observed, as far as this table had the states."""
    if read_schedule is None or observation.after is None:
        return []
    reads = read_schedule.after(observation.step, model_history.table.schema, model_history.readable_steps())
    return [
        PlannedRead(kind, read, resolved)
        for kind, read in reads
        if isinstance(resolved := resolve_states(read, observation.versions, observation.reader), Read)
    ]


def predicate_of(operation: Operation) -> Expression | None:
    """The predicate by which an operation picks rows of the table, if it has one that a read can ask alone."""
    match operation:
        case Delete(where=where) | Update(where=where) | Overwrite(where=where) | Read(where=where):
            return where
    return None


def _types(predicate: Expression, schema: Struct) -> Types | None:
    """The types of the columns that a predicate names, None if one of them is not there."""
    try:
        return tuple(type_of(column, schema) for column in columns_of(predicate))
    except KeyError:
        return None
