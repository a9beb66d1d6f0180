"""The WHEN clauses of a merge, and the pairs of rows on which they act."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from pyspark_delta.commands.assignments import Assigned
from pyspark_delta.commands.conditions import expression, text_of
from pyspark_delta.exceptions import InvalidArgument
from pyspark_delta.log.actions import dump

__all__ = ["BY_SOURCE", "MATCHED", "NOT_MATCHED", "Clause", "Pairs", "check", "numbers_of", "parameters"]

MATCHED, NOT_MATCHED, BY_SOURCE = "matched", "not matched", "not matched by source"


@dataclass(frozen=True, slots=True)
class Clause:
    """One WHEN clause. If `assigned` is None, it stands for `*`; a deletion assigns nothing."""

    when: str
    action: str  # update, delete, insert
    condition: str | Column | None = None
    assigned: Assigned | None = None

    @property
    def predicate(self) -> Column:
        """The condition as a Column that is never null."""
        return F.lit(True) if self.condition is None else F.coalesce(expression(self.condition), F.lit(False))

    def describe(self) -> dict[str, str]:
        """The clause as the history has it."""
        description = {"actionType": self.action}
        if self.condition is not None:
            description["predicate"] = text_of(self.condition)
        return description


@dataclass(frozen=True, slots=True)
class Pairs:
    """The result of the first job: the numbers of each match and of each pair on which a clause acts."""

    table: pa.Table  # row, source, clause

    def acting(self, clauses: Sequence[int]) -> pa.Array:
        """The table's rows on which one of these clauses acts, without duplicates."""
        if not clauses:
            return pa.array([], pa.int64())
        chosen = pc.is_in(self.table["clause"], value_set=pa.array(clauses, pa.int32()))
        return pc.unique(self.table["row"].filter(chosen))

    def ambiguous(self, clauses: Sequence[int]) -> bool:
        """Whether one of these clauses acts on a row for more than one source row."""
        chosen = pc.is_in(self.table["clause"], value_set=pa.array(clauses, pa.int32()))
        rows = self.table["row"].filter(chosen)
        return len(pc.unique(rows)) < len(rows)

    @property
    def once(self) -> bool:
        """Whether no row of the table is in more than one pair."""
        return len(pc.unique(self.table["row"])) == len(self.table)

    def matched_sources(self) -> pa.Array:
        """The numbers of the source rows that match a row."""
        return pc.unique(self.table["source"].drop_null())


def check(clauses: Sequence[Clause]) -> None:
    """Raise InvalidArgument if the clauses make no valid merge."""
    if not clauses:
        raise InvalidArgument(
            "a merge without clauses does nothing", "Add at least one when...() before execute()."
        )
    for when in (MATCHED, NOT_MATCHED, BY_SOURCE):
        of_kind = [clause for clause in clauses if clause.when == when]
        if any(earlier.condition is None for earlier in of_kind[:-1]):
            raise InvalidArgument(
                f"a clause for rows that are {when} follows one without a condition, and could never act",
                "Leave out the condition of the last clause of each kind only.",
            )


def numbers_of(clauses: Sequence[Clause], when: str) -> list[int]:
    """The positions of the clauses of a kind."""
    return [number for number, clause in enumerate(clauses) if clause.when == when]


def parameters(on: Column, clauses: Sequence[Clause]) -> dict[str, str]:
    """The operation parameters of a merge, as the history has them."""

    def of_kind(when: str) -> str:
        return dump([clause.describe() for clause in clauses if clause.when == when]).decode()

    return {
        "predicate": dump([text_of(on)]).decode(),
        "matchedPredicates": of_kind(MATCHED),
        "notMatchedPredicates": of_kind(NOT_MATCHED),
        "notMatchedBySourcePredicates": of_kind(BY_SOURCE),
    }
