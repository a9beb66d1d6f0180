"""Which reads engines are asked for after a step, beside the latest rows: a rhythm, the same in every run.

A look costs an engine on a JVM as much as an operation, so only some steps are followed by more than one.
Which, and of which state, follows from the history's seed and the number of the step alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from delta_models.expressions import Expression, columns_of, type_of
from delta_models.operations import AtState, Delete, Operation, Overwrite, Read, Update
from delta_models.schema import DataType, Struct

T = TypeVar("T")
Types = tuple[DataType, ...]

EARLIER_EVERY = 4
FILTER_EVERY = 4
COLUMNS_EVERY = 8


@dataclass(slots=True)
class ReadSchedule:
    """The looks of one history, which remembers the predicates of its operations, to ask them as filters too.

    Where it is `sparing`, at tables with an engine on a JVM, there are half as many.
    """

    seed: int
    sparing: bool = False
    _predicates: list[tuple[Expression, Types]] = field(default_factory=list)

    def before(self, operation: Operation, schema: Struct) -> tuple[Read, ...]:
        """Looks to make before an operation: what its predicate picks, as a filter."""
        where = predicate_of(operation)
        types = None if where is None else _types(where, schema)
        if where is None or types is None:
            return ()
        if (where, types) not in self._predicates:
            self._predicates.append((where, types))
        return (Read(where=where),)

    def after(self, step: int, schema: Struct, states: Collection[int]) -> tuple[tuple[str, Read], ...]:
        """Looks to make after a step, each with its kind; `states` are the steps after which there was a table."""
        found: list[tuple[str, Read]] = []
        earlier = sorted(state for state in states if state < step)
        if earlier and self._due("earlier", step, EARLIER_EVERY):
            found.append(("state", Read(at=AtState(self._pick("state", step, earlier)))))
        asked = [each for each, types in self._predicates if types == _types(each, schema)]
        if asked and self._due("filter", step, FILTER_EVERY):
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
            found.append(("filter", Read(where=self._pick("predicate", step, asked), columns=columns)))
        return tuple(found)

    def _due(self, what: str, step: int, every: int) -> bool:
        return self._number(what, step) % (2 * every if self.sparing else every) == 0

    def _pick(self, what: str, step: int, options: Sequence[T]) -> T:
        return options[self._number(what, step) % len(options)]

    def _number(self, what: str, step: int) -> int:
        digest = hashlib.blake2b(f"{self.seed}/{step}/{what}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big")


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
