"""The committed pairs of operations that race: both begin from one small table, and may concern the same rows."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.suites.crashes.scenarios import FORTY_DAYS, SCHEMA, UPDATE, rows, where
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import (
    Append,
    Create,
    Delete,
    Merge,
    MergeClause,
    Operation,
    Optimize,
    Overwrite,
    Read,
    SetProperties,
    Update,
    Vacuum,
)
from delta_models.schema import LONG
from delta_models.wire_names import name_of

BEFORE: tuple[Operation, ...] = (
    Create(SCHEMA, partition_by=("part",)),
    Append(rows(1, 2)),
    Append(rows(3, 4, 6)),
)


@dataclass(frozen=True, slots=True)
class RaceScenario:
    """Two operations, and their overlap: same (rows), table (one might have seen the other's), apart (partitions)."""

    first: Operation
    second: Operation
    overlap: str = "table"

    @property
    def name(self) -> str:
        """For people."""
        return f"{name_of(self.first)} and {name_of(self.second)}, {self.overlap}"


def _in(part: int) -> Compare:
    return Compare("=", Column(("part",)), Literal(LONG, part))


def _moved(old: int, new: int) -> Update:
    return Update((("part", Literal(LONG, new)),), _in(old))


INSERT_99 = Merge(
    rows(99),
    Compare("=", Column(("target", "id")), Column(("source", "id"))),
    (MergeClause("not-matched", "insert", everything=True),),
)

PAIRS = (
    RaceScenario(Append(rows(20)), Append(rows(21))),
    RaceScenario(UPDATE, Update((("part", Literal(LONG, 8)),), where("=", 2)), "same"),
    RaceScenario(_moved(1, 2), _moved(2, 1)),
    RaceScenario(Append(rows(20)), Read()),
    RaceScenario(Vacuum(), Append(rows(20))),
    RaceScenario(Optimize(), Delete(where("=", 6)), "same"),
    RaceScenario(Delete(where("<", 3)), Delete(where("<", 4)), "same"),
    RaceScenario(INSERT_99, INSERT_99, "same"),
    RaceScenario(Append(rows(20)), Delete(where(">", 2))),
    RaceScenario(Append(rows(20)), Optimize()),
    RaceScenario(Delete(_in(1)), Delete(_in(3)), "apart"),
    RaceScenario(Overwrite(rows(7)), Append(rows(20))),
    RaceScenario(Overwrite(rows(7)), Read()),
    RaceScenario(Optimize(), Optimize(), "same"),
    RaceScenario(SetProperties(FORTY_DAYS), Append(rows(20))),
)
